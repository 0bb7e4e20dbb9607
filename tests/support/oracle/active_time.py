"""Counts of time, in microseconds.

`regions`, if there are any, has one for each clip: the only time that is scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from .clips import (
    Clip,
    Count,
    Event,
    frame_operating_points,
    ignored_references,
    is_active,
    other_labels,
    references,
)


def unscored(clip: Clip, label: str, *, collar: int) -> list[Event]:
    """Ignored references, and what is closer than half a collar to a boundary of a reference. Half of an
    odd collar is a microsecond longer after the boundary than before it."""
    boundaries = [time for reference in references(clip, label) for time in reference]
    zones = [(time - collar // 2, time - collar // 2 + collar) for time in boundaries]
    return [*zones, *ignored_references(clip, label)]


def scored_parts(clip: Clip, region: Event, label: str, *, collar: int) -> Iterator[Event]:
    """The scored time, cut at all boundaries of frames and references."""
    left_out = unscored(clip, label, collar=collar)
    bounds = {*region, *clip.edges}
    bounds |= {time for event in (*references(clip, label), *left_out) for time in event}
    inside = sorted(time for time in bounds if region[0] <= time <= region[1])
    for begin, end in pairwise(inside):
        if not any(onset <= begin and end <= offset for onset, offset in left_out):
            yield begin, end


def scored_time(
    clips: Sequence[Clip], label: str, *, collar: int, regions: Sequence[Event] | None = None
) -> tuple[int, int]:
    """The scored time within references, and all scored time."""
    within = total = 0
    for clip, region in _with_regions(clips, regions):
        for begin, end in scored_parts(clip, region, label, collar=collar):
            total += end - begin
            within += (end - begin) * _covers(references(clip, label), begin)
    return within, total


def time_count(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    collar: int,
    regions: Sequence[Event] | None = None,
) -> Count:
    """TP: active scored time within references. FP: other active scored time."""
    tp = fp = 0
    for clip, region in _with_regions(clips, regions):
        active = [
            frame
            for value, frame in zip(clip.scores[label], pairwise(clip.edges), strict=True)
            if is_active(value, score)
        ]
        for begin, end in scored_parts(clip, region, label, collar=collar):
            if not _covers(active, begin):
                continue
            if _covers(references(clip, label), begin):
                tp += end - begin
            else:
                fp += end - begin
    return Count(tp, fp, dict.fromkeys(other_labels(clips, label), 0))


def time_counts(
    clips: Sequence[Clip], label: str, *, collar: int, regions: Sequence[Event] | None = None
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct score > -inf, decreasing."""
    return {
        score: time_count(clips, label, score, collar=collar, regions=regions)
        for score in frame_operating_points(clips, label)
    }


def _with_regions(
    clips: Sequence[Clip], regions: Sequence[Event] | None
) -> Iterator[tuple[Clip, Event]]:
    return zip(clips, regions or [(0, clip.duration) for clip in clips], strict=True)


def _covers(events: Sequence[Event], time: int) -> bool:
    return any(onset <= time < offset for onset, offset in events)
