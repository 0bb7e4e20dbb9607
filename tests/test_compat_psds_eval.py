"""psds_eval itself judges what is offered in its place, and what it refuses.

Shares in the cases are such that no whole number of time steps meets them exactly, which psds_eval may
miss; clips end with their scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.compat.sed_scores_eval.base_modules.scores import create_score_dataframe

from .judging import KINDS, judge, random_set
from .peers.judge import leaves, points_of

NAMES = ["simulated", *(f"random-{i}" for i in range(6))]


@dataclass(frozen=True)
class Case:
    """A set, and thresholds."""

    scores: sed.Scores
    truth: sed.GroundTruth
    thresholds: tuple[float, ...]
    options: dict[str, Any]

    def question(self) -> dict[str, Any]:
        labels = self.truth.labels
        needs = [("tpr", 0.3), ("fpr", 500.0), ("efpr", 800.0), ("fscore", 0.0), ("tpr", 2.0)]
        return {
            "judge": "psds_eval points",
            "options": self.options,
            "thresholds": self.thresholds,
            "beta": 2.0,
            "psds": [
                {"alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 1000.0},
                {"alpha_ct": 0.0, "alpha_st": 0.0, "max_efpr": 40.0},
                {"alpha_ct": 1.0, "alpha_st": 0.0},
            ],
            "constraints": [(labels[i % len(labels)], *need) for i, need in enumerate(needs)],
        }

    def ours(self) -> dict[str, Any]:
        frames = {
            clip: create_score_dataframe(one.values, one.edges, list(self.scores.classes))
            for clip, one in self.scores.items()
        }
        assert self.truth.durations is not None
        durations = dict(zip(self.truth.clips, self.truth.durations / 1e6, strict=True))
        events = {clip: self.truth.events(clip) for clip in self.scores}
        question = {
            **self.question(),
            "classes": self.scores.classes,
            "clips": {clip: {"duration": durations[clip]} for clip in self.scores},
        }
        return leaves(points_of("sedscope.compat.psds_eval", question, events, frames))


def case_of(name: str) -> Case:
    options: dict[str, Any] = {
        "dtc_threshold": 0.5007,
        "gtc_threshold": 0.5007,
        "cttc_threshold": 0.3001,
    }
    if name == "simulated":
        truth = sed.simulate.ground_truth(30, classes=4)
        return Case(sed.simulate.scores(truth), truth, (0.2, 0.4, 0.5, 0.6, 0.8), options)
    number = int(name.split("-")[1])
    rng = np.random.default_rng([number, 9])
    scores, truth = random_set(rng, KINDS[number % len(KINDS)], coarse=True)
    distinct = np.unique(np.concatenate([clip.values.ravel() for clip in scores.values()]))
    below_the_maximum = distinct[np.isfinite(distinct)][:-1].astype(np.float64)
    thresholds = np.sort(rng.permutation(below_the_maximum)[:4])
    units = ["minute", "hour", "day", "month", "year"]
    options |= {"duration_unit": units[number % len(units)]}
    return Case(scores, truth, tuple(thresholds.tolist()), options)


@pytest.fixture(scope="module")
def judged(peers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    cases = {name: case_of(name) for name in NAMES}
    verdicts = judge(peers_python, tmp_path_factory.mktemp("psds_eval"), cases)
    return {name: (cases[name], verdicts[name]) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_same_results(judged: dict[str, Any], name: str) -> None:
    case, theirs = judged[name]
    ours = case.ours()
    for path, value in theirs.items():
        if path.startswith("curves/1/"):  # over rates of cross-triggers: a last point is at NaN
            value = value[..., :-1]
        if path.startswith("fscores/") and np.isnan(value):  # nothing found: 0, and in the mean
            assert ours[path] == 0
            continue
        if path.startswith("fscores/") and path.endswith("/0"):
            of_classes = {p: v for p, v in theirs.items() if p.startswith(path[:-1] + "1/")}
            value = np.mean(np.nan_to_num(list(of_classes.values())))
        if value.dtype.kind in "OUS":
            assert ours[path].tolist() == value.tolist(), path
        else:
            np.testing.assert_allclose(ours[path], value, rtol=1e-9, atol=1e-9, err_msg=path)
