"""Latencies of alarms, compared with the oracle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.times import to_ticks

from ..support import oracle
from ..support.strategies import LABELS, clip_lists, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

times = st.sampled_from([0.0, 1e-6, 2e-6, 1e-5, 0.064, 10.0])
criteria = st.builds(sed.Alarm, cooldown=times, before=times, after=times, within=st.none() | times)


def ticks_of(alarm: sed.Alarm) -> dict[str, Any]:
    """The lengths of the criterion, in microseconds."""
    lengths = vars(alarm)
    return {
        name: None if lengths[name] is None else int(to_ticks(lengths[name]))
        for name in ("cooldown", "before", "after", "within")
    }


@settings(max_examples=150)
@given(clip_lists, criteria, st.sampled_from([0.3, 0.0, -2.0]))
def test_latencies(case: list[oracle.Clip], criterion: sed.Alarm, threshold: float) -> None:
    scores, truth = to_scores(case), to_truth(case)
    result = sed.alarm_latencies(scores, truth, criterion, threshold, coverage="any")
    options = ticks_of(criterion)
    counts = sed.deltas(scores, truth, criterion, coverage="any").counts()
    for label in LABELS:
        expected = []
        for clip in case:
            detected = oracle.detections(
                clip.scores[label], clip.edges, float(np.nextafter(threshold, np.inf))
            )
            onsets = [onset for onset, _ in detected]
            expected += oracle.latencies(onsets, oracle.references(clip, label), **options)
        of_class = result[label]
        assert to_ticks(of_class.latencies).tolist() == sorted(expected)
        tally = counts[label].tally_at(threshold)
        assert (len(of_class.latencies), of_class.references) == (tally.tp, tally.references)


def test_percentiles_are_latencies_that_a_share_does_not_exceed() -> None:
    events = [(100 * k, 100 * k + 10, "x") for k in range(1, 11)]
    detected = [(100 * k + k / 10, 100 * k + 8, "x") for k in range(1, 11)]
    truth = sed.GroundTruth.from_dict({"a": events}, durations={"a": 2000})
    system = sed.Scores.from_events({"a": detected})
    of_class = sed.alarm_latencies(system, truth, sed.Alarm(), 0.5)["x"]
    assert of_class.percentiles([10, 50, 51, 90, 99]) == [0.1, 0.5, 0.6, 0.9, 1.0]
    within = sed.Recall(sed.Alarm(within=0.9))
    assert sed.evaluate(system, truth, within)[within].value == 0.9


def test_classes_have_thresholds_of_their_own_and_are_taken_together() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "x"), (3, 4, "y"), (6, 7, "y")]}, durations={"a": 9})
    #          0    1    2    3    4    5    6    7    8
    x = [0.0, 0.3, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    y = [0.0, 0.0, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 0.0]
    scores = sed.Scores.from_arrays({"a": np.stack([x, y], axis=1)}, classes=["x", "y"], frame=1.0)
    result = sed.alarm_latencies(scores, truth, sed.Alarm(cooldown=2), {"x": 0.2, "y": 0.5})
    assert (result["x"].latencies.tolist(), result["y"].latencies.tolist()) == ([0], [1])
    assert result.overall.latencies.tolist() == [0, 1]
    assert result.overall.recall == 2 / 3
    never = sed.alarm_latencies(scores, truth, sed.Alarm(), {"y": 2.0})
    assert never.to_dict()["x"]["latency_50"] is None


def test_an_alarm_before_the_onset_has_a_negative_latency() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(5, 6, "x")]}, durations={"a": 9})
    system = sed.Scores.from_events({"a": [(4.5, 8, "x")]})
    assert sed.alarm_latencies(system, truth, sed.Alarm(before=1), 0.5)["x"].latencies.tolist() == [-0.5]


def test_other_criteria_are_refused() -> None:
    truth = sed.simulate.ground_truth(3)
    with pytest.raises(sed.SedscopeError, match="Latencies need an Alarm"):
        sed.alarm_latencies(sed.simulate.scores(truth), truth, sed.Collar(), 0.5)


def test_the_picture_ends_at_the_share_that_is_found() -> None:
    pytest.importorskip("matplotlib")
    truth = sed.simulate.ground_truth(20)
    result = sed.alarm_latencies(sed.simulate.scores(truth), truth, sed.Alarm(before=0.5), 0.5)
    axes = result.plot()
    *_, overall = axes.get_lines()
    assert np.asarray(overall.get_ydata())[-1] == pytest.approx(result.overall.recall)


@settings(max_examples=100)
@given(clip_lists, criteria, st.sampled_from([0.3, 0.0, -2.0]), st.sampled_from([0.07, 0.5, 0.9, 1.0]))
def test_the_metric_is_the_percentile_of_the_oracle(
    case: list[oracle.Clip], alarm: sed.Alarm, threshold: float, quantile: float
) -> None:
    scores, truth = to_scores(case), to_truth(case)
    metric = sed.Latency(alarm, quantile, threshold)
    result = sed.evaluate(scores, truth, metric, coverage="any")[metric]
    measured = sed.alarm_latencies(scores, truth, alarm, threshold, coverage="any")
    together: list[int] = []
    for label in LABELS:
        expected = []
        for clip in case:
            active = float(np.nextafter(threshold, np.inf))
            onsets = [onset for onset, _ in oracle.detections(clip.scores[label], clip.edges, active)]
            expected += oracle.latencies(onsets, oracle.references(clip, label), **ticks_of(alarm))
        together += expected
        of_class = result[label]
        assert bits(of_class.value) == bits(quantile_of(expected, quantile))
        assert bits(of_class.value) == bits(measured[label].percentiles([100 * quantile])[0])
        if of_class.tally is not None:
            assert (of_class.tally.tp, of_class.tally.references) == (
                len(expected),
                measured[label].references,
            )
    assert bits(result.value) == bits(quantile_of(together, quantile))
    assert bits(result.value) == bits(measured.overall.percentiles([100 * quantile])[0])


def bits(value: float) -> str:
    return value.hex()


def quantile_of(latencies: list[int], quantile: float) -> float:
    """The smallest latency that a share of them does not exceed, in seconds."""
    for latency in sorted(latencies):
        if Fraction(sum(other <= latency for other in latencies), len(latencies)) >= Fraction(
            str(quantile)
        ):
            return latency / 1e6
    return float("nan")


def test_resamples_repeat_the_latencies_of_their_clips() -> None:
    truth = sed.simulate.ground_truth(12, seed=3)
    scores = sed.simulate.scores(truth, seed=4)
    alarm = sed.Alarm(cooldown=2, before=0.5)
    metric = sed.Latency(alarm, 0.5, threshold=0.4)
    weights = np.random.default_rng(0).multinomial(12, np.full(12, 1 / 12), size=5)
    deltas = sed.deltas(scores, truth, metric.criterion)
    interval = sed.bootstrap(deltas, metric, weights=weights)
    by_clip = {
        clip: to_ticks(sed.alarm_latencies(scores, truth, alarm, 0.4, clips=[clip]).overall.latencies)
        for clip in deltas.clips
    }
    assert sum(map(len, by_clip.values())) > 10
    for row, value in zip(weights.tolist(), interval.values.tolist(), strict=True):
        drawn = [
            latency
            for clip, number in zip(deltas.clips, row, strict=True)
            for latency in by_clip[clip].tolist() * number
        ]
        assert bits(value) == bits(quantile_of(drawn, 0.5))


def test_the_share_that_is_found_stands_beside_the_value() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "x"), (5, 6, "x"), (3, 4, "y")]}, durations={"a": 9})
    system = sed.Scores.from_events({"a": [(1.5, 2, "x")]}, classes=["x", "y"])
    result = sed.evaluate(system, truth, {"late": sed.Latency(sed.Alarm(cooldown=1))})
    assert result["late"].value == result["late"]["x"].value == 0.5
    assert np.isnan(result["late"]["y"].value)
    assert "late is that of the references that are found: 1 of 3 (33.3 %)" in result.table()


def test_latencies_at_a_threshold_per_class() -> None:
    truth = sed.simulate.ground_truth(12, seed=3)
    scores = sed.simulate.scores(truth, seed=4)
    thresholds = {label: 0.3 + 0.1 * k for k, label in enumerate(scores.classes)}
    metric = sed.Latency(sed.Alarm(cooldown=2))
    value = sed.evaluate(sed.at_thresholds(scores, thresholds), truth, metric)[metric].value
    measured = sed.alarm_latencies(scores, truth, metric.alarm, thresholds)
    assert value == measured.overall.percentiles([90])[0]


def test_overlapping_references_are_timed_one_by_one() -> None:
    events = [(1, 5, "x"), (2, 6, "x")]
    truth = sed.GroundTruth.from_dict({"a": events}, durations={"a": 9}, overlaps="keep")
    metric = sed.Latency(sed.Alarm(), quantile=1)
    system = sed.Scores.from_events({"a": [(3, 4, "x")]})
    assert sed.evaluate(system, truth, metric)[metric].value == 2
    longer = sed.OfLength(sed.Alarm(), 1, 5)
    assert metric.of_lengths(1, 5) == sed.Latency(longer, quantile=1)


def test_metrics_without_a_meaning_are_refused() -> None:
    with pytest.raises(sed.SedscopeError, match="Latencies need an Alarm"):
        sed.Latency(sed.Collar())
    with pytest.raises(sed.SedscopeError, match="Use Latency instead of QueryMean"):
        sed.QueryMean(sed.AlarmLatency(sed.Alarm()))
    truth = sed.simulate.ground_truth(3)
    points = sed.OperatingPoints(dict.fromkeys(truth.labels, 0.5))
    with pytest.raises(sed.SedscopeError, match="a threshold of their own: Latency"):
        sed.evaluate(sed.simulate.scores(truth), truth, sed.Latency(sed.Alarm()), points=points)
    result = sed.alarm_latencies(sed.simulate.scores(truth), truth, sed.Alarm(), 0.5)
    with pytest.raises(sed.SedscopeError, match="between 0 and 100, not 101"):
        result.overall.percentiles([101])
