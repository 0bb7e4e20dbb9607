"""Values of subsets of the clips against sed_scores_eval's bootstrapped ones, subset by subset.

It calls a bootstrap what leaves out one of ``folds`` parts of the clips after another, shuffles them and
does so again. As weights of clips these are resamples like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed

from ..support.peers.judge_process import judge, psds_question
from ..support.random_sets import KINDS, random_set
from ..support.real_data import excerpt_scores, excerpt_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@dataclass(frozen=True)
class Subsets:
    scores: sed.Scores
    truth: sed.GroundTruth
    psds: sed.PSDS
    fscore: sed.FScore | None = None
    folds: int = 5
    iterations: int = 3

    def question(self) -> dict[str, Any]:
        asked = {
            "judge": "bootstrap",
            **psds_question(self.psds),
            "folds": self.folds,
            "iterations": self.iterations,
        }
        if self.fscore is None:
            return asked
        collar = self.fscore.criterion
        assert isinstance(collar, sed.Collar)
        return {
            **asked,
            "onset": collar.onset,
            "offset": collar.offset,
            "offset_rate": collar.offset_rate,
            "threshold": self.fscore.threshold,
        }

    def weights(self) -> NDArray[np.int64]:
        """(subsets × clips) which clips are in a subset."""
        clips = sorted(self.scores)
        ends = np.linspace(0, len(clips), self.folds + 1).astype(int)
        rows = []
        for i in range(self.iterations):
            np.random.RandomState(i).shuffle(clips)  # goes on from the order before
            for first, last in pairwise(ends):
                left_out = set(clips[first:last])
                rows.append([int(clip not in left_out) for clip in self.scores])
        return np.array(rows)


def compare(cases: Mapping[str, Subsets], python: Path, folder: Path) -> None:
    for name, verdict in judge(python, folder, cases).items():
        case = cases[name]
        for metric, what in ((case.psds, "psds"), (case.fscore, "fscore")):
            assert metric is not None
            deltas = sed.deltas(case.scores, case.truth, metric.criterion, clips="scored")
            interval = sed.bootstrap(deltas, metric, weights=case.weights())
            overall = "value" if what == "psds" else "macro_average"
            assert_same(interval.values, verdict[f"{what}/{overall}"], f"{name} {what}")
            for label, of_class in interval.per_class.items():
                assert_same(of_class.values, verdict[f"{what}/{label}"], f"{name} {what} {label}")


def assert_same(ours: NDArray[Any], theirs: NDArray[Any], where: str) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9, err_msg=where)


def clips_of(truth: sed.GroundTruth, label: str) -> list[str]:
    """The clips that have references of a class."""
    return [clip for clip in truth.clips if any(event[2] == label for event in truth.events(clip))]


def test_random_sets(peers_python: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(17)
    cases: dict[str, Subsets] = {}
    while len(cases) < 30:
        scores, truth = random_set(rng, KINDS[len(cases) % len(KINDS)], never=False)
        clips_with = {label: clips_of(truth, label) for label in scores.classes}
        if min(map(len, clips_with.values())) < 2:  # it refuses subsets without references of a class
            continue
        collar = sed.Collar(0.02, 0.02, float(rng.choice([0.0, 0.5])))
        psds = sed.PSDS(
            sed.Intersection(*(float(part) for part in rng.choice([0.1, 0.3, 0.7], 3))),
            alpha_ct=float(rng.choice([0.0, 0.5])),
            alpha_st=float(rng.choice([0.0, 1.0])),
            max_efpr=float(rng.choice([10.0, 60.0])),
            unit="second",
        )
        fscore = sed.FScore(collar, threshold=float(rng.choice([-0.5, 0.1, 0.4])))
        cases[f"set{len(cases)}"] = Subsets(scores, truth, psds, fscore, folds=len(scores))
    compare(cases, peers_python, tmp_path)


def test_real_clips(data: Path, peers_python: Path, tmp_path: Path) -> None:
    scores, truth = excerpt_scores(data), excerpt_truth(data)
    fscore = sed.FScore(sed.Collar(), threshold=0.5)
    cases = {
        "psds1": Subsets(scores, truth, sed.presets.PSDS1, fscore),
        "psds2": Subsets(scores, truth, sed.presets.PSDS2, fscore, iterations=2),
    }
    compare(cases, peers_python, tmp_path)


def test_a_class_that_vanishes(peers_python: Path, tmp_path: Path) -> None:
    """Nothing can be said about it: to sed_scores_eval that is a PSDS of 0, to us it is not defined."""
    clips = [f"clip{i}" for i in range(4)]
    detected = np.array([[0.9, 0.1], [0.8, 0.9], [0.1, 0.1]])
    scores = sed.Scores.from_arrays(
        {clip: detected - [0, clip != "clip0"] for clip in clips}, classes=["Cat", "Dog"], frame=1.0
    )
    events = {clip: [(0, 2, "Cat"), (1, 2, "Dog")][: 1 + (clip == "clip0")] for clip in clips}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(clips, 3.0))
    psds = sed.PSDS(sed.Intersection(0.7, 0.7))
    case = Subsets(scores, truth, psds, folds=4, iterations=1)
    verdict = judge(peers_python, tmp_path, {"case": case})["case"]
    interval = sed.bootstrap(sed.deltas(scores, truth, psds.criterion), psds, weights=case.weights())
    gone = case.weights()[:, 0] == 0
    assert gone.sum() == 1
    np.testing.assert_array_equal(verdict["psds/Dog"], np.where(gone, 0, 1))
    np.testing.assert_array_equal(interval.per_class["Dog"].values, np.where(gone, np.nan, 1))
    np.testing.assert_array_equal(verdict["psds/value"], np.where(gone, 0.5, 1))
    np.testing.assert_array_equal(interval.values, np.ones(4))
