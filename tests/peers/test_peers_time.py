"""pyannote.metrics as the judge of time: error rate, cost, precision, recall and accuracy at thresholds.

It gives values where sedscope gives none, of classes without references or detections:
see ``docs/differences.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import ClasswiseMetric

from ..support.peers.judge_process import Verdict, judge
from ..support.random_sets import KINDS, random_set

Regions = dict[str, list[tuple[float, float]]]
CASES = [*(f"random-{i}" for i in range(20)), *(f"regions-{i}" for i in range(10)), "simulated"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@dataclass(frozen=True)
class Case:
    scores: sed.Scores
    truth: sed.GroundTruth
    collar: float
    thresholds: list[float]
    regions: Regions = field(default_factory=dict)

    def question(self) -> dict[str, Any]:
        assert self.truth.durations is not None
        durations = dict(zip(self.truth.clips, (self.truth.durations / 1e6).tolist(), strict=True))
        whole = {clip: [(0.0, durations[clip])] for clip in self.scores}
        return {
            "judge": "time",
            "collar": self.collar,
            "thresholds": self.thresholds,
            "regions": self.regions or whole,
        }

    def metrics(self, threshold: float) -> list[ClasswiseMetric[Any]]:
        criterion = sed.Time(self.collar)
        return [
            sed.ErrorRate(criterion, threshold),
            sed.DetectionCost(criterion, threshold),
            sed.Precision(criterion, threshold),
            sed.Recall(criterion, threshold),
            sed.Accuracy(criterion, threshold),
        ]

    def counts(self) -> sed.Counts:
        scores, truth = self.scores, self.truth
        if self.regions:
            scores, truth = sed.cut_to_regions(scores, truth, self.regions)
        return sed.deltas(scores, truth, sed.Time(self.collar)).counts()


def made_up(name: str) -> Case:
    """The name says the kind of case and is the seed."""
    if name == "simulated":
        truth = sed.simulate.ground_truth(20)
        return Case(sed.simulate.scores(truth, frame=0.1), truth, 0.5, [0.2, 0.5, 0.8])
    kind, number = name.split("-")
    rng = np.random.default_rng([int(number), CASES.index(name)])
    scores, truth = random_set(rng, KINDS[int(number) % len(KINDS)], coarse=True)
    thresholds = rng.choice([-0.5, 0.0, 0.25, 0.5, 0.75], 2, replace=False).tolist()
    collar = float(rng.choice([0.0, 0.02, 0.05, 0.3]))
    if kind == "random":
        return Case(scores, truth, collar, thresholds)
    assert truth.durations is not None
    regions: Regions = {}
    for clip, duration in zip(truth.clips, truth.durations.tolist(), strict=True):
        ends = [0, *sorted(rng.choice(np.arange(1, 10), 2, replace=False).tolist()), 10]
        cuts = [round(duration * end / 1e7, 3) for end in ends]
        regions[clip] = [(cuts[0], cuts[1]), (cuts[2], cuts[3])]
    return Case(scores, truth, collar, thresholds, regions)


@pytest.fixture(scope="module")
def judged(
    peers_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Case, Verdict]]:
    cases = {name: made_up(name) for name in CASES}
    verdicts = judge(peers_python, tmp_path_factory.mktemp("time"), cases)
    return {name: (case, verdicts[name]) for name, case in cases.items()}


@pytest.mark.parametrize("name", CASES)
def test_values_at_thresholds(judged: dict[str, tuple[Case, Verdict]], name: str) -> None:
    case, verdict = judged[name]
    counts = case.counts()
    for i, threshold in enumerate(case.thresholds):
        for k, metric in enumerate(case.metrics(threshold)):
            result = metric.measure(counts)
            for label in counts:
                value = result.per_class[label].value
                if not np.isnan(value):
                    assert value == pytest.approx(verdict[label][i, k], abs=1e-9), (metric, label)
