"""Counts by their definitions, for clips of a few frames: threshold, list the detections, count.

It says the same as `tests/support/oracle` and takes rounding of requirements and the rules of pairs from
there, but reads a clip once for all classes and criteria, so that millions of clips can be judged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import sedscope as sed
from sedscope.criteria import Criterion

from ..support import oracle
from .case import SoakClip

Event = tuple[int, int]
INF = float("inf")
Counter = Callable[[list[Event], int, list[list[Event]], list[Event]], tuple[int, int, list[int]]]
"""Takes the detections and the number of a class, the references of all classes, and the ignored ones of the
class; returns its TP, FP and CT on each class."""
requirement = lru_cache(maxsize=100_000)(oracle.requirement)


class Point(NamedTuple):
    """The counts of a class where frames (or segments) with at least this score are active."""

    score: float
    tp: int
    fp: int
    ct: tuple[int, ...]
    """On each class."""


@dataclass(frozen=True)
class ClipCounts:
    """What there is to count in a clip, by class."""

    points: Sequence[Sequence[Point]]
    """By decreasing score."""
    references: Sequence[int]
    reference_times: Sequence[int]
    trials: Sequence[int] | None
    """By class: how many segments there are, or how much time is judged."""


def levels(scores: Sequence[float]) -> list[float]:
    """The distinct scores above -inf, decreasing."""
    return sorted({score for score in scores if score > -INF}, reverse=True)


def detections(scores: Sequence[float], edges: Sequence[int], score: float) -> list[Event]:
    """The runs of frames with at least this score."""
    found: list[Event] = []
    first = -1
    for frame, value in enumerate(scores):
        if value >= score:
            if first < 0:
                first = frame
        elif first >= 0:
            found.append((edges[first], edges[frame]))
            first = -1
    if first >= 0:
        found.append((edges[first], edges[-1]))
    return found


def shared(event: Event, others: Sequence[Event]) -> int:
    """The time that an event shares with others, which do not overlap one another."""
    onset, offset = event
    total = 0
    for begin, end in others:
        if begin < offset and end > onset:
            total += (end if end < offset else offset) - (begin if begin > onset else onset)
    return total


def references_by_class(clip: SoakClip) -> list[list[Event]]:
    """The references of each class that count."""
    return _by_class(clip, clip.references)


def _by_class(clip: SoakClip, events: Sequence[tuple[int, int, int]]) -> list[list[Event]]:
    by_class: list[list[Event]] = [[] for _ in clip.scores]
    for onset, offset, label in events:
        by_class[label].append((onset, offset))
    return by_class


def united(events: Sequence[Event]) -> list[Event]:
    """The time that events cover, without overlaps."""
    spans: list[Event] = []
    for onset, offset in sorted(events):
        if spans and onset <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], offset))
        else:
            spans.append((onset, offset))
    return spans


@lru_cache(maxsize=1000)
def in_ticks(seconds: float) -> int:
    """Whole microseconds."""
    return round(seconds * 1_000_000)


@lru_cache(maxsize=1000)
def pairable(criterion: Criterion) -> oracle.Pairable:
    """Whether the criterion can pair a detection with a reference."""
    if isinstance(criterion, sed.IoU):
        return oracle.overlap_over_union(criterion.threshold, strict=criterion.strict)
    if isinstance(criterion, sed.Onset):
        return oracle.collar(onset=in_ticks(criterion.tolerance), offset=None, offset_rate=0)
    assert isinstance(criterion, sed.Collar)
    onset, offset = (
        None if limit is None else in_ticks(limit) for limit in (criterion.onset, criterion.offset)
    )
    return oracle.collar(onset=onset, offset=offset, offset_rate=criterion.offset_rate)


def count(clip: SoakClip, criterion: Criterion) -> ClipCounts:
    """All counts of a clip at all of its scores."""
    if isinstance(criterion, (sed.Segment, sed.Clip)):
        return _count_segments(clip, criterion)
    if isinstance(criterion, sed.Time):
        return _count_time(clip, criterion)
    targets, ignored = references_by_class(clip), _by_class(clip, clip.ignored)
    counter: Counter
    if isinstance(criterion, sed.Intersection):
        counter = _intersections(criterion)
    elif isinstance(criterion, sed.AnyOverlap):
        targets = [_merged_and_split(events, criterion) for events in targets]
        counter = _any_overlaps(criterion)
    elif isinstance(criterion, sed.Alarm):
        counter = _alarms(criterion)
    else:
        counter = _pairs(pairable(criterion), criterion.cross_triggers)  # type: ignore[attr-defined]
    points = []
    for label, scores in enumerate(clip.scores):
        of_class = []
        for score in levels(scores):
            detected = detections(scores, clip.edges, score)
            tp, fp, ct = counter(detected, label, targets, ignored[label])
            of_class.append(Point(score, tp, fp, tuple(ct)))
        points.append(of_class)
    return ClipCounts(
        points,
        [len(events) for events in targets],
        [sum(offset - onset for onset, offset in events) for events in targets],
        None,
    )


def _intersections(criterion: sed.Intersection) -> Counter:
    dtc, gtc, cttc = criterion.dtc, criterion.gtc, criterion.cttc

    def counter(
        detected: list[Event], label: int, targets: list[list[Event]], ignored: list[Event]
    ) -> tuple[int, int, list[int]]:
        own, ct, relevant = targets[label], [0] * len(targets), []
        fp = 0
        matched = united([*own, *ignored]) if ignored else own
        for event in detected:
            length = event[1] - event[0]
            if shared(event, matched) >= requirement(dtc, length):
                relevant.append(event)
                continue
            fp += 1
            if cttc is not None:
                for other, events in enumerate(targets):
                    if other != label and shared(event, events) >= requirement(cttc, length):
                        ct[other] += 1
        tp = sum(shared(event, relevant) >= requirement(gtc, event[1] - event[0]) for event in own)
        return tp, fp, ct

    return counter


def _pairs(can_pair: oracle.Pairable, cross_triggers: bool) -> Counter:
    def counter(
        detected: list[Event], label: int, targets: list[list[Event]], ignored: list[Event]
    ) -> tuple[int, int, list[int]]:
        own, ct = targets[label], [0] * len(targets)
        matched = [*own, *ignored]
        tp = oracle.largest_matching(detected, own, can_pair) if own and detected else 0
        right = oracle.largest_matching(detected, matched, can_pair) if ignored and detected else tp
        if cross_triggers:
            for event in detected:
                if any(can_pair(event, target) for target in matched):
                    continue
                for other, events in enumerate(targets):
                    if other != label and any(can_pair(event, target) for target in events):
                        ct[other] += 1
        return tp, len(detected) - right, ct

    return counter


def _merged_and_split(events: Sequence[Event], criterion: sed.AnyOverlap) -> list[Event]:
    gap, longest = (
        None if limit is None else in_ticks(limit) for limit in (criterion.merge_gap, criterion.split)
    )
    return oracle.any_overlap.pieces(oracle.any_overlap.merged(events, gap), longest)


def _any_overlaps(criterion: sed.AnyOverlap) -> Counter:
    before, after = in_ticks(criterion.before), in_ticks(criterion.after)

    def counter(
        detected: list[Event], label: int, targets: list[list[Event]], ignored: list[Event]
    ) -> tuple[int, int, list[int]]:
        found = _merged_and_split(detected, criterion)
        windows = [(onset - before, offset + after) for onset, offset in [*targets[label], *ignored]]
        tp = sum(shared(window, united(found)) > 0 for window in windows[: len(targets[label])])
        fp = sum(not any(shared(event, [window]) for window in windows) for event in found)
        return tp, fp, [0] * len(targets)

    return counter


def _alarms(criterion: sed.Alarm) -> Counter:
    cooldown, before = in_ticks(criterion.cooldown), in_ticks(criterion.before)

    def in_window(alarm: int, event: Event) -> bool:
        last = (
            event[1] + in_ticks(criterion.after)
            if criterion.within is None
            else event[0] + in_ticks(criterion.within)
        )
        return event[0] - before <= alarm <= last

    def counter(
        detected: list[Event], label: int, targets: list[list[Event]], ignored: list[Event]
    ) -> tuple[int, int, list[int]]:
        alarms: list[int] = []
        for onset, _ in detected:
            if not alarms or onset - alarms[-1] >= cooldown:
                alarms.append(onset)
        own = targets[label]
        tp = sum(any(in_window(alarm, event) for alarm in alarms) for event in own)
        fp = sum(not any(in_window(alarm, event) for event in [*own, *ignored]) for alarm in alarms)
        return tp, fp, [0] * len(targets)

    return counter


def _count_time(clip: SoakClip, criterion: sed.Time) -> ClipCounts:
    """Instants, from one boundary of anything to the next, are active or not, and judged or not."""
    collar = in_ticks(criterion.collar)
    targets, ignored = references_by_class(clip), _by_class(clip, clip.ignored)
    points, positive, judged = [], [], []
    for label, scores in enumerate(clip.scores):
        zones = [
            (time - collar // 2, time - collar // 2 + collar)
            for event in targets[label]
            for time in event
        ]
        left_out = united([*zones, *ignored[label]])
        bounds = sorted({0, clip.duration, *clip.edges, *itertools.chain(*left_out, *targets[label])})
        instants = [
            (begin, end)
            for begin, end in itertools.pairwise(bounds)
            if begin >= 0 and end <= clip.duration and not shared((begin, end), left_out)
        ]
        within = [instant for instant in instants if shared(instant, targets[label])]
        of_class = []
        for score in levels(scores):
            detected = detections(scores, clip.edges, score)
            tp = sum(shared(instant, detected) for instant in within)
            active = sum(shared(instant, detected) for instant in instants)
            of_class.append(Point(score, tp, active - tp, (0,) * len(targets)))
        points.append(of_class)
        positive.append(sum(end - begin for begin, end in within))
        judged.append(sum(end - begin for begin, end in instants))
    return ClipCounts(points, positive, positive, judged)


def segment_bounds(clip: SoakClip, criterion: sed.Segment | sed.Clip) -> list[Event]:
    """The segments of a clip."""
    if isinstance(criterion, sed.Clip):
        return [(0, clip.duration)]
    length = in_ticks(criterion.length)
    return [(begin, min(begin + length, clip.duration)) for begin in range(0, clip.duration, length)]


def segment_score(scores: Sequence[float], edges: Sequence[int], segment: Event, mean: bool) -> float:
    """The largest score in a segment, or the exact mean, rounded once; -inf without frames."""
    begin, end = segment
    inside = [
        (score, min(end, edges[frame + 1]) - max(begin, edges[frame]))
        for frame, score in enumerate(scores)
        if edges[frame] < end and edges[frame + 1] > begin
    ]
    values = [score for score, _ in inside]
    if not mean or not values or min(values) == -INF or max(values) == INF:
        return -INF if not values or (mean and min(values) == -INF) else max(values)
    total = sum(Fraction(score) * time for score, time in inside)
    return float(total / sum(time for _, time in inside))


def _segment_table(
    clip: SoakClip, criterion: sed.Segment | sed.Clip
) -> tuple[list[Event], list[list[float]], list[list[bool]]]:
    """The segments, and by class their scores and whether a reference overlaps them."""
    bounds = segment_bounds(clip, criterion)
    mean = criterion.aggregation == "mean"
    scores = [
        [segment_score(of_class, clip.edges, segment, mean) for segment in bounds]
        for of_class in clip.scores
    ]
    active = [
        [shared(segment, events) > 0 for segment in bounds] for events in references_by_class(clip)
    ]
    return bounds, scores, active


def _count_segments(clip: SoakClip, criterion: sed.Segment | sed.Clip) -> ClipCounts:
    bounds, scores, active = _segment_table(clip, criterion)
    points = []
    for label, of_class in enumerate(scores):
        found = []
        for score in levels(of_class):
            detected = [k for k, value in enumerate(of_class) if value >= score]
            false = [k for k in detected if not active[label][k]]
            ct = [0] * len(scores)
            if criterion.cross_triggers:
                ct = [
                    sum(active[other][k] for k in false) if other != label else 0
                    for other in range(len(scores))
                ]
            found.append(Point(score, len(detected) - len(false), len(false), tuple(ct)))
        points.append(found)
    lengths = [end - begin for begin, end in bounds]
    return ClipCounts(
        points,
        [sum(of_class) for of_class in active],
        [sum(length for length, on in zip(lengths, of_class, strict=True) if on) for of_class in active],
        [len(bounds)] * len(active),
    )


def pairs_of_any_label(clip: SoakClip, criterion: Criterion) -> list[tuple[float, int]]:
    """The number of pairs regardless of label, at each score of any class, by decreasing score."""
    if isinstance(criterion, (sed.Segment, sed.Clip)):
        _, scores, active = _segment_table(clip, criterion)
        wanted = [sum(of_segment) for of_segment in zip(*active, strict=True)]
        return [
            (
                score,
                sum(
                    min(n, sum(value >= score for value in of_segment))
                    for n, of_segment in zip(wanted, zip(*scores, strict=True), strict=True)
                ),
            )
            for score in levels([value for of_class in scores for value in of_class])
        ]
    can_pair = pairable(criterion)
    targets = [event for events in references_by_class(clip) for event in events]
    found = []
    for score in levels([value for of_class in clip.scores for value in of_class]):
        detected = [
            event for of_class in clip.scores for event in detections(of_class, clip.edges, score)
        ]
        found.append((score, oracle.largest_matching(detected, targets, can_pair)))
    return found


def changes(points: Sequence[Point]) -> dict[float, tuple[int, int]]:
    """Score -> change of TP and FP there, without those that change nothing."""
    found = {}
    tp = fp = 0
    for point in points:
        if (point.tp, point.fp) != (tp, fp):
            found[point.score] = (point.tp - tp, point.fp - fp)
        tp, fp = point.tp, point.fp
    return found


def cross_changes(points: Sequence[Point]) -> dict[tuple[float, int], int]:
    """Score and other class -> change of cross-triggers there, without those that change nothing."""
    found = {}
    before: tuple[int, ...] = ()
    for point in points:
        if point.ct != before:
            for other, number in enumerate(point.ct):
                change = number - (before[other] if before else 0)
                if change:
                    found[point.score, other] = change
        before = point.ct
    return found
