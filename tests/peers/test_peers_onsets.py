"""mir_eval as the judge of points in time: F-measure, precision and recall of the peaks of each clip.

Times are multiples of 5 ms and no tolerance is, because mir_eval compares differences of floating-point
numbers with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.postprocessing import Peaks

from ..support.peers.judge_process import judge

THRESHOLDS = [0.2, 0.5, 0.8]
LABELS = ["kick", "snare"]


@dataclass(frozen=True)
class Case:
    scores: sed.Scores
    truth: sed.GroundTruth
    peaks: sed.ScoredEvents
    tolerance: float

    def question(self) -> dict[str, Any]:
        points = {
            clip: [(time, label, score) for time, _, label, score in sorted(events)]
            for clip, events in self.peaks.events().items()
        }
        return {
            "judge": "onsets",
            "points": points,
            "tolerance": self.tolerance,
            "thresholds": THRESHOLDS,
        }


def random_case(seed: int) -> Case:
    """Dense points, so that many of them compete for the same references."""
    rng = np.random.default_rng(seed)
    arrays = {clip: rng.random((100, 2)).round(2) for clip in ("x", "y")}
    scores = sed.Scores.from_arrays(arrays, classes=LABELS, frame=0.01)
    events = {
        clip: [
            (time / 200, time / 200, label)
            for label in LABELS
            for time in sorted(rng.choice(200, int(rng.integers(1, 40)), replace=False).tolist())
        ]
        for clip in arrays
    }
    truth = sed.GroundTruth.from_dict(events, durations={"x": 1, "y": 1})
    peaks = Peaks(float(rng.choice([0, 0.03])))(scores)
    assert isinstance(peaks, sed.ScoredEvents)
    return Case(scores, truth, peaks, float(rng.choice([0.002, 0.012, 0.033, 0.051])))


def test_values_of_each_clip(peers_python: Path, tmp_path: Path) -> None:
    cases = {str(seed): random_case(seed) for seed in range(30)}
    compared = 0
    for name, verdict in judge(peers_python, tmp_path, cases).items():
        case = cases[name]
        criterion = sed.Onset(case.tolerance)
        for clip in case.scores:
            counts = sed.deltas(
                case.peaks, case.truth, criterion, clips=[clip], run=sed.Run(threads=1)
            ).counts()
            for i, threshold in enumerate(THRESHOLDS):
                metrics = (
                    kind(criterion, threshold) for kind in (sed.FScore, sed.Precision, sed.Recall)
                )
                for k, metric in enumerate(metrics):
                    result = metric.measure(counts)
                    for label in LABELS:
                        value = result.per_class[label].value
                        expected = verdict[f"{clip}/{label}"][i, k]
                        if not np.isnan(value):
                            assert value == pytest.approx(expected, abs=1e-12), (name, clip, metric)
                            compared += 1
    assert compared > 900
