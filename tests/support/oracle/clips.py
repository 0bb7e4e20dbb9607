"""Clips, their references, and their detections at a score."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise

Event = tuple[int, int]  # onset, offset


@dataclass(frozen=True)
class Clip:
    """One recording: frame i lasts from `edges[i]` to `edges[i + 1]`."""

    edges: Sequence[int]
    scores: Mapping[str, Sequence[float]]
    references: Sequence[tuple[int, int, str]]
    duration: int
    ignored: Sequence[tuple[int, int, str]] = ()


@dataclass(frozen=True)
class Count:
    """Counts of one label at one operating point; `ct` has a key for each other label."""

    tp: int
    fp: int
    ct: Mapping[str, int]


@lru_cache
def simplest_fraction(rho: float) -> Fraction:
    """Of the fractions that round to the float `rho`, the one with the smallest denominator."""
    fits = [float(Fraction(rho).limit_denominator(2**k)) == rho for k in range(63)]
    low, high = 2 ** fits.index(True) // 2, 2 ** fits.index(True)
    while low + 1 < high:
        middle = (low + high) // 2
        if float(Fraction(rho).limit_denominator(middle)) == rho:
            high = middle
        else:
            low = middle
    return Fraction(rho).limit_denominator(high)


def ticks(seconds: float) -> int:
    """The nearest whole microsecond."""
    return round(seconds * 1_000_000)


def share(rho: float, length: int) -> int:
    """The share `rho` of `length` to the nearest microsecond, halves up."""
    return math.floor(simplest_fraction(rho) * length + Fraction(1, 2))


def requirement(rho: float, length: int) -> int:
    """The overlap that the share `rho` of `length` asks for: at least one microsecond."""
    return max(1, share(rho, length))


def is_active(value: float, score: float) -> bool:
    """Whether a frame or segment of score `value` is active at `score`."""
    return value >= score and value > -math.inf


def operating_points(values: Iterable[float]) -> list[float]:
    """The distinct scores > -inf, decreasing."""
    return sorted({value for value in values if value > -math.inf}, reverse=True)


def frame_operating_points(clips: Sequence[Clip], label: str) -> list[float]:
    """The distinct scores > -inf of the frames of `label` in all clips, decreasing."""
    return operating_points(score for clip in clips for score in clip.scores[label])


def detections(scores: Sequence[float], edges: Sequence[int], score: float) -> list[Event]:
    """The maximal runs of frames that are active at `score`, as (onset, offset)."""
    active = [is_active(frame, score) for frame in scores]
    runs = [(on, list(frames)) for on, frames in groupby(range(len(active)), active.__getitem__)]
    return [(edges[frames[0]], edges[frames[-1] + 1]) for on, frames in runs if on]


def overlap(event: Event, others: Iterable[Event]) -> int:
    """The time that `event` shares with `others`, which do not overlap one another."""
    return sum(max(0, min(event[1], off) - max(event[0], on)) for on, off in others)


def references(clip: Clip, label: str) -> list[Event]:
    """The (onset, offset) of the clip's references of `label`."""
    return [(onset, offset) for onset, offset, name in clip.references if name == label]


EVERY_LABEL = "ignored for every label"


def ignored_references(clip: Clip, label: str) -> list[Event]:
    """The (onset, offset) of the clip's ignored references of `label`, or of every label."""
    return [(on, off) for on, off, name in clip.ignored if name in (label, EVERY_LABEL)]


def overlap_with_any(event: Event, others: Sequence[Event]) -> int:
    """The time of `event` in which any of `others` lasts, which may overlap one another."""
    bounds = sorted(
        {*event, *(time for other in others for time in other if event[0] < time < event[1])}
    )
    return sum(
        end - begin
        for begin, end in pairwise(bounds)
        if any(on <= begin and end <= off for on, off in others)
    )


def other_labels(clips: Sequence[Clip], label: str) -> list[str]:
    """All labels but `label` that occur in the scores or references of any clip, sorted."""
    scored = {name for clip in clips for name in clip.scores}
    referenced = {name for clip in clips for _, _, name in clip.references}
    return sorted((scored | referenced) - {label})


def reference_count(clips: Sequence[Clip], label: str) -> int:
    """The number of references of `label` in all clips."""
    return sum(len(references(clip, label)) for clip in clips)
