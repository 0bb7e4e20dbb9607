"""Detections, events with or without a confidence, made into scores.

As scores, each event is a detection at every threshold below its confidence. Events that touch stay
apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import (
    SedscopeError,
    by_kind,
    issue_warnings,
    listing,
    note,
    raise_together,
    shortened,
    subject,
)
from .arrays import group_means
from .choices import EventOverlaps, check_choice, refuse_beyond_memory
from .clip_events import ClipEvents
from .clip_scores import ClipScores
from .event_table import EventTable
from .events import in_order
from .scored_events import DetectedColumns, kept_events, usable_times
from .scores import Scores, frames_or_events
from .times import to_ticks

if TYPE_CHECKING:
    from .label_maps import LabelMap

Detection: TypeAlias = "tuple[float, float, str] | tuple[float, float, str, float]"
"""``(onset, offset, label[, confidence])``, times in seconds."""
DetectionLike: TypeAlias = Sequence[float | str]
"""The same as users write it, as a tuple or list."""
Detections: TypeAlias = Mapping[str, Sequence[Detection]]
"""The detections of each clip."""

OVERLAP_ADVICE = (
    "If they are events of their own, such as boxes of a detector, or windows to judge one by one, such as "
    "BirdNET's with the criterion Window, keep them as they are with `overlaps='keep'`. If they are windows "
    "that make a timeline, average them into frames with `overlaps='average'`. If they are parts of one "
    "event, merge them with `overlaps='merge'`. The three give different values."
)
_NO_LENGTH = "has no length"
_POINTS_ADVICE = (
    "If events without a length are points in time, keep them as they are with `overlaps='keep'`."
)


def scores_from_events(
    events: Mapping[str, Iterable[DetectionLike]] | DetectedColumns,
    *,
    classes: Iterable[str] | None = None,
    clips: Iterable[str] = (),
    overlaps: EventOverlaps = "error",
    assumed_classes: Iterable[str] = (),
) -> Scores:
    """Make scores from detected events, as :meth:`Scores.from_events` describes.

    ``assumed_classes``: those of the classes that are known from the ground truth only; see :class:`Scores`.
    """
    check_choice(EventOverlaps, overlaps=overlaps)
    points = overlaps == "keep"
    if not isinstance(events, DetectedColumns):
        lists = _lists(events)
        issue_warnings(_missing_confidences_note(lists), stacklevel=3)
        events = _columns(lists, points=points)
    elif events.has_points() and not points:
        raise SedscopeError("Some detections have no length.")
    system = kept_events(events, classes=classes, clips=clips, assumed_classes=assumed_classes)
    if overlaps == "keep":
        return system
    scores: dict[str, ClipScores] = {}
    errors: list[SedscopeError] = []
    for clip in system:
        try:
            scores[clip] = _frames(clip, system.open(clip), system.classes, overlaps)
        except SedscopeError as error:
            errors.append(error)
    raise_together(errors)
    source = replace(system._source, load=scores.__getitem__, in_memory=True, thread_safe=True)
    return Scores._of(scores, source)


def _lists(events: Mapping[str, Iterable[DetectionLike]]) -> dict[str, list[Any]]:
    """List the events of each clip, as they are."""
    if not isinstance(events, Mapping):
        raise SedscopeError(f"Give a mapping from clips to events, not {type(events).__name__}.")
    return {
        name: [*of_clip] if isinstance(of_clip, Iterable) else [of_clip]
        for name, of_clip in events.items()
    }


def _missing_confidences_note(lists: Mapping[str, Sequence[Any]]) -> list[str]:
    """Note the events without a confidence, where others of their class have one."""
    kinds = (tuple, list)
    rows = (
        (clip, event) for clip, events in lists.items() for event in events if isinstance(event, kinds)
    )
    without = [(clip, event) for clip, event in rows if len(event) == 3]
    if not without:
        return []
    scored = {
        str(event[2])
        for events in lists.values()
        for event in events
        if isinstance(event, kinds) and len(event) == 4
    }
    missing = [f"clip {clip}, {_shown(event)}" for clip, event in without if str(event[2]) in scored]
    phrase = "has no confidence, unlike others of the same class, so (it has|they have) the confidence 1"
    return note(missing, "event", phrase)


def _columns(lists: Mapping[str, list[Any]], *, points: bool) -> DetectedColumns:
    """Put the events of all clips into columns. Refuse those that cannot be used, clip by clip."""
    columns = DetectedColumns.of_lists(lists)
    if columns is None:
        lists = {clip: [*map(_as_tuple, events)] for clip, events in lists.items()}
        columns = DetectedColumns.of_lists(lists)
    if columns is not None and (points or not columns.has_points()):
        return columns
    errors: list[SedscopeError] = []
    for clip, events in lists.items():
        problems = [problem for event in events if (problem := event_problem(event, points=points))]
        if problems:
            number = subject(len(problems), "event", "is")
            errors.append(_unusable(f"clip {clip}: {number}", problems))
    raise_together(errors)
    raise SedscopeError("Some events are not (onset, offset, label[, confidence]).")


def _as_tuple(event: Any) -> Any:
    return tuple(event) if isinstance(event, Iterable) and not isinstance(event, str) else event


def usable_columns(table: EventTable) -> DetectedColumns:
    """Take the rows of a table with times as columns. Rows that cannot be used are refused by name."""
    try:
        return DetectedColumns.of_table(table)
    except SedscopeError:
        refuse_unusable_rows(table, points=True)
        raise


def refuse_unusable_rows(table: EventTable, *, points: bool) -> EventTable:
    """Return the rows of a table with times. Refuse those that cannot be used as detections.

    ``points``: whether they may have no length, because events are kept as they are.
    """
    usable, problems = table.usable_rows(partial(event_problem, points=points))
    if problems:
        number = subject(len(problems), "detection", "is")
        raise _unusable(f"{table.where}: {number}", problems, lines=problems)
    return usable


def _unusable(which: str, problems: Sequence[str], *, lines: Sequence[str] = ()) -> SedscopeError:
    """Return the error of events that cannot be used. ``which``: how many, with a verb."""
    advice = points_advice(problems)
    text = f"{which} not usable: {listing(by_kind(problems))}. {advice}"
    return SedscopeError(text.rstrip(), advice=advice, lines=lines)


def points_advice(problems: Iterable[str]) -> str:
    """Say what to do about events of no length, if some of the problems are about these."""
    return _POINTS_ADVICE if any(problem.endswith(_NO_LENGTH) for problem in problems) else ""


def listed_scores(
    events: Mapping[str, Iterable[DetectionLike]] | DetectedColumns,
    labels: Iterable[str],
    truth_labels: Iterable[str],
    *,
    clips: Iterable[str] = (),
    overlaps: EventOverlaps = "error",
    label_map: LabelMap | None = None,
) -> Scores:
    """Make scores from a list of detections, with the classes that it never detects.

    ``labels``: those of the list. ``truth_labels``: those of the ground truth, which the label map does
    not change.
    """
    listed_labels = {*labels}
    if label_map is None or not listed_labels:
        return scores_from_events(
            events,
            classes=sorted(listed_labels.union(truth_labels)),
            clips=clips,
            overlaps=overlaps,
            assumed_classes={*truth_labels} - listed_labels,
        )
    scores = scores_from_events(events, classes=sorted(listed_labels), clips=clips, overlaps=overlaps)
    return _with_classes(scores.relabelled(label_map), truth_labels)


def event_labels(events: Mapping[str, Iterable[DetectionLike]] | DetectedColumns) -> set[str]:
    """Return the labels of all events."""
    if isinstance(events, DetectedColumns):
        return {*events.labels.names}
    return {str(event[2]).strip() for of_clip in events.values() for event in of_clip}


def _with_classes(scores: Scores, labels: Iterable[str]) -> Scores:
    """Add classes of which nothing is detected, and sort all classes."""
    classes = sorted({*scores.classes}.union(labels))
    column = {label: c for c, label in enumerate(classes)}
    columns = np.array([column[label] for label in scores.classes], np.int32)
    silent = {*classes} - {*scores.classes}

    def in_classes(clip: str) -> ClipScores | ClipEvents:
        detected = frames_or_events(clip, scores.open(clip))
        if isinstance(detected, ClipEvents):
            return detected.in_columns(columns)
        values = np.full((len(detected.values), len(classes)), -np.inf)
        values[:, columns] = detected.values
        return ClipScores.unchecked(values, detected.ticks)

    clips = {clip: in_classes(clip) for clip in scores}
    return scores._remade(
        clips,
        clips.__getitem__,
        classes=classes,
        assumed_classes=silent,
        in_memory=not scores.holds_events,
    )


def _frames(
    clip: str, events: ClipEvents, classes: Sequence[str], overlaps: EventOverlaps
) -> ClipScores:
    """Make frames between all boundaries. Where two events of a class touch, a frame of no length keeps
    them apart, unless they are windows to average."""
    if overlaps == "average":
        return _averaged(clip, events, len(classes))
    events = _separate(clip, events, classes, overlaps)
    (onsets, offsets), columns = events.times.T, events.columns
    same = np.flatnonzero((columns[1:] == columns[:-1]) & (onsets[1:] == offsets[:-1]))
    ticks = np.sort(np.concatenate([events.ticks, np.unique(onsets[same + 1])]))
    _refuse_many_frames(clip, len(columns), len(ticks), len(classes))
    values = np.full((len(ticks) - 1, len(classes)), -np.inf)
    first = np.searchsorted(ticks, onsets, side="right") - 1
    last = np.searchsorted(ticks, offsets, side="left")
    for begin, end, column, confidence in zip(first, last, columns, events.confidences, strict=True):
        values[begin:end, column] = confidence
    return ClipScores.unchecked(values, ticks)


def _refuse_many_frames(clip: str, events: int, frames: int, columns: int) -> None:
    refuse_beyond_memory(
        8 * frames * columns,
        f"clip {clip}: its {events} events begin and end at {frames} times, so as scores of frames they "
        "need",
        "Keep the events as they are with `overlaps='keep'`, or leave out events of low confidence.",
    )


def _averaged(clip: str, events: ClipEvents, classes: int) -> ClipScores:
    ticks, number = events.ticks, len(events.columns)
    _refuse_many_frames(clip, number, len(ticks), 4 * classes)
    shape = len(ticks) - 1, classes
    begin, end = np.searchsorted(ticks, events.times).reshape(-1, 2).T
    event = np.repeat(np.arange(number), end - begin)  # of each frame that it covers
    first = np.cumsum(end - begin) - (end - begin)
    entry = (begin[event] + np.arange(len(event)) - first[event]) * classes + events.columns[event]
    means = group_means(events.confidences[event, None], entry, shape[0] * classes)
    covered = np.bincount(entry, minlength=len(means)) > 0
    return ClipScores.unchecked(np.where(covered, means[:, 0], -np.inf).reshape(shape), ticks)


def event_problem(event: Any, *, points: bool) -> str | None:
    """Return what is wrong with an event, if anything is.

    ``points``: whether it may have no length, because events are kept as they are.
    """
    try:
        onset, offset, label, *rest = event
        (confidence,) = rest or (1.0,)
        times = to_ticks([onset, offset])
        if not isinstance(label, str) or not label.strip():
            return f"{_shown(event)} has no label"
        if times[1] < times[0]:
            return f"{_shown(event)} ends before it begins"
        if times[1] == times[0] and not points:
            return f"{_shown(event)} {_NO_LENGTH}"
        if not usable_times(times[None])[0]:
            return f"{_shown(event)} ends before 0 s"
        if np.ndim(confidence) > 0:
            return f"{_shown(event)} has several confidences"
        if np.isnan(float(confidence)):
            return f"{_shown(event)} has a confidence of NaN"
    except (TypeError, ValueError):
        return f"{_shown(event)} is not (onset, offset, label[, confidence])"
    return None


def _shown(event: Any) -> str:
    return shortened(repr(event), 200)


def _separate(
    clip: str, events: ClipEvents, classes: Sequence[str], overlaps: EventOverlaps
) -> ClipEvents:
    """Sort the events by class and time. Refuse or merge those of a class that overlap."""
    same_clip = np.zeros(len(events.columns), np.int32)
    rows = np.arange(len(same_clip))
    onsets, offsets = events.times.T
    order, overlap = in_order(onsets, offsets, same_clip, events.columns, rows)
    times, columns = events.times[order], events.columns[order]
    confidences = events.confidences[order]
    if not overlap.any():
        return ClipEvents(times, columns, confidences)
    if overlaps == "error":
        named = zip(columns[overlap], *(times[overlap] / 1e6).T, strict=True)
        events_shown = [f"{classes[c]} {onset:g}–{offset:g} s" for c, onset, offset in named]
        phrase = "overlaps another one of the same class"
        (problem,) = note(events_shown, "event", phrase, OVERLAP_ADVICE, where=f"clip {clip}")
        raise SedscopeError(problem, advice=OVERLAP_ADVICE)
    first = np.flatnonzero(~overlap)
    ends, highest = (np.maximum.reduceat(column, first) for column in (times[:, 1], confidences))
    return ClipEvents(np.stack([times[first, 0], ends], axis=1), columns[first], highest)
