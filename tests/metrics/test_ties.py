"""Operating points of equal rates, costs or values: they tie, although rounding may tell them apart."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import Tally
from sedscope.metrics.psds import class_psd_roc

from ..support.oracle import psds as oracle_psds

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

SECOND = 1_000_000
LABELS = ("a", "b", "c")
CRITERION = sed.Intersection(0.5, 0.5, cttc=0.5)


def whole_seconds(seed: int) -> tuple[sed.Scores, sed.GroundTruth]:
    """Few scores in frames of a second, and references of 1 to 5 s in 10 or 20 s: rates often coincide."""
    rng = np.random.default_rng(seed)
    labels = LABELS[: rng.integers(2, 4)]
    scores, events, durations = {}, {}, {}
    for clip in "xyz"[: rng.integers(1, 4)]:
        durations[clip] = int(rng.choice([10, 20]))
        scores[clip] = rng.choice([0, 0.1, 0.3, 0.5, 0.7, 0.9], size=(durations[clip], len(labels)))
        onsets, lengths = rng.integers(0, durations[clip] - 5, 3), rng.choice([0, 1, 2, 4, 5], 3)
        events[clip] = [
            (int(onset), int(onset + length), label)
            for onset, length, label in zip(onsets, lengths, labels, strict=False)
            if length
        ]
    return (
        sed.Scores.from_arrays(scores, classes=labels, frame=1.0),
        sed.GroundTruth.from_dict(events, durations=durations),
    )


def exact_points(counts: sed.Counts, label: str, alpha_ct: float) -> list[oracle_psds.Point]:
    """The operating points of a class as fractions of the counts."""
    of_class, duration = counts[label], round(counts.duration)
    others = [other for other in counts if other != label and counts.references[other]]
    points = [(Fraction(0), Fraction(0))]
    for row in range(len(of_class.fp)):
        crossed = sum(
            Fraction(int(of_class.ct(other)[row]), round(counts.reference_times[other]))
            for other in others
        )
        rate = Fraction(int(of_class.fp[row]), duration)
        rate += Fraction(str(alpha_ct)) * crossed / max(1, len(others))
        points.append((3600 * rate, Fraction(int(of_class.tp[row]), of_class.references)))
    return points


@pytest.mark.parametrize("best", [True, False])
def test_psds_where_rates_coincide(best: bool) -> None:
    for seed in range(150):
        counts = sed.deltas(*whole_seconds(seed), CRITERION).counts()
        for alpha_ct in (0.1, 0.3, 0.5, 1.0):
            psds = sed.PSDS(CRITERION, alpha_ct=alpha_ct, max_efpr=10000, oracle=best)
            result = psds.measure(counts)
            for label in counts:
                if counts.references[label]:
                    roc = oracle_psds.steps(exact_points(counts, label, alpha_ct), oracle=best)
                    expected = oracle_psds.area([roc], alpha_st=0, max_efpr=10000)
                    assert result.per_class[label].value == pytest.approx(expected, abs=1e-12)


def test_equal_rates_of_other_counts_are_one_operating_point() -> None:
    # at 0.9 six false positives; at 0.5 two, one of them a cross-trigger on b: 6 / 20 = 2 / 20 + 1 / 5
    scores = np.array([0.9, 0.5] * 6 + [0.9, 0, 0.5, 0, 0, 0, 0, 0])
    system = sed.Scores.from_arrays(
        {"k": np.stack([scores, 0 * scores], 1)}, classes=["a", "b"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict({"k": [(12, 13, "a"), (14, 19, "b")]}, durations={"k": 20})
    psds = sed.PSDS(CRITERION, alpha_ct=1, max_efpr=10000, oracle=False)
    of_class = sed.evaluate(system, truth, psds)[psds].per_class["a"]
    assert of_class.value == pytest.approx(0.892)
    assert of_class.curve.efpr.tolist() == pytest.approx([0, 1080])
    assert of_class.curve.tpr.tolist() == [0, 1]
    assert of_class.curve.scores.tolist() == [np.inf, 0.9]


def test_a_weight_of_one_third_is_one_third() -> None:
    first: Any = [[0, 0.9], [0.9, 0.9], [0.5, 0.9], [0.5, 0.9], [0.9, 0.9], [0.5, 0]]
    second: Any = [
        [0, 0],
        [0.9, 0],
        [0.5, 0],
        [0, 0.5],
        [0, 0],
        [0.9, 0.5],
        [0.5, 0],
        [0.5, 0.5],
        [0.5, 0],
    ]
    scores = sed.Scores.from_arrays({"a": first, "b": second}, classes=["A", "B"], frame=0.5)
    events = {"a": [(1.5, 2.5, "A"), (1.5, 2.5, "B")], "b": [(0, 0.5, "B"), (3.5, 4.5, "B")]}
    truth = sed.GroundTruth.from_dict(events, durations={"a": 3, "b": 4.5})
    criterion = sed.Intersection(0.3, 0.6, cttc=0.1)
    psds = sed.PSDS(criterion, alpha_ct=1 / 3, max_efpr=720, unit="minute", oracle=False)
    assert sed.evaluate(scores, truth, psds)[psds].per_class["A"].value == pytest.approx(44 / 45)


@pytest.mark.parametrize("more_false_positives", [True, False])
def test_rates_that_differ_by_less_than_rounding_are_in_order(more_false_positives: bool) -> None:
    # fp / T and ct / T_b differ by 1 / (T · T_b), about 1e-16 of either
    duration, time = 10**8 + 7, 10**8 + 37
    fp = pow(time, -1, duration)
    ct = (fp * time - 1) // duration
    if not more_false_positives:
        fp, ct = duration - fp, time - ct
    assert (Fraction(fp, duration) > Fraction(ct, time)) == more_false_positives
    system = sed.Scores.from_arrays({"k": np.zeros((2, 2))}, classes=["a", "b"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"k": [(0, 1, "a"), (0, 1, "b")]}, durations={"k": 2})
    counts = sed.deltas(system, truth, CRITERION).counts()
    for found in ([1, 0], [0, 1]):  # by the first operating point, or the second
        of_a = replace(
            counts["a"],
            scores=np.array([0.9, 0.5]),
            tp=np.array(found),
            fp=np.array([fp, 0]),
            cross_rows=np.array([1]),
            cross_labels=np.array([1], np.int32),
            cross_changes=np.array([ct]),
        )
        changed = replace(
            counts,
            per_class={"a": of_a, "b": counts["b"]},
            duration=duration / SECOND,
            reference_times={"a": 1.0, "b": time / SECOND},
        )
        curve = class_psd_roc(changed, "a", alpha_ct=1, oracle=False)
        assert curve.tpr[-1] == found[0 if more_false_positives else 1]


COSTS: list[Any] = [
    sed.BestDetectionCost(sed.Segment(1.0)),
    sed.BestDetectionCost(sed.Time(), miss_cost=0.1, false_alarm_cost=0.3),
    sed.BestDetectionCost(sed.Time(), miss_cost=0.3, false_alarm_cost=0.7),
]


def test_of_equal_costs_the_highest_threshold_is_best() -> None:
    for seed in range(150):
        result = sed.evaluate(*whole_seconds(seed), COSTS)
        for metric in COSTS:
            weights = Fraction(str(metric.miss_cost)), Fraction(str(metric.false_alarm_cost))
            for label, value in result[metric].per_class.items():
                counts = result.counts[metric.criterion][label]
                tally = counts.tally()
                if tally.references:
                    costs = [
                        weights[0] * Fraction(tally.references - tp, tally.references)
                        + weights[1] * Fraction(fp, tally.negatives)
                        for tp, fp in zip(
                            [0, *counts.tp.tolist()], [0, *counts.fp.tolist()], strict=True
                        )
                    ]
                    assert value.threshold == counts.threshold(costs.index(min(costs)))


@given(st.integers(0, 10**6), st.integers(1, 10**13))
def test_false_alarm_rates_are_rounded_once(false_alarms: int, ticks: int) -> None:
    tally = Tally(0, false_alarms, 0)
    hours = ticks / SECOND / 3600
    assert tally.false_alarms_per_hour(hours) == float(Fraction(false_alarms * 3600 * SECOND, ticks))


@pytest.mark.parametrize(("per", "expected"), [("hour", 1800), ("day", 43200)])
def test_three_false_alarms_in_six_seconds(per: str, expected: float) -> None:
    system = sed.Scores.from_arrays({"k": [[1.0], [0.0]] * 3}, classes=["a"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"k": []}, durations={"k": 6})
    rate = sed.FalseAlarmRate(sed.Collar(), per=per)
    result = sed.evaluate(system, truth, rate, classes=["a"])[rate]
    assert (result.value, result.per_class["a"].value) == (expected, expected)
