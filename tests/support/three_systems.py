"""Three systems in files, one of them with a second run, and commands on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sedscope as sed

from ..support.files import write_durations
from .command_line import Outcome, run

PSDS = "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)"
COLLAR = "FScore(Collar(onset=0.5), threshold=0.4)"
ERRORS = "ErrorRate(Segment(length=1), threshold=0.4)"
SWEEP = "MedianFilter(0|0.3|0.7)"


def write_systems(folder: Path) -> None:
    """Write the scores, the ground truth, the durations and the groups."""
    truth = sed.simulate.ground_truth(24, seed=7)
    for name, quality, seed in (("good", 0.8, 0), ("again", 0.8, 5), ("bad", 0.4, 0)):
        scores = sed.simulate.scores(truth, frame=0.1, quality=quality, seed=seed)
        sed.write_scores(scores, folder / name)
    sed.write_ground_truth(truth, folder / "truth.tsv")
    write_durations(truth, folder / "durations.tsv")
    lines = [f"{clip}\tsite{i // 4}" for i, clip in enumerate(truth.clips)]
    (folder / "groups.tsv").write_text("\n".join(["filename\tgroup", *lines, ""]))


def read(folder: Path, name: str = "good") -> tuple[sed.Scores, sed.GroundTruth]:
    """Read a system and the ground truth."""
    truth = sed.read_ground_truth(folder / "truth.tsv", durations=folder / "durations.tsv")
    return sed.read_scores(folder / name), truth


def groups_of(folder: Path) -> dict[str, str]:
    """Read the group of each clip."""
    lines = (folder / "groups.tsv").read_text().splitlines()[1:]
    return {clip: group for clip, _, group in (line.partition("\t") for line in lines)}


def command(folder: Path, name: str, *arguments: object) -> Outcome:
    """Run a command on the first system, or on those of the arguments."""
    first = [folder / "good"] if name in ("evaluate", "tune") else []
    truth = [folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    if name == "compare":
        systems = [argument for argument in arguments if isinstance(argument, Path)]
        options = [argument for argument in arguments if not isinstance(argument, Path)]
        return run(name, *systems, *truth, *options)
    return run(name, *first, *truth, *arguments)


def evaluated(folder: Path, *options: object) -> dict[str, Any]:
    """Evaluate the first system, and read what is written."""
    outcome = command(folder, "evaluate", *options, "--json", "-")
    assert (outcome.code, outcome.err) == (0, "")
    result: dict[str, Any] = json.loads(outcome.out)
    return result


def metric_of(text: str) -> Any:
    """Read a metric."""
    return sed.parse_metric(text)


def refused(outcome: Outcome) -> str:
    """What a command says that does nothing."""
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert "Traceback" not in outcome.err
    lines = outcome.err.strip().splitlines()
    assert len(lines) == 1, outcome.err
    return lines[0]
