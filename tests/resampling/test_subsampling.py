"""Intervals from halves and quarters of the clips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.metrics.metric import METRICS
from sedscope.metrics.names import as_metric
from sedscope.resampling.draws import Draws, interval_of
from sedscope.resampling.subsampling import SUBSETS_PER_ROUND, Behaviour, subsampling_ends, subsets

from ..support.examples import METRICS as EXAMPLES

SETS, CLIPS = 60, 100


@pytest.mark.parametrize("number", [2, 3, 7, 40, 101])
def test_rounds_have_two_halves_and_the_quarters_of_each(number: int) -> None:
    rounds = subsets(np.arange(number), 1000, 3).reshape(-1, SUBSETS_PER_ROUND, number)
    assert len(rounds) == 100
    first, second, *quarters = rounds.transpose(1, 0, 2)
    assert (first + second == 1).all()
    assert (first.sum(axis=1) == number // 2).all()
    np.testing.assert_array_equal(quarters[0] + quarters[1], first)
    np.testing.assert_array_equal(quarters[2] + quarters[3], second)
    sizes = np.array(quarters).sum(axis=2)
    assert sizes.max() - sizes.min() <= 1 + (number % 4 == 3)
    assert len({row.tobytes() for row in first}) > (number > 7) * 99


def test_groups_stay_together_in_subsets() -> None:
    units = np.array([0, 0, 1, 2, 2, 2, 3, 4])
    weights = subsets(units, 100, 0)
    for unit in range(5):
        assert (np.ptp(weights[:, units == unit], axis=1) == 0).all()


def means_of(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    weights = subsets(np.arange(len(values)), 1000, seed)
    return weights @ values / weights.sum(axis=1)


def test_the_interval_of_a_mean_is_that_of_student() -> None:
    """Halves deviate from the mean by the standard error; the t quantile of 20 degrees is 2.086."""
    values = np.random.default_rng(0).normal(5, 2, 400)
    ends = [
        subsampling_ends(values.mean(), means_of(values, seed), 0.95, Behaviour()) for seed in range(20)
    ]
    error = values.std() / np.sqrt(len(values))
    low, high = np.mean(ends, axis=0)
    assert (low + high) / 2 == pytest.approx(values.mean(), abs=0.1 * error)
    assert (high - low) / 2 == pytest.approx(2.086 * error, rel=0.06)  # and a little for the slope


@pytest.mark.parametrize("rate", [1.0, 3 / 4])
@pytest.mark.parametrize("many", [0.001, 0.3, 0.9])
def test_a_bias_that_falls_with_the_number_of_clips_is_subtracted(rate: float, many: float) -> None:
    """``many``: where a bias begins to fall, as a share of the clips; at most at all of them."""
    shares = np.tile([1 / 2] * 2 + [1 / 4] * 4, 500)
    scale = 1 / many if rate < 1 else 1e9  # a smooth metric is taken as one of many clips
    noise = np.random.default_rng(1).normal(0, 0.01, len(shares))
    biases = 0.3 * (1 + scale**rate) / (1 + (shares * scale) ** rate)
    low, high = subsampling_ends(0.8, 0.5 + biases + noise - noise.mean(), 0.95, Behaviour(rate))
    assert (low + high) / 2 == pytest.approx(0.5, abs=0.015)


def test_the_spread_of_classes_has_a_bias_of_its_own() -> None:
    """Two biases that cancel in halves and quarters do not cancel in the value."""
    shares = np.tile([1 / 2] * 2 + [1 / 4] * 4, 500)
    noise = np.random.default_rng(1).normal(0, 0.01, len(shares))
    mean = 0.7 + 0.1 * np.append(1, shares) ** (-3 / 4)
    spread = 0.2 + 0.08 / np.append(1, shares)
    values = mean - spread
    values[1:] += noise - noise.mean()
    kind = Behaviour(3 / 4, costs_spread=True)
    low, high = subsampling_ends(values[0], values[1:], 0.95, kind, mean)
    assert (low + high) / 2 == pytest.approx(0.5, abs=0.01)
    low, high = subsampling_ends(values[0], values[1:], 0.95, kind)
    assert (low + high) / 2 != pytest.approx(0.5, abs=0.03)


def test_intervals_of_shares_stay_between_0_and_1() -> None:
    rng = np.random.default_rng(2)
    for value in (0.0, 0.004, 0.5, 0.99, 1.0):
        values = np.clip(value + rng.normal(0, 0.2, 240), 0, 1)
        low, high = subsampling_ends(value, values, 0.99, Behaviour(2 / 3, (0.0, 1.0)))
        assert 0 <= low < high <= 1
        wider = subsampling_ends(value, values, 0.99, Behaviour(2 / 3))
        assert wider[0] < 0 or wider[1] > 1


def test_intervals_of_differences_end_at_the_largest_difference() -> None:
    shares = Behaviour(2 / 3, (0.0, 1.0)).difference()
    assert shares.bounds == (-1.0, 1.0)
    values = np.clip(-0.6 + np.random.default_rng(2).normal(0, 0.3, 240), -1, 1)
    low, high = subsampling_ends(-0.6, values, 0.95, shares)
    free = subsampling_ends(-0.6, values, 0.95, Behaviour(2 / 3, fixed=True))
    assert free[0] < low == -1
    assert high == free[1] < 1


def test_bounds_that_values_leave_are_not_bounds() -> None:
    values = 1.2 + np.random.default_rng(2).normal(0, 0.2, 240)
    shares = subsampling_ends(1.2, values, 0.95, Behaviour(1.0, (0.0, 1.0)))
    assert shares == subsampling_ends(1.2, values, 0.95, Behaviour())


def test_values_that_are_not_defined() -> None:
    nan = np.full(240, np.nan)
    assert np.isnan(subsampling_ends(np.nan, nan, 0.95, Behaviour())).all()
    assert np.isnan(subsampling_ends(0.5, nan, 0.95, Behaviour())).all()
    assert np.isnan(subsampling_ends(np.inf, np.ones(240), 0.95, Behaviour())).all()
    half = np.tile([0.4, np.nan, *[np.nan] * 4], 40)
    half[0] = 0.6
    low, high = subsampling_ends(0.5, half, 0.95, Behaviour())
    assert np.isfinite([low, high]).all()


@pytest.mark.parametrize("metric", [metric for metric in EXAMPLES if metric.bounds], ids=repr)
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_values_lie_between_the_bounds_of_their_metric(metric: Metric[Any]) -> None:
    truth = sed.simulate.ground_truth(30, seed=1)
    scores = sed.simulate.scores(truth, frame=0.25, quality=0.3, seed=1)
    value = sed.evaluate(scores, truth, metric)[metric]
    values = np.array([value.value, *(of_class.value for of_class in value.per_class.values())])
    assert metric.bounds is not None
    least, most = metric.bounds
    assert ((values[~np.isnan(values)] >= least) & (values[~np.isnan(values)] <= most)).all()


def test_which_metrics_take_the_best_of_many_thresholds() -> None:
    kinds: dict[str, Any] = {**METRICS}
    slow = {name for name, metric in kinds.items() if metric.bias_rate < 1}
    assert slow == {
        *("PSDS", "PiPSDS", "BestFScore", "BestErrorRate", "BestDetectionCost"),
        *("PrecisionAtRecall", "RecallAtPrecision", "RecallAtFalseAlarms", "MissRateAtFalseAlarms"),
    }


@pytest.mark.parametrize("metric", ["best_collar_f1", "psds1"])
def test_intervals_hold_the_value_of_the_population(metric: str) -> None:
    """A small form of benchmarks/coverage.py: 57 of 60 sets should hold it, by luck 50 or fewer in 0.1 %."""
    truth = sed.simulate.ground_truth(SETS * CLIPS, seed=1)
    scores = sed.simulate.scores(truth, frame=0.1, quality=0.7, seed=1)
    measured = sed.parse_metric(metric)
    deltas = sed.deltas(scores, truth, measured.criterion)
    expected = measured.measure(deltas.counts()).value
    held = dict.fromkeys(("subsampling", "percentile"), 0)
    below = 0
    for number in range(SETS):
        part = deltas.of_clips(np.arange(SETS * CLIPS) // CLIPS == number)
        for kind in held:
            interval = sed.bootstrap(part, measured, sed.Resampling(200, seed=number, interval=kind))
            held[kind] += interval.low <= expected <= interval.high
            below += kind == "subsampling" and expected < interval.low
    assert held["subsampling"] > 50, held
    assert below < 8
    if metric == "best_collar_f1":
        assert held["percentile"] < 30, held  # so that the test can fail


def test_weights_that_a_user_chose_have_percentiles() -> None:
    clips = [f"clip{i}" for i in range(20)]
    drawn = sed.Resampling(30).draw(clips)
    draws = Draws(sed.Resampling(), clips, drawn)
    assert draws.resampling.interval == "percentile"
    assert len(draws.weights) == 31
    column = np.concatenate([[0.5], np.linspace(0, 1, 30)])
    assert interval_of(column, draws.resampling).low == pytest.approx(0.025)


def test_metrics_whose_intervals_fall_short_say_so() -> None:
    clips = [f"clip {number:03}" for number in range(300)]
    metrics = [as_metric(name) for name in ("AUROC(Clip())", "best_collar_f1")]
    (caution,) = Draws(sed.Resampling(20), clips).cautions(metrics)
    assert "sets of 300, 95 % intervals of AUROC" in caution
    assert not Draws(sed.Resampling(20, interval="percentile"), clips).cautions(metrics)
    assert not Draws(sed.Resampling(20), [f"clip {number:04}" for number in range(1000)]).cautions(
        metrics
    )
