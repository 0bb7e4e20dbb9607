"""Queries by the length of their references: as if there were no references of other lengths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed

METRICS = (
    sed.RecallAt(1, 0.5),
    sed.RecallAt(3, 0.7),
    sed.MeanIoU(),
    sed.MeanAveragePrecision((0.5, 0.75), over="clip", top=4),
)
windows = st.tuples(st.integers(0, 30), st.integers(1, 20)).map(lambda window: (window[0], sum(window)))
clips = st.lists(
    st.tuples(st.lists(windows, max_size=4), st.lists(windows, max_size=5)), min_size=1, max_size=4
)


@settings(max_examples=60)
@given(clips, st.sampled_from([(0, 5), (5, 12), (12, 100)]))
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_queries_of_a_length_are_those_of_its_references(
    case: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]], lengths: tuple[float, float]
) -> None:
    answers: dict[str, list[Any]] = {
        f"q{i}": [(*window, "moment", 1 - k / 10) for k, window in enumerate(ranked)]
        for i, (_, ranked) in enumerate(case)
    }
    references: dict[str, list[Any]] = {
        f"q{i}": [(*window, "moment") for window in true] for i, (true, _) in enumerate(case)
    }
    of_length = {
        clip: [event for event in events if lengths[0] < event[1] - event[0] <= lengths[1]]
        for clip, events in references.items()
    }
    if not any(of_length.values()):
        return
    system = sed.Scores.from_events(answers, classes=["moment"], overlaps="keep")
    truth, others_left_out = (
        sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 60), overlaps="keep")
        for events in (references, of_length)
    )
    result = sed.evaluate(system, truth, [metric.of_lengths(*lengths) for metric in METRICS])
    expected = sed.evaluate(system, others_left_out, METRICS)
    assert [part.value for part in result.values()] == [part.value for part in expected.values()]


def test_the_order_of_criteria_says_what_becomes_of_other_references() -> None:
    #               0    5   10   15   20
    # references    [ a )          (3 s, 10 s)
    #                    [   b    )
    # answers       [.8 )[   .9   )
    system = sed.Scores.from_events({"q": [(0, 3, "x", 0.8), (5, 15, "x", 0.9)]}, overlaps="keep")
    truth = sed.GroundTruth.from_dict({"q": [(0, 3, "x"), (5, 15, "x")]}, durations={"q": 20})
    pairs = sed.IoU(0.5, matching="greedy")
    left_out = sed.QueryMean(sed.OfLength(sed.QueryPrecision(pairs), longest=5))
    ignored = sed.QueryMean(sed.QueryPrecision(sed.OfLength(pairs, longest=5)))
    result = sed.evaluate(system, truth, [left_out, ignored])
    assert [part.value for part in result.values()] == [0.5, 1.0]
