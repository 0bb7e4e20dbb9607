"""The criterion of time at every threshold, compared with the oracle, and its way through the library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support import oracle
from ..support.equality import assert_equal_to_oracle, count_columns
from ..support.passes import stored
from ..support.resamples import measure_resampled
from ..support.strategies import (
    LABELS,
    clip_lists_with_ignored,
    dtypes,
    mixed_clip_lists,
    to_scores,
    to_truth,
)

collars = st.sampled_from([0.0, 1e-6, 2e-6, 5e-6, 0.064, 1.0])


@settings(max_examples=100)
@given(mixed_clip_lists | clip_lists_with_ignored, collars, dtypes)
def test_every_threshold(case: Sequence[oracle.Clip], collar: float, dtype: type) -> None:
    criterion, width = sed.Time(collar), oracle.ticks(collar)
    deltas = sed.deltas(to_scores(case, dtype), to_truth(case), criterion)
    counts = deltas.counts()
    for label in LABELS:
        of_class = counts[label]
        assert_equal_to_oracle(of_class, oracle.time_counts(case, label, collar=width), label)
        within, total = oracle.scored_time(case, label, collar=width)
        assert (of_class.references, of_class.trials) == (within, total)
        assert of_class.reference_time == within / 1e6
        assert counts.reference_events[label] == oracle.reference_count(case, label)
    assert dict(count_columns(stored(deltas).counts())) == dict(count_columns(counts))


@settings(max_examples=60)
@given(clip_lists_with_ignored, collars, st.integers(1, 4))
def test_pieces_of_a_recording(case: Sequence[oracle.Clip], collar: float, frames: int) -> None:
    whole = to_scores(case)
    in_pieces = sed.Scores.from_pieces(
        {
            clip: sed.ClipPieces(
                partial(np.split, of_clip.values, range(frames, len(of_clip.values), frames)),
                edges=of_clip.edges,
            )
            for clip, of_clip in whole.items()
        },
        classes=LABELS,
    )
    truth, criterion = to_truth(case), sed.Time(collar)
    counts = [sed.deltas(scores, truth, criterion).counts() for scores in (whole, in_pieces)]
    assert dict(count_columns(counts[0])) == dict(count_columns(counts[1]))


def test_a_collar_cuts_out_both_sides_of_each_boundary() -> None:
    #             0   1   2   3   4   5   6   7   8
    # reference           [           )
    # not scored        [---]       [---]
    # active            [       )           [   )
    truth = sed.GroundTruth.from_dict({"a": [(2, 5, "speech")]}, durations={"a": 8})
    scores = sed.Scores.from_events({"a": [(1.5, 3.5, "speech"), (6.5, 7.5, "speech")]})
    counts = sed.deltas(scores, truth, sed.Time(collar=1.0)).counts()["speech"]
    tally = counts.tally_at(0.5)
    assert (tally.tp, tally.fp) == (1_000_000, 1_000_000)
    assert (tally.references, tally.trials) == (2_000_000, 6_000_000)


def test_times_beyond_what_a_row_holds() -> None:
    hours, second = 10, 1_000_000
    truth = sed.GroundTruth.from_dict(
        {"a": [(3600, 3600 * hours, "rain")]}, durations={"a": 3600 * hours}
    )
    scores = sed.Scores.from_events({"a": [(0, 3600 * hours, "rain", 0.5)]})
    deltas = sed.deltas(scores, truth, sed.Time())
    for weight in (1, 1000):
        tally = deltas.counts(weights=np.array([weight]))["rain"].tally_at(0.1)
        assert tally.tp == weight * 3600 * (hours - 1) * second
        assert tally.fp == weight * 3600 * second


def test_ignored_references_of_other_lengths_are_not_scored() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "dog"), (2, 5, "dog")]}, durations={"a": 8})
    scores = sed.Scores.from_events({"a": [(0, 3, "dog")]})
    tally = sed.deltas(scores, truth, sed.OfLength(sed.Time(), 2)).counts()["dog"].tally_at(0.5)
    assert (tally.tp, tally.fp, tally.references, tally.trials) == (10**6, 10**6, 3 * 10**6, 7 * 10**6)


TIME = sed.Time(collar=0.2)
METRICS = [
    sed.FScore(TIME),
    sed.FScore(TIME, average="micro"),
    sed.BestFScore(TIME),
    sed.BestFScore(TIME, average="weighted"),
    sed.Precision(TIME),
    sed.Accuracy(TIME),
    sed.AUROC(TIME),
    sed.AveragePrecision(TIME),
    sed.ErrorRate(TIME, average="micro"),
    sed.BestErrorRate(TIME),
    sed.BestErrorRate(TIME, average="micro_tuned"),
    sed.DetectionCost(TIME),
    sed.BestDetectionCost(TIME, average="micro_tuned"),
    sed.EqualErrorRate(TIME),
    sed.EqualErrorRate(TIME, average="micro"),
]


@pytest.fixture(scope="module")
def simulated() -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.simulate.ground_truth(12)
    return sed.simulate.scores(truth, frame=0.25), truth


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_resamples_are_counted_as_sets_of_clips(
    simulated: tuple[sed.Scores, sed.GroundTruth], metric: Any
) -> None:
    deltas = sed.deltas(*simulated, TIME)
    weights = sed.Resampling(n=8).draw(deltas.clips)
    values, of_classes = measure_resampled(deltas, metric, weights, 1)
    for row, value, per_class in zip(weights, values, of_classes, strict=True):
        result = metric.measure(deltas.counts(weights=row))
        expected = [result.value, *(class_value.value for class_value in result.per_class.values())]
        assert np.array_equal([value, *per_class], expected, equal_nan=True)


def test_values_follow_from_the_four_durations(simulated: tuple[sed.Scores, sed.GroundTruth]) -> None:
    counts = sed.deltas(*simulated, TIME).counts()
    for label, of_class in counts.items():
        tp, fp, tn, fn = _durations(of_class, 0.5)
        if not tp + fn:
            continue
        expected = {
            sed.ErrorRate(TIME): (fp + fn) / (tp + fn),
            sed.DetectionCost(TIME): 0.75 * fn / (tp + fn) + 0.25 * fp / (fp + tn),
            sed.DetectionCost(TIME, miss_cost=1, false_alarm_cost=0): fn / (tp + fn),
            sed.Accuracy(TIME): (tp + tn) / (tp + fp + tn + fn),
        }
        for metric, value in expected.items():
            assert metric.measure(counts).per_class[label].value == pytest.approx(value, abs=1e-15)
        costs = []
        for threshold in [np.inf, *np.nextafter(of_class.scores.astype(float), -np.inf)]:
            tp, fp, tn, fn = _durations(of_class, float(threshold))
            costs.append(0.75 * fn / (tp + fn) + 0.25 * fp / (fp + tn))
        best = sed.BestDetectionCost(TIME).measure(counts).per_class[label]
        assert best.value == pytest.approx(min(costs), abs=1e-15)
        assert best.threshold is not None
        tp, fp, tn, fn = _durations(of_class, best.threshold)
        assert 0.75 * fn / (tp + fn) + 0.25 * fp / (fp + tn) == pytest.approx(min(costs), abs=1e-15)


def _durations(counts: Any, threshold: float) -> tuple[int, int, int, int]:
    tally = counts.tally_at(threshold)
    return tally.tp, tally.fp, tally.negatives - tally.fp, tally.fn


def test_the_equal_error_rate_lies_where_both_rates_cross() -> None:
    #             0   1   2   3   4
    # reference   [       )
    # scores       .9  .3  .5  .1
    truth = sed.GroundTruth.from_dict({"a": [(0, 2, "dog")]}, durations={"a": 4})
    scores = sed.Scores.from_arrays({"a": [[0.9], [0.3], [0.5], [0.1]]}, classes=["dog"], frame=1.0)
    for criterion in (sed.Time(), sed.Segment(1.0)):
        result = sed.EqualErrorRate(criterion).measure(sed.deltas(scores, truth, criterion).counts())
        assert result.value == 0.5


def test_tables_say_seconds(simulated: tuple[sed.Scores, sed.GroundTruth]) -> None:
    scores, truth = simulated
    deltas = sed.deltas(scores, truth, TIME)
    counts = deltas.counts()["Speech"]
    seconds = counts.to_polars()["true_positive_seconds"].to_list()
    assert seconds == (counts.tp / 1e6).tolist()
    metric = sed.FScore(TIME)
    numbers = dict.fromkeys(scores.classes, 0)
    for clip in truth.clips:
        for *_, label in truth.events(clip):
            numbers[label] += 1
    for result in (sed.evaluate(scores, truth, metric), sed.evaluate_deltas(deltas, metric)):
        assert result.references == numbers


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sed.Time(collar=-1), "collar=-1 must be at least 0"),
        (lambda: sed.FalseAlarmRate(TIME), r"counts false alarms, but Time\(collar=0.2\) measures"),
        (lambda: sed.RecallAtFalseAlarms(TIME, 1), "counts false alarms"),
        (lambda: sed.DetectionCost(sed.Collar()), "needs true negatives"),
        (
            lambda: sed.BestErrorRate(sed.Collar(), average="micro_tuned"),
            "'macro' or 'micro' or 'weighted'",
        ),
        (lambda: sed.DetectionCost(TIME, miss_cost=-1), "miss_cost=-1 must be at least 0"),
    ],
)
def test_what_has_no_meaning_is_refused(make: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        make()


def test_limits_on_the_number_of_false_alarms_are_refused(
    simulated: tuple[sed.Scores, sed.GroundTruth],
) -> None:
    scores, truth = simulated
    with pytest.raises(sed.SedscopeError, match="limits the number of false alarms"):
        sed.choose(sed.deltas(scores, truth, TIME), max_false_alarms=1)
    with pytest.raises(sed.SedscopeError, match="needs a number of them"):
        sed.compare(
            {"a": scores, "b": scores}, truth, sed.Recall(TIME), resampling=10, at_false_alarms=1
        )


def test_points_are_measured_by_cost(simulated: tuple[sed.Scores, sed.GroundTruth]) -> None:
    points = sed.choose(sed.deltas(*simulated, TIME))
    assert [*points.metrics()][-1] == "detection_cost"
    result = sed.evaluate(*simulated, points.metrics(), points=points)
    assert result.references["Speech"] > 0
