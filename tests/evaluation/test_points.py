"""Evaluation and comparison at operating points."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.metrics.metric import METRICS
from sedscope.metrics.thresholded import FixedThreshold
from sedscope.postprocessing import MedianFilter

from ..support.passes import memory_of_one_class

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

COLLAR, SECOND = sed.Collar(), sed.Segment(1.0)
MEASURED: list[Metric[Any]] = [
    sed.FScore(COLLAR),
    sed.FScore(SECOND, beta=2, average="micro"),
    sed.Precision(COLLAR, average="weighted"),
    sed.Recall(sed.Intersection(0.5, 0.5, cttc=0.3)),
    sed.MissRate(sed.Alarm(cooldown=2)),
    sed.DetectionPrecision(sed.AnyOverlap()),
    sed.ErrorRate(COLLAR, average="micro"),
    sed.ErrorRate(SECOND, average="micro"),
    sed.Specificity(SECOND),
    sed.BalancedAccuracy(sed.Clip()),
    sed.FalseAlarmRate(COLLAR),
    sed.Accuracy(SECOND, average="micro"),
    sed.ErrorRate(sed.Time(collar=0.2)),
    sed.DetectionCost(sed.Time()),
]


@cache
def small_set() -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.simulate.ground_truth(30, seed=5)
    return sed.simulate.scores(truth, frame=0.1, seed=5), truth


@cache
def points() -> sed.OperatingPoints:
    """A threshold for all classes but one, and a post-processing for some."""
    scores, truth = small_set()
    tuned = sed.tune(scores, truth, sed.BestFScore(COLLAR), "MedianFilter(0|0.3)").points
    thresholds = {label: value for label, value in tuned.thresholds.items() if label != "Dog"}
    return sed.OperatingPoints(thresholds, postprocessing=tuned.postprocessing)


def test_all_metrics_with_a_threshold_are_covered() -> None:
    assert {type(metric) for metric in MEASURED} == {
        kind for kind in METRICS.values() if issubclass(kind, FixedThreshold)
    }


def test_values_are_those_of_the_detected_events() -> None:
    scores, truth = small_set()
    detected = sed.Scores.from_events(points().detect(scores), classes=scores.classes, clips=truth.clips)
    expected = sed.evaluate(detected, truth, MEASURED)
    result = sed.evaluate(scores, truth, MEASURED, points=points())
    for metric in MEASURED:
        assert result[metric].value == pytest.approx(expected[metric].value, nan_ok=True)
        for label, value in result[metric].per_class.items():
            assert value.value == pytest.approx(expected[metric].per_class[label].value, nan_ok=True)
            if metric in MEASURED[:1]:
                assert result[metric].thresholds[label] == points().thresholds.get(label, float("inf"))


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            {"collar_f1": MEASURED[0], "collar_f1_at_points": MEASURED[2]},
            "Two metrics have the same name",
        ),
        ({"a": MEASURED[0], "b": sed.FScore(COLLAR, "points")}, "a and b are the same metric"),
    ],
)
def test_no_metric_gets_lost_at_points(metrics: dict[str, Metric[Any]], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(*small_set(), metrics, points=points())


def test_names_of_ones_own_stay_at_points() -> None:
    result = sed.evaluate(*small_set(), {"collar_f1": MEASURED[2]}, points=points())
    assert result["collar_f1"] is result[MEASURED[2]]


def test_nothing_claims_another_threshold() -> None:
    scores, truth = small_set()
    result = sed.evaluate(scores, truth, ["collar_f1", sed.FalseAlarmRate(COLLAR)], points=points())
    assert list(result.names.values()) == ["collar_f1_at_points", "collar_false_alarms_at_points"]
    for text in (result.table(), result.to_markdown(), result.to_csv(), result.to_json()):
        assert "threshold='points'" in text
        assert "threshold=0.5" not in text
    with pytest.raises(
        sed.SedscopeError, match=re.escape("Alarm_bell_ringing was not counted at threshold 0.5")
    ):
        result.counts[COLLAR]["Alarm_bell_ringing"].tally_at(0.5)


def test_intervals_and_blocks() -> None:
    scores, truth = small_set()
    expected = sed.evaluate(points().apply(scores), truth, MEASURED, resampling=10)
    result = sed.evaluate(scores, truth, MEASURED, points=points(), resampling=10)
    for metric, at_points in zip(MEASURED, result, strict=True):
        interval, other = result.intervals[at_points], expected.intervals[metric]
        assert (interval.low, interval.high) == pytest.approx((other.low, other.high))
    by_class: list[Metric[Any]] = [
        sed.FScore(COLLAR),
        sed.Recall(COLLAR, average="micro"),
        sed.FalseAlarmRate(COLLAR),
    ]
    limit = memory_of_one_class(points().apply(scores), truth, by_class)
    in_blocks = sed.evaluate(scores, truth, by_class, points=points(), run=sed.Run(memory=limit))
    assert in_blocks.blocks > 1
    assert in_blocks.scalars() == sed.evaluate(scores, truth, by_class, points=points()).scalars()


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("psds1", "look at many thresholds: psds1"),
        (sed.AveragePrecision(COLLAR), "look at many thresholds: AveragePrecision"),
        (sed.BestFScore(COLLAR), "look at many thresholds: best_collar_f1"),
        (
            sed.RecallAtFalseAlarms(COLLAR, false_alarms=1),
            "look at many thresholds: RecallAtFalseAlarms",
        ),
        (sed.FScore(COLLAR, threshold=0.3), "Leave out threshold="),
        (sed.FScore(sed.Segment(1.0, aggregation="mean")), "to mean scores of segments"),
    ],
)
def test_metrics_that_are_not_defined_there(metric: Any, message: str) -> None:
    scores, truth = small_set()
    with pytest.raises(sed.SedscopeError, match=re.escape(message)):
        sed.evaluate(scores, truth, metric, points=points())
    only_processed = sed.OperatingPoints({}, postprocessing=points().postprocessing)
    processed = sed.evaluate(only_processed.process(scores), truth, metric)
    assert sed.evaluate(scores, truth, metric, points=only_processed).scalars() == processed.scalars()


def test_a_system_without_points_must_have_one() -> None:
    scores, truth = small_set()
    at_points = sed.FScore(COLLAR, threshold="points")
    with pytest.raises(sed.SedscopeError, match="has several: state the operating points"):
        sed.evaluate(scores, truth, at_points)
    events = sed.Scores.from_events(sed.detect(scores, 0.6), classes=scores.classes, clips=truth.clips)
    fixed = sed.FScore(COLLAR, threshold=0.6)
    expected = sed.evaluate(scores, truth, fixed)[fixed].value
    assert sed.evaluate(events, truth, at_points)[at_points].value == expected
    with pytest.raises(sed.SedscopeError, match="must be a number or 'points'"):
        sed.FScore(COLLAR, threshold="point")  # type: ignore[arg-type]  # what is not allowed


def test_compare_at_points() -> None:
    scores, truth = small_set()
    filtered = MedianFilter(0.5)(scores)
    events = sed.Scores.from_events(sed.detect(scores, 0.6), classes=scores.classes, clips=truth.clips)
    one_point = sed.OperatingPoints(dict.fromkeys(scores.classes, 0.4))
    by_name = {"tuned": points(), "filtered": one_point.after(MedianFilter(0.5), scores.classes)}
    systems = {"tuned": scores, "filtered": scores, "events": events}
    measured = MEASURED[:5]
    comparison = sed.compare(systems, truth, measured, resampling=3, points=by_name)
    single = {"tuned": points().apply(scores), "filtered": one_point.apply(filtered), "events": events}
    for metric, at_points in zip(measured, comparison.metrics, strict=True):
        for name, value in comparison.values[at_points].items():
            expected = sed.evaluate(single[name], truth, metric)[metric].value
            assert value.value == pytest.approx(expected)
    with pytest.raises(sed.SedscopeError, match=r"^filtered: .* has several"):
        sed.compare(systems, truth, MEASURED[0], resampling=3, points={"tuned": points()})
    with pytest.raises(sed.SedscopeError, match="not compared: other"):
        sed.compare(systems, truth, MEASURED[0], resampling=3, points={"other": points()})
