"""Comparison at the same false alarms: an event list with one operating point, and systems with scores."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Metric, Tally
from sedscope.metrics.false_alarms import AtFalseAlarms
from sedscope.resampling.matched_metric import MatchedMetric

COLLAR = sed.Collar(0.5)
METRICS: list[Metric[Any]] = [
    sed.Recall(COLLAR),
    sed.FScore(COLLAR, beta=2, average="weighted"),
    sed.ErrorRate(sed.Segment(1.0)),
]
pytestmark = pytest.mark.filterwarnings("ignore:Some classes are not defined:sedscope.SedscopeWarning")


class OwnRecall(sed.Recall):
    """A metric that a user wrote."""


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(24, classes=3, seed=2)


@pytest.fixture(scope="module")
def scored(truth: sed.GroundTruth) -> sed.Scores:
    return sed.simulate.scores(truth, frame=0.2, quality=0.6, seed=1)


@pytest.fixture(scope="module")
def events(truth: sed.GroundTruth) -> sed.Scores:
    """An event list without scores, with false alarms in some classes."""
    other = sed.simulate.scores(truth, frame=0.2, quality=0.5, seed=8)
    detected = sed.detect(other, dict(zip(other.classes, (0.3, 0.5, 0.8), strict=True)))
    return sed.Scores.from_events(detected, classes=other.classes)


def best_tally(counts: Any, most: int) -> Tally:
    """Try every operating point: the most references within the limit, then the fewest false alarms."""
    points = [(0, 0), *zip(counts.tp.tolist(), counts.fp.tolist(), strict=True)]
    tp, fp = max((p for p in points if p[1] <= most), key=lambda p: (p[0], -p[1]))
    return Tally(tp, fp, counts.references, counts.trials)


@pytest.mark.parametrize("groups", [False, True])
def test_each_resample_is_measured_within_the_false_alarms_of_the_list(
    truth: sed.GroundTruth, scored: sed.Scores, events: sed.Scores, groups: bool
) -> None:
    options: dict[str, Any] = {"groups": {clip: clip[-1] for clip in truth.clips}} if groups else {}
    comparison = sed.compare(
        {"events": events, "scored": scored},
        truth,
        METRICS,
        resampling=sed.Resampling(25, **options),
        at_false_alarms="list",
    )
    drawn = sed.Resampling(25, **options).draw(list(scored))
    weights = np.concatenate([np.ones((1, drawn.shape[1]), np.int32), drawn])
    for metric, matched in zip(METRICS, comparison.metrics, strict=True):
        of_list, of_scored = (
            sed.deltas(scores, truth, metric.criterion, clips=list(scored))
            for scores in (events, scored)
        )
        expected: dict[str, list[float]] = {"events": [], "scored": []}
        for row in weights:
            own, other = of_list.counts(weights=row), of_scored.counts(weights=row)
            at = {label: own[label].tally_at(0.5) for label in own}
            matching = {label: best_tally(other[label], int(at[label].fp)) for label in other}
            expected["events"].append(metric.of_tallies(at, own).value)
            expected["scored"].append(metric.of_tallies(matching, other).value)
        for name, (value, *resampled) in expected.items():
            assert comparison.values[matched][name].value == value
            np.testing.assert_array_equal(comparison.values[matched][name].values, resampled)
            assert comparison.evaluations[name][matched].value == value
        pair = comparison.differences[matched]["scored", "events"]
        np.testing.assert_array_equal(
            pair.values, np.subtract(expected["scored"], expected["events"])[1:]
        )


def test_the_thresholds_give_what_was_measured(
    truth: sed.GroundTruth, scored: sed.Scores, events: sed.Scores
) -> None:
    comparison = sed.compare(
        {"list": events, "scored": scored}, truth, METRICS[0], resampling=40, at_false_alarms="list"
    )
    (metric,) = comparison.metrics
    result = comparison.evaluations["scored"][metric]
    limits = sed.deltas(events, truth, COLLAR).counts()
    counts = sed.deltas(scored, truth, COLLAR).counts()
    for label, threshold in result.thresholds.items():
        tally = counts[label].tally_at(threshold)
        assert tally.fp <= limits[label].tally_at(0.5).fp
        assert tally.recall == result.per_class[label].value


@pytest.mark.parametrize("rate", [0, 30, 720.0])
@pytest.mark.filterwarnings("ignore:list has more than:sedscope.SedscopeWarning")
def test_a_rate_is_that_of_the_metric(
    truth: sed.GroundTruth, scored: sed.Scores, events: sed.Scores, rate: float
) -> None:
    systems = {"list": events, "scored": scored}
    comparison = sed.compare(systems, truth, METRICS[0], resampling=25, at_false_alarms=rate)
    same = sed.RecallAtFalseAlarms(COLLAR, false_alarms=rate)
    expected = sed.compare(systems, truth, same, resampling=25)
    (metric,) = comparison.metrics
    assert repr(metric) == (
        "Recall(Collar(onset=0.5, offset=0.2, offset_rate=0.2), average='macro') at "
        f"{rate:g} false alarms per hour and class"
    )
    for name in systems:
        np.testing.assert_array_equal(
            comparison.values[metric][name].values, expected.values[same][name].values
        )


def test_a_rate_may_be_one_per_day(
    truth: sed.GroundTruth, scored: sed.Scores, events: sed.Scores
) -> None:
    systems = {"list": events, "scored": scored}
    hourly, daily = (
        sed.compare(systems, truth, METRICS[0], resampling=25, at_false_alarms=rate)
        for rate in (720, "17280/day")
    )
    assert repr(daily.metrics[0]).endswith(" at 17280 false alarms per day and class")
    for name in systems:
        np.testing.assert_array_equal(
            daily.values[daily.metrics[0]][name].values, hourly.values[hourly.metrics[0]][name].values
        )
    for wrong in ("-1/day", "inf/hour"):
        with pytest.raises(sed.SedscopeError, match="must be at least 0, and finite"):
            sed.compare(systems, truth, METRICS[0], at_false_alarms=wrong)
    with pytest.raises(sed.SedscopeError, match="there is no such system"):
        sed.compare(systems, truth, METRICS[0], at_false_alarms="1/week")


def test_a_list_beyond_the_rate_is_named(
    truth: sed.GroundTruth, scored: sed.Scores, events: sed.Scores
) -> None:
    with pytest.warns(
        sed.SedscopeWarning, match="list has more than 0 false alarms per hour and class in"
    ):
        sed.compare({"list": events, "b": scored}, truth, METRICS[0], resampling=40, at_false_alarms=0)


def test_checkpoints_keep_the_values(
    truth: sed.GroundTruth, scored: sed.Scores, events: sed.Scores, tmp_path: Path
) -> None:
    systems = {"list": events, "scored": scored}
    options: dict[str, Any] = {"resampling": 70, "at_false_alarms": "list"}
    plain = sed.compare(systems, truth, METRICS[0], **options)
    for _ in range(2):
        kept = sed.compare(systems, truth, METRICS[0], run=sed.Run(checkpoint=tmp_path), **options)
        assert kept.table() == plain.table()
    plain.report(tmp_path / "report.html")
    assert "at the false alarms of list" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_work_can_travel_to_another_process(truth: sed.GroundTruth, scored: sed.Scores) -> None:
    deltas = sed.deltas(scored, truth, COLLAR)
    metric = AtFalseAlarms(sed.Recall(COLLAR), "some limit", dict.fromkeys(scored.classes, 3))
    block = np.ones((2, 24), np.int32), np.array([[0, 3, 9], [1, 1, 1]])
    work = MatchedMetric(deltas, metric, *block, threads=1)
    values = work(block)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(work))(block), values)
    assert work.key(*block) != work.key(block[0], block[1] + 1)
    written = AtFalseAlarms(OwnRecall(COLLAR), metric.limit, metric.most_false_positives)
    own = MatchedMetric(deltas, written, *block, threads=1)
    assert own.key(*block) is None  # its code may change while its definition does not


def test_scores_beyond_the_limit_are_dropped_and_change_nothing() -> None:
    truth = sed.simulate.ground_truth(60, classes=3, seed=4)
    deltas = sed.deltas(sed.simulate.scores(truth, quality=0.4, seed=4), truth, COLLAR)
    weights = sed.Resampling(20, seed=1).draw(deltas.clips)
    limits = np.random.default_rng(2).integers(0, 9, (20, 3))
    limits[::4, 0] = 2000  # in some resamples, a class is read much further down
    recall = sed.Recall(COLLAR)
    metrics = [
        AtFalseAlarms(recall, "some limit", dict(zip(deltas.classes, row, strict=True)))
        for row in limits
    ]
    work = MatchedMetric(deltas, metrics[0], weights, limits, threads=1)
    measured = [
        metric.measure(deltas.counts(weights=row)) for metric, row in zip(metrics, weights, strict=True)
    ]
    expected = [[result.value, *(c.value for c in result.per_class.values())] for result in measured]
    np.testing.assert_array_equal(work((weights, limits)), expected)
    assert len(pickle.dumps(work)) < 0.6 * len(pickle.dumps(deltas))


@pytest.mark.parametrize(
    ("systems", "metric", "limit", "message"),
    [
        ("ls", sed.presets.PSDS1, "list", "needs metrics at one threshold, such as Recall"),
        ("ls", sed.FScore(COLLAR, average="micro"), "list", "Use average='macro' or 'weighted'"),
        ("ss", METRICS[0], "list", "No system is an event list without scores"),
        ("ll", METRICS[0], "list", "Several systems have one operating point: system 0, system 1"),
        ("ls", METRICS[0], "system 1", "system 1 has several operating points"),
        ("ls", METRICS[0], "systm 0", "no such system. Give a number of false alarms per hour, 'list'"),
        ("ls", METRICS[0], -1, "at_false_alarms=-1 must be at least 0"),
        (
            "ls",
            METRICS[0],
            True,
            "at_false_alarms=True must be a number, 'list' or the name of a system",
        ),
    ],
)
def test_refusals(
    truth: sed.GroundTruth,
    scored: sed.Scores,
    events: sed.Scores,
    systems: str,
    metric: Metric[Any],
    limit: Any,
    message: str,
) -> None:
    named = {f"system {i}": {"l": events, "s": scored}[kind] for i, kind in enumerate(systems)}
    with pytest.raises(sed.SedscopeError, match=re.escape(message)):
        sed.compare(named, truth, metric, resampling=5, at_false_alarms=limit)


def test_several_lists_and_a_name(
    truth: sed.GroundTruth, scored: sed.Scores, events: sed.Scores
) -> None:
    systems: dict[str, Any] = {"a": events, "b": events, "c": scored}
    comparison = sed.compare(systems, truth, METRICS[0], resampling=40, at_false_alarms="b")
    values = comparison.values[comparison.metrics[0]]
    assert values["a"].value == values["b"].value
    assert repr(comparison.metrics[0]).endswith(" at the false alarms of b")
    runs: dict[str, Any] = {"a": [events, events], "c": scored}
    with pytest.raises(
        sed.SedscopeError, match="a has 2 runs, so there is no single number of false alarms"
    ):
        sed.compare(runs, truth, METRICS[0], resampling=5, at_false_alarms="a")
