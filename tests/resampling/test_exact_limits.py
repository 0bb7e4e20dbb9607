"""Exact limits where resamples have nothing to say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sedscope as sed
from sedscope.metrics.classwise import Chance
from sedscope.resampling.exact_limits import limits_of

CLIPS = 5
COLLAR = sed.Collar()


@pytest.mark.parametrize(("events", "trials"), [(0, 1), (0, 7), (5, 5), (3, 5), (1, 400), (399, 400)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_limits_of_shares_are_those_of_clopper_and_pearson(
    events: int, trials: int, confidence: float
) -> None:
    expected = stats.binomtest(events, trials).proportion_ci(confidence, "exact")
    assert limits_of(Chance(events, trials), confidence) == pytest.approx(
        (expected.low, expected.high), abs=1e-12
    )


@pytest.mark.parametrize("events", [0, 1, 30])
def test_limits_of_rates_are_those_of_garwood(events: int) -> None:
    low, high = limits_of(Chance(events, 3.0, poisson=True), 0.9)
    assert low == pytest.approx(stats.chi2.ppf(0.05, 2 * events) / 6 if events else 0)
    assert high == pytest.approx(stats.chi2.ppf(0.95, 2 * events + 2) / 6)


def perfect(labels: tuple[str, ...] = ("Dog", "Cat")) -> tuple[sed.Scores, sed.GroundTruth]:
    """One event of each class in each clip of 36 s, and nothing else is detected."""
    clips = [f"{i}" for i in range(CLIPS)]
    frames = np.zeros((36, len(labels)))
    frames[3:6] = 0.9
    truth = sed.GroundTruth.from_dict(
        {clip: [(3, 6, label) for label in labels] for clip in clips},
        durations=dict.fromkeys(clips, 36.0),
    )
    return sed.Scores.from_arrays(dict.fromkeys(clips, frames), classes=labels, frame=1.0), truth


@pytest.mark.parametrize("interval", ["subsampling", "percentile", "bca"])
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_a_perfect_system_is_not_certain(interval: str) -> None:
    metrics = [
        *(sed.Precision(COLLAR), sed.Recall(COLLAR), sed.MissRate(COLLAR), sed.FScore(COLLAR)),
        *(sed.BestFScore(COLLAR), sed.ErrorRate(COLLAR), sed.FalseAlarmRate(COLLAR)),
        *(sed.RecallAtFalseAlarms(COLLAR, 9), sed.MissRateAtFalseAlarms(COLLAR, 9)),
        *(sed.RecallAtPrecision(COLLAR, 0.5), sed.PrecisionAtRecall(COLLAR, 0.5)),
    ]
    resampling = sed.Resampling(40, interval=interval)
    result = sed.evaluate(*perfect(), metrics, resampling=resampling)
    five = float(stats.beta.ppf(0.025, 5, 1))  # the lower limit of five right ones of five
    ten = float(stats.beta.ppf(0.025, 10, 1))
    none = float(stats.chi2.ppf(0.975, 2)) / 2  # the upper limit of none
    expected = {
        sed.Precision(COLLAR): ((five, 1), (ten, 1)),
        sed.Recall(COLLAR): ((five, 1), (ten, 1)),
        sed.MissRate(COLLAR): ((0, 1 - five), (0, 1 - ten)),
        sed.FScore(COLLAR): ((2 * five / (1 + five), 1), (2 * ten / (1 + ten), 1)),
        sed.BestFScore(COLLAR): ((2 * five / (1 + five), 1), (2 * ten / (1 + ten), 1)),
        sed.RecallAtFalseAlarms(COLLAR, 9): ((five, 1), (ten, 1)),
        sed.MissRateAtFalseAlarms(COLLAR, 9): ((0, 1 - five), (0, 1 - ten)),
        sed.RecallAtPrecision(COLLAR, 0.5): ((five, 1), (ten, 1)),
        sed.PrecisionAtRecall(COLLAR, 0.5): ((five, 1), (ten, 1)),
        sed.ErrorRate(COLLAR): ((0, none / 5), (0, none / 10)),
        sed.FalseAlarmRate(COLLAR): ((0, none * 20), (0, none * 20)),  # in three minutes
    }
    for metric, (of_class, overall) in expected.items():
        bootstrap = result.intervals[metric]
        dog = bootstrap.per_class["Dog"]
        assert (dog.low, dog.high) == pytest.approx(of_class), metric
        assert (bootstrap.low, bootstrap.high) == pytest.approx(overall), metric
        rate = isinstance(metric, (sed.ErrorRate, sed.FalseAlarmRate))
        assert bootstrap.exact == dog.exact == ("Poisson" if rate else "binomial")
        assert result.to_dict()["metrics"][metrics.index(metric)]["interval"]["exact"] == dog.exact
    assert (
        "exact binomial limits of collar_precision, which take events as independent, where all resamples "
        "have the same value: overall, Dog, Cat"
    ) in result.table()


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_what_has_no_number_of_events_keeps_its_interval() -> None:
    result = sed.evaluate(
        *perfect(), [sed.Recall(sed.Time()), "psds1", sed.FScore(COLLAR, beta=2)], resampling=40
    )
    assert all(bootstrap.exact is None for bootstrap in result.intervals.values())
    assert all("exact" not in entry["interval"] for entry in result.to_dict()["metrics"])


def test_resamples_that_differ_keep_their_interval() -> None:
    truth = sed.simulate.ground_truth(60, classes=2, seed=1)
    scores = sed.simulate.scores(truth, frame=0.1, quality=0.6)
    result = sed.evaluate(scores, truth, "collar_precision", resampling=40)
    (bootstrap,) = result.intervals.values()
    assert bootstrap.exact is None
    assert bootstrap.low < bootstrap.value < bootstrap.high
