"""Ignored references at every threshold, compared with the oracle, for every criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.criteria import Criterion

from ..support import oracle
from ..support.equality import assert_equal_to_oracle, count_columns
from ..support.oracle import diagnosis as judged
from ..support.passes import stored
from ..support.strategies import (
    LABELS,
    clip_lists_with_ignored,
    clips_with_ignored,
    collar_criteria,
    criteria,
    dtypes,
    in_ticks,
    parts,
    to_scores,
    to_truth,
)

iou_criteria = st.builds(sed.IoU, parts, st.booleans()) | st.builds(
    sed.IoU, parts.filter(lambda part: part < 1), st.booleans(), st.just(True)
)


@settings(max_examples=80)
@given(clip_lists_with_ignored, collar_criteria(), dtypes)
def test_collar(case: Sequence[oracle.Clip], collar: sed.Collar, dtype: type) -> None:
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), collar).counts()
    for label in LABELS:
        expected = oracle.collar_counts(
            case, label, **in_ticks(collar), cross_triggers=collar.cross_triggers
        )
        assert_equal_to_oracle(counts[label], expected, label)
        assert counts[label].references == oracle.reference_count(case, label)


@settings(max_examples=80)
@given(clip_lists_with_ignored, parts, st.booleans(), dtypes)
def test_iou(case: Sequence[oracle.Clip], iou: float, cross_triggers: bool, dtype: type) -> None:
    criterion = sed.IoU(iou, cross_triggers=cross_triggers)
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion).counts()
    for label in LABELS:
        expected = oracle.iou_counts(case, label, iou=iou, cross_triggers=cross_triggers)
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=80)
@given(clip_lists_with_ignored, criteria(), dtypes)
def test_intersection(case: Sequence[oracle.Clip], criterion: sed.Intersection, dtype: type) -> None:
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion).counts()
    for label in LABELS:
        expected = oracle.intersection_counts(
            case, label, dtc=criterion.dtc, gtc=criterion.gtc, cttc=criterion.cttc
        )
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=80)
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


@settings(max_examples=80)
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


@settings(max_examples=80)
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


def of_length(clip: oracle.Clip, shortest: int, longest: float) -> oracle.Clip:
    """The clip as a criterion sees it that counts only references of some lengths."""
    counted = [event for event in clip.references if shortest < event[1] - event[0] <= longest]
    others = [event for event in clip.references if event not in counted]
    return replace(clip, references=counted, ignored=[*clip.ignored, *others])


@settings(max_examples=80)
@given(
    clip_lists_with_ignored,
    criteria() | collar_criteria() | iou_criteria,
    st.sampled_from([0, 1, 2, 64_000]),
    st.sampled_from([1, 2, 70_000, np.inf]),
)
def test_of_length(
    case: Sequence[oracle.Clip], criterion: Criterion, shortest: int, longest: float
) -> None:
    """References of other lengths are ignored references."""
    assume(shortest < longest and getattr(criterion, "threshold", 0) < 1)
    bounded = sed.OfLength(criterion, shortest / 1e6, longest / 1e6)
    seen = [of_length(clip, shortest, longest) for clip in case]
    counts = sed.deltas(to_scores(case), to_truth(case), bounded).counts()
    for label in LABELS:
        if isinstance(criterion, sed.Collar):
            expected = oracle.collar_counts(
                seen, label, **in_ticks(criterion), cross_triggers=criterion.cross_triggers
            )
        elif isinstance(criterion, sed.IoU):
            expected = oracle.iou_counts(
                seen,
                label,
                iou=criterion.threshold,
                strict=criterion.strict,
                cross_triggers=criterion.cross_triggers,
            )
        else:
            assert isinstance(criterion, sed.Intersection)
            expected = oracle.intersection_counts(
                seen, label, dtc=criterion.dtc, gtc=criterion.gtc, cttc=criterion.cttc
            )
        assert_equal_to_oracle(counts[label], expected, label)
        assert counts[label].references == oracle.reference_count(seen, label)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Collar()",), "needs a criterion"),
        ((sed.Collar(), 5, 1), "longest=1 must be more than shortest=5"),
        ((sed.Collar(), -1), "shortest=-1 must be at least 0"),
        ((sed.OfLength(sed.Collar(), 1), 0, 5), "give one of them both bounds"),
    ],
)
def test_wrong_lengths(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.OfLength(*arguments)


@settings(max_examples=80)
@given(clip_lists_with_ignored, collar_criteria(), parts, st.data())
def test_pieces_merging_and_files_change_nothing(
    case: Sequence[oracle.Clip], collar: sed.Collar, part: float, data: st.DataObject
) -> None:
    scores, truth = to_scores(case), to_truth(case)
    cut = data.draw(st.integers(1, 4))

    def pieces_of(clip: sed.ClipScores) -> sed.ClipPieces:
        values = [clip.values[i : i + cut] for i in range(0, len(clip.values), cut)]
        return sed.ClipPieces(lambda: iter(values), edges=clip.edges)

    pieces = sed.Scores.from_pieces(
        {clip: pieces_of(scores[clip]) for clip in scores}, classes=scores.classes
    )
    for criterion in (
        collar,
        sed.IoU(part),
        sed.Intersection(part, part, part),
        sed.Clip(),
        sed.OfLength(sed.Intersection(part, part), 2e-6),
    ):
        whole = sed.deltas(scores, truth, criterion)
        first, *others = (sed.deltas(scores, truth, criterion, clips=[clip]) for clip in scores)
        for deltas in (sed.deltas(pieces, truth, criterion), first.merge(*others), stored(whole)):
            assert dict(count_columns(deltas.counts())) == dict(count_columns(whole.counts()))
            assert [counts.trials for counts in deltas.counts().values()] == [
                counts.trials for counts in whole.counts().values()
            ]
            largest, expected = (d.certain_false_alarms() for d in (deltas, whole))
            assert np.array_equal(largest, expected)
