"""Counts by segments and by whole clips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from .clips import (
    Clip,
    Count,
    Event,
    ignored_references,
    is_active,
    operating_points,
    other_labels,
    overlap,
    overlap_with_any,
    references,
)


def segments(clip: Clip, length: int | None) -> list[Event]:
    """[0, duration) cut every `length`, the last segment perhaps shorter; uncut if None."""
    if length is None:
        return [(0, clip.duration)]
    return [(onset, min(onset + length, clip.duration)) for onset in range(0, clip.duration, length)]


def segment_scores(clip: Clip, label: str, *, length: int | None, mean: bool = False) -> list[float]:
    """Per segment the largest score of the frames that overlap it, -inf if none does.

    With `mean` their mean, weighted by shared time, exact before it is rounded; -inf if any of
    them is -inf.
    """
    values = []
    for segment in segments(clip, length):
        parts = [
            (score, shared)
            for score, frame in zip(clip.scores[label], pairwise(clip.edges), strict=True)
            if (shared := overlap(segment, [frame])) > 0
        ]
        if not mean or not parts:
            values.append(max((score for score, _ in parts), default=-math.inf))
        elif any(score == -math.inf for score, _ in parts):
            values.append(-math.inf)
        else:
            total = sum(Fraction(score) * shared for score, shared in parts)
            values.append(float(total / sum(shared for _, shared in parts)))
    return values


def segment_targets(clip: Clip, label: str, *, length: int | None) -> list[bool]:
    """Per segment whether any reference of `label` overlaps it."""
    return [overlap(segment, references(clip, label)) > 0 for segment in segments(clip, length)]


def segment_ignored(clip: Clip, label: str, *, length: int | None) -> list[bool]:
    """Per segment whether ignored references of `label` overlap it, and no others of `label` do."""
    return [
        overlap_with_any(segment, ignored_references(clip, label)) > 0 and not target
        for segment, target in zip(
            segments(clip, length), segment_targets(clip, label, length=length), strict=True
        )
    ]


def segment_count(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    length: int | None,
    mean: bool = False,
    cross_triggers: bool = False,
) -> Count:
    """Counts of segments over all clips. TP: active targets. FP: active others, if they are not ignored.

    CT on m: the FP that are targets of m.
    """
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip in clips:
        values = segment_scores(clip, label, length=length, mean=mean)
        targets = segment_targets(clip, label, length=length)
        ignored = segment_ignored(clip, label, length=length)
        tp += sum(
            is_active(value, score) and target for value, target in zip(values, targets, strict=True)
        )
        false = [
            is_active(value, score) and not target and not leave_out
            for value, target, leave_out in zip(values, targets, ignored, strict=True)
        ]
        fp += sum(false)
        if cross_triggers:
            for other in ct:
                others = segment_targets(clip, other, length=length)
                ct[other] += sum(a and b for a, b in zip(false, others, strict=True))
    return Count(tp, fp, ct)


def segment_counts(
    clips: Sequence[Clip],
    label: str,
    *,
    length: int | None,
    mean: bool = False,
    cross_triggers: bool = False,
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct segment score > -inf, decreasing."""
    values = [v for clip in clips for v in segment_scores(clip, label, length=length, mean=mean)]
    return {
        score: segment_count(
            clips, label, score, length=length, mean=mean, cross_triggers=cross_triggers
        )
        for score in operating_points(values)
    }


def any_label_pairs_segments(
    clips: Sequence[Clip], labels: Sequence[str], score: float, *, length: int | None, mean: bool = False
) -> int:
    """Over all segments, the lesser of the numbers of labels that are targets and that are active.

    A label that is ignored in a segment is neither.
    """
    total = 0
    for clip in clips:
        values = [segment_scores(clip, label, length=length, mean=mean) for label in labels]
        targets = [segment_targets(clip, label, length=length) for label in labels]
        ignored = [segment_ignored(clip, label, length=length) for label in labels]
        for k in range(len(segments(clip, length))):
            active = sum(
                is_active(of_label[k], score) and not leave_out[k]
                for of_label, leave_out in zip(values, ignored, strict=True)
            )
            total += min(active, sum(of_label[k] for of_label in targets))
    return total
