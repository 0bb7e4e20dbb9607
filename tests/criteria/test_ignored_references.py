"""Ignored references at every threshold, compared with the oracle, for every criterion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.times import to_ticks

from ..support import oracle
from ..support.equality import assert_equal_to_oracle
from ..support.oracle import diagnosis as judged
from ..support.strategies import (
    LABELS,
    clip_lists_with_ignored,
    clips_with_ignored,
    collar_criteria,
    criteria,
    dtypes,
    parts,
    to_scores,
    to_truth,
)


def in_ticks(collar: sed.Collar) -> dict[str, Any]:
    return {
        "onset": None if collar.onset is None else int(to_ticks(collar.onset)),
        "offset": None if collar.offset is None else int(to_ticks(collar.offset)),
        "offset_rate": collar.offset_rate,
    }


@settings(max_examples=300)
@given(clip_lists_with_ignored, collar_criteria(), dtypes)
def test_collar(case: Sequence[oracle.Clip], collar: sed.Collar, dtype: type) -> None:
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), collar).counts()
    for label in LABELS:
        expected = oracle.collar_counts(
            case, label, **in_ticks(collar), cross_triggers=collar.cross_triggers
        )
        assert_equal_to_oracle(counts[label], expected, label)
        assert counts[label].references == oracle.reference_count(case, label)


@settings(max_examples=300)
@given(clip_lists_with_ignored, parts, st.booleans(), dtypes)
def test_iou(case: Sequence[oracle.Clip], iou: float, cross_triggers: bool, dtype: type) -> None:
    criterion = sed.IoU(iou, cross_triggers=cross_triggers)
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion).counts()
    for label in LABELS:
        expected = oracle.iou_counts(case, label, iou=iou, cross_triggers=cross_triggers)
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=300)
@given(clip_lists_with_ignored, criteria(), dtypes)
def test_intersection(case: Sequence[oracle.Clip], criterion: sed.Intersection, dtype: type) -> None:
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion).counts()
    for label in LABELS:
        expected = oracle.intersection_counts(
            case, label, dtc=criterion.dtc, gtc=criterion.gtc, cttc=criterion.cttc
        )
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=200)
@given(clip_lists_with_ignored, st.sampled_from([None, 2, 7]), st.booleans(), st.booleans(), dtypes)
def test_segments_and_clips(
    case: Sequence[oracle.Clip], length: int | None, mean: bool, cross_triggers: bool, dtype: type
) -> None:
    if length is not None and max(clip.duration for clip in case) > 50 * length:
        length = 64_000
    aggregation = "mean" if mean else "max"
    criterion = (
        sed.Clip(aggregation, cross_triggers=cross_triggers)
        if length is None
        else sed.Segment(length / 1e6, aggregation, cross_triggers=cross_triggers)
    )
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion).counts()
    options: dict[str, Any] = {"length": length, "mean": mean}
    for label in LABELS:
        expected = oracle.segment_counts(case, label, **options, cross_triggers=cross_triggers)
        assert_equal_to_oracle(counts[label], expected, label)
        ignored = [i for clip in case for i in oracle.segment_ignored(clip, label, length=length)]
        assert counts[label].trials == len(ignored) - sum(ignored)


@settings(max_examples=150)
@given(st.lists(clips_with_ignored(), min_size=1, max_size=2), collar_criteria())
def test_errors_of_pairs(case: Sequence[oracle.Clip], collar: sed.Collar) -> None:
    if sum(len(clip.references) + 2 * len(clip.ignored) for clip in case) > 14:
        return
    criterion = sed.Collar(collar.onset, collar.offset, collar.offset_rate, errors=True)
    counts = sed.deltas(to_scores(case), to_truth(case), criterion).counts()
    for label in LABELS:
        of_class = counts[label]
        assert of_class.errors is not None
        for score in oracle.frame_operating_points(case, label):
            row = np.count_nonzero(of_class.scores >= score) - 1
            errors = of_class.errors[row] if row >= 0 else (0, 0)
            expected = oracle.collar_errors(case, label, score, **in_ticks(collar))
            assert [round(1e6 * error) for error in errors] == list(expected)


@settings(max_examples=200)
@given(clips_with_ignored(), parts, st.sampled_from([0.25, 0.5]))
def test_counted_pairs_come_first_and_then_ignored_ones(
    clip: oracle.Clip, iou: float, threshold: float
) -> None:
    """The definition by two largest matchings is that of all matchings, ranked by both numbers."""
    can_pair = oracle.overlap_over_union(iou)
    for label in LABELS:
        detected = judged.detections(clip, label, threshold)
        targets = [(event, False) for event in oracle.references(clip, label)]
        targets += [(event, True) for event in oracle.ignored_references(clip, label)]
        if len(targets) > 6:
            continue
        counted, ignored = max(
            (sum(not leave_out for _, (_, leave_out) in pairs), sum(out for _, (_, out) in pairs))
            for pairs in oracle.matchings(detected, targets, lambda a, b: can_pair(a, b[0]))
        )
        events = [event for event, _ in targets]
        assert counted == oracle.largest_matching(detected, oracle.references(clip, label), can_pair)
        assert counted + ignored == oracle.largest_matching(detected, events, can_pair)
