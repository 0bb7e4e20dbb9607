"""Latencies of alarms, compared with the oracle."""

from __future__ import annotations

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


@settings(max_examples=150)
@given(clip_lists, criteria, st.sampled_from([0.3, 0.0, -2.0]))
def test_latencies(case: list[oracle.Clip], criterion: sed.Alarm, threshold: float) -> None:
    scores, truth = to_scores(case), to_truth(case)
    result = sed.alarm_latencies(scores, truth, criterion, threshold, coverage="any")
    lengths = vars(criterion)
    options: Any = {
        name: None if lengths[name] is None else int(to_ticks(lengths[name]))
        for name in ("cooldown", "before", "after", "within")
    }
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
