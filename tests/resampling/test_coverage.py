"""How often intervals contain the true value, on systems whose true value is known.

A large set of simulated clips is the population: its values are the truth. Small sets are drawn from it,
each is resampled, and the intervals that hold the truth are counted. Clips have fixed numbers in the
population, so that all of it is weights of the same deltas.

With 80 clips an interval of 90 % holds the truth in about 88 % of the sets: resamples vary around the
set and not around the truth, which is a little too little, and of a skewed value too far to one side. Of
100 sets a share of 0.88 varies by 0.033, one of 0.5 by 0.05, and a deviation by 7 %: the bands are about
three times that wide to both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.resampling.draws import Draws
from sedscope.resampling.subsampling import SMOOTH

from ..support.resamples import measure_resampled

POPULATION, CLIPS, SETS, RESAMPLES = 500, 80, 100, 100
CLASSES = ("Dishes", "Speech")
BANDS = {0.5: (0.35, 0.65), 0.9: (0.78, 0.98)}
METRICS: list[Metric[Any]] = [
    sed.FScore(sed.Segment(1.0), threshold=0.4),
    sed.PSDS(sed.Intersection(0.3, 0.3), max_efpr=400),
]
INTERVALS = ("percentile", "bca")


@dataclass(frozen=True)
class Measured:
    """Values of one system: the truth, and (sets × weights) those of small sets and their resamples."""

    truth: float
    values: NDArray[np.float64]

    def __sub__(self, other: Measured) -> Measured:
        return Measured(self.truth - other.truth, self.values - other.values)


def resamples(number: int, interval: str, confidence: float) -> Draws:
    """The same for each kind of interval, but that one of them needs more."""
    clips = [f"clip{i:02}" for i in range(CLIPS)]
    return Draws(sed.Resampling(RESAMPLES, confidence, number, interval), clips)


@pytest.fixture(scope="module", params=METRICS, ids=repr)
def systems(request: pytest.FixtureRequest) -> tuple[Measured, Measured]:
    """Two systems, measured on the same small sets and resamples."""
    metric: Metric[Any] = request.param
    truth = sed.simulate.ground_truth(POPULATION, seed=1)
    rng = np.random.default_rng(6)
    weights = []
    for number in range(SETS):
        drawn = resamples(number, "bca", 0.9).weights
        of_set = np.zeros((len(drawn), POPULATION), np.int32)
        np.add.at(of_set.T, rng.integers(POPULATION, size=CLIPS), drawn.T)
        weights.append(of_set)
    system_values = []
    for quality, seed in ((0.6, 0), (0.5, 1)):
        scores = sed.simulate.scores(truth, frame=0.25, quality=quality, seed=seed)
        deltas = sed.deltas(scores, truth, metric.criterion, classes=CLASSES)
        values, _ = measure_resampled(deltas, metric, np.concatenate(weights), 2)
        of_all = metric.measure(deltas.counts()).value
        system_values.append(Measured(of_all, values.reshape(SETS, -1)))
    return system_values[0], system_values[1]


def coverage(measured: Measured, interval: str, confidence: float) -> float:
    """The share of small sets whose interval holds the truth."""
    held = 0
    for number, values in enumerate(measured.values):
        draws = resamples(number, interval, confidence)
        summary = draws.summary((), values[: len(draws.weights), None], SMOOTH)
        held += summary.low <= measured.truth <= summary.high
    return held / SETS


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("confidence", BANDS)
def test_intervals_hold_the_truth_as_often_as_they_say(
    systems: tuple[Measured, Measured], interval: str, confidence: float
) -> None:
    better, worse = systems
    least, most = BANDS[confidence]
    shares = {
        "better": coverage(better, interval, confidence),
        "worse": coverage(worse, interval, confidence),
        "difference": coverage(better - worse, interval, confidence),
    }
    assert all(least <= share <= most for share in shares.values()), shares


def test_the_deviation_of_resamples_is_that_of_sets(systems: tuple[Measured, Measured]) -> None:
    better, worse = systems
    for measured in (better, worse, better - worse):
        of_sets = measured.values[:, 0].std(ddof=1)
        of_resamples = measured.values[:, 1 : 1 + RESAMPLES].std(axis=1, ddof=1)
        assert np.sqrt(np.mean(of_resamples**2)) == pytest.approx(of_sets, rel=0.21)


def test_subsets_of_the_clips_deviate_half_as_much() -> None:
    """What leaves out a fifth of the clips at a time, as sed_scores_eval does, says too little."""
    truth = sed.simulate.ground_truth(100, seed=2)
    metric = METRICS[0]
    deltas = sed.deltas(sed.simulate.scores(truth, frame=0.25), truth, metric.criterion, classes=CLASSES)
    rng = np.random.default_rng(0)
    weights = [
        (np.arange(100) % 5 != fold).astype(np.int64)[rng.permutation(100)]
        for _ in range(100)
        for fold in range(5)
    ]
    subsets = sed.bootstrap(deltas, metric, weights=np.array(weights))
    drawn = sed.bootstrap(deltas, metric, resampling=500)
    assert subsets.deviation / drawn.deviation == pytest.approx(0.5, abs=0.05)
