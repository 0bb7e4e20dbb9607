"""Exit statuses: 0 is good, 1 says that a requirement is not met, 2 that the input or the call is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import sedscope as sed
from sedscope.cli import COMMANDS

from ..support.command_line import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    truth = sed.simulate.ground_truth(12, classes=2)
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    durations = "".join(f"{clip}\t10\n" for clip in truth.clips)
    (tmp_path / "durations.tsv").write_text(f"filename\tduration\n{durations}")
    scores = sed.simulate.scores(truth)
    sed.write_scores(scores, tmp_path / "scores.npz")
    sed.evaluate(scores, truth, "psds1").to_json(tmp_path / "result.json")
    review = sed.review.plan(scores, reviews=5)
    review.answered([False] * len(review)).write(tmp_path / "review.csv")
    sed.write_scores(sed.simulate.scores(truth, seed=5, quality=0.3), tmp_path / "worse.npz")
    (tmp_path / "events.tsv").write_text("filename\tonset\toffset\tevent_label\na\t2\t1\tDog\n")
    return tmp_path


def arguments(folder: Path) -> dict[str, tuple[object, ...]]:
    """For each command with requirements, a call whose requirement is not met."""
    files = (folder / "truth.tsv", "--durations", folder / "durations.tsv")
    return {
        "compare": (
            *(folder / "scores.npz", folder / "worse.npz", *files, "--metric", "segment_f1"),
            "--fail-if-worse",
        ),
        "evaluate": (folder / "scores.npz", *files, "--require", "psds1 >= 0.999"),
        "check": (folder / "events.tsv", *files, "--task", "dcase2018_task4"),
        "rank": (folder / "events.tsv", *files),
        "review": (
            *("estimate", folder / "scores.npz", folder / "review.csv"),
            *("--min-precision", 0.99, "--confidence", 0.999),
        ),
        "tune": (folder / "scores.npz", *files, "--min-recall", 1, "-o", folder / "points.toml"),
        "validate": (folder / "events.tsv",),
        "verify": (folder / "result.json", folder / "worse.npz", *files),
    }


def test_a_requirement_that_is_not_met(folder: Path) -> None:
    calls = arguments(folder)
    page = Path(__file__).parents[2] / "docs" / "exit_statuses.md"
    listed = re.findall(r"^\| `(\w+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == sorted(calls)
    for command, call in calls.items():
        done = run(command, *call)
        assert done.code == 1, (command, done.err)
        assert "error:" not in done.err


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"demo", "metrics", "presets", "formats"}))
def test_wrong_calls(command: str, tmp_path: Path) -> None:
    missing = [tmp_path / "missing"] * 3
    done = run(command, *missing)
    assert done.code == 2


def test_gates(folder: Path) -> None:
    files = (folder / "truth.tsv", "--durations", folder / "durations.tsv")
    good, junit = folder / "scores.npz", folder / "junit.xml"
    options = ("--require", "psds1 >= 0", "--require", "psds2<=-1", "--junit", junit)
    done = run("evaluate", good, *files, *options)
    assert done.code == 1
    value = sed.evaluate(good, folder / "truth.tsv", durations=folder / "durations.tsv")["psds2"].value
    assert f"not met: psds2 <= -1: psds2 is {value:.6g}." in done.err
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.find("failure") is None for case in suite] == [True, False]
    systems = ("compare", good, folder / "worse.npz", *files, "--metric", "segment_f1")
    assert run(*systems, "--fail-if-worse", "--margin", 0.9).code == 0
    back = ("compare", folder / "worse.npz", good, *files, "--metric", "segment_f1")
    assert run(*back, "--fail-if-worse").code == 0
    errors = ("compare", good, folder / "worse.npz", *files, "--metric", "SEGMENT")
    error_rate = [*errors[:-1], "ErrorRate(Segment(1))"]
    worse = run(*error_rate, "--fail-if-worse")  # of which less is better
    assert worse.code == 1
    assert "not met: worse.npz is not worse than scores.npz in ErrorRate" in worse.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--require", "psds1"], "is not a requirement"),
        (["--require", "psds1 >= nan"], "is not a requirement"),
        (["--require", "psds3 >= 0.1"], "was not measured. Choose from psds1"),
        (["--junit", "junit.xml"], "Give some"),
    ],
)
def test_requirements_that_mean_nothing(folder: Path, options: list[str], message: str) -> None:
    files = (folder / "truth.tsv", "--durations", folder / "durations.tsv")
    done = run("evaluate", folder / "scores.npz", *files, *options)
    assert (done.code, message in done.err) == (2, True)
