"""Start the process in which the peers judge cases, and read its verdicts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import sedscope as sed

from ..project import ROOT

Verdict = Mapping[str, NDArray[Any]]
"""Arrays, named as the judge names them."""

JUDGE = "tests.support.peers.judge"


class Case(Protocol):
    """A set, and what a judge is asked about it."""

    @property
    def scores(self) -> sed.Scores: ...

    @property
    def truth(self) -> sed.GroundTruth: ...

    def question(self) -> dict[str, Any]:
        """As `judge` describes it."""


def judge(python: Path, folder: Path, cases: Mapping[str, Case]) -> dict[str, Verdict]:
    """The verdict on each case, all from one process."""
    arrays: dict[str, Any] = {}
    described = []
    for name, case in cases.items():
        assert case.truth.durations is not None
        durations = dict(zip(case.truth.clips, case.truth.durations / 1e6, strict=True))
        for clip, scores in case.scores.items():
            arrays[f"{name}/{clip}/values"] = scores.values
            arrays[f"{name}/{clip}/edges"] = scores.edges
        clips = {
            clip: {"duration": durations[clip], "events": case.truth.events(clip)}
            for clip in case.scores
        }
        described.append(
            {"name": name, "classes": case.scores.classes, "clips": clips, **case.question()}
        )
    np.savez(folder / "scores.npz", **arrays)
    (folder / "cases.json").write_text(json.dumps(described), encoding="utf-8")
    # the peers' own warnings are about what they build on
    command = [str(python), "-W", "ignore", "-m", JUDGE, str(folder)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    verdicts: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in cases}
    with np.load(folder / "verdicts.npz") as file:
        for key in file.files:
            name, _, what = key.partition("/")
            verdicts[name][what] = file[key]
    return dict(verdicts)


def psds_question(metric: sed.PSDS) -> dict[str, Any]:
    """The definition of a PSDS as judges want to hear it."""
    criterion = metric.criterion
    return {
        "dtc": criterion.dtc,
        "gtc": criterion.gtc,
        # it wants to hear of cross-triggers only where they weigh something
        "cttc": criterion.cttc if metric.alpha_ct else None,
        "alpha_ct": metric.alpha_ct,
        "alpha_st": metric.alpha_st,
        "max_efpr": metric.max_efpr,
        "unit": metric.unit,
    }
