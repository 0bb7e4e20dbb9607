"""Counts of scored events that are kept as they are: each is there at its score and below.

An event is `(onset, offset, label, score)`. The edges and scores of the clips are not read, except for the
names of the labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .clips import (
    Clip,
    Count,
    Event,
    ignored_references,
    operating_points,
    other_labels,
    overlap,
    overlap_with_any,
    references,
    requirement,
)
from .segments import segment_ignored, segment_targets, segments

ScoredEvent = tuple[int, int, str, float]


def event_operating_points(detected: Sequence[Sequence[ScoredEvent]], label: str) -> list[float]:
    """The distinct scores > -inf of the events of `label` in all clips, decreasing."""
    return operating_points(event[3] for of_clip in detected for event in of_clip if event[2] == label)


def present_events(of_clip: Sequence[ScoredEvent], label: str, score: float) -> list[Event]:
    """The events of `label` with at least this score."""
    return [(on, off) for on, off, name, own in of_clip if name == label and own >= score > -math.inf]


def event_intersection_count(
    clips: Sequence[Clip],
    detected: Sequence[Sequence[ScoredEvent]],
    label: str,
    score: float,
    *,
    dtc: float,
    gtc: float,
    cttc: float | None = None,
) -> Count:
    """Counts by intersection. Each event is judged by itself; shared time of references counts once."""
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip, of_clip in zip(clips, detected, strict=True):
        targets = references(clip, label)
        everything = targets + ignored_references(clip, label)
        relevant = []
        for event in present_events(of_clip, label, score):
            length = event[1] - event[0]
            if overlap_with_any(event, everything) >= requirement(dtc, length):
                relevant.append(event)
                continue
            fp += 1
            if cttc is not None:
                for other in ct:
                    ct[other] += overlap(event, references(clip, other)) >= requirement(cttc, length)
        for target in targets:
            tp += overlap_with_any(target, relevant) >= requirement(gtc, target[1] - target[0])
    return Count(tp, fp, ct)


def event_segment_count(
    clips: Sequence[Clip],
    detected: Sequence[Sequence[ScoredEvent]],
    label: str,
    score: float,
    *,
    length: int | None,
    cross_triggers: bool = False,
) -> Count:
    """Counts of segments. A segment is active if it shares time with an event."""
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip, of_clip in zip(clips, detected, strict=True):
        present = present_events(of_clip, label, score)
        targets = segment_targets(clip, label, length=length)
        ignored = segment_ignored(clip, label, length=length)
        by_other = {other: segment_targets(clip, other, length=length) for other in ct}
        for k, segment in enumerate(segments(clip, length)):
            if not any(overlap(segment, [event]) > 0 for event in present):
                continue
            tp += targets[k]
            if targets[k] or ignored[k]:
                continue
            fp += 1
            if cross_triggers:
                for other in ct:
                    ct[other] += by_other[other][k]
    return Count(tp, fp, ct)
