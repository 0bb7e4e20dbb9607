"""Detections, events with or without a confidence, made into scores.

As scores, each event is a detection at every threshold below its confidence. Events that touch stay
apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import SedscopeError, issue_warnings, listing, raise_together, shortened, subject
from .arrays import FloatArray, IntArray, group_means
from .choices import EventOverlaps, check_choice, refuse_beyond_memory
from .clip_scores import ClipScores
from .event_table import EventTable
from .score_sources import ScoreSource
from .scored_events import (
    DetectedColumns,
    ScoredEvents,
    clips_without_events,
    event_classes,
    in_classes,
    kept_events,
    usable_times,
)
from .scores import Scores
from .times import Ticks, to_seconds, to_ticks

if TYPE_CHECKING:
    from .label_maps import LabelMap

Detection: TypeAlias = "tuple[float, float, str] | tuple[float, float, str, float]"
"""``(onset, offset, label[, confidence])``, times in seconds."""
DetectionLike: TypeAlias = Sequence[float | str]
"""The same as users write it, as a tuple or list."""
Detections: TypeAlias = Mapping[str, Sequence[Detection]]
"""The detections of each clip."""

OVERLAP_ADVICE = (
    "If they are events of their own, such as boxes of a detector, keep them as they are with "
    "overlaps='keep' (--overlaps keep): each is judged by itself. If they are windows that slide over a "
    "recording, as BirdNET's are, average them into frames with overlaps='average' (--overlaps average): the "
    "score at each instant is then the mean of the windows that cover it. If they are parts of one event, "
    "merge them with overlaps='merge' (--overlaps merge): they become one event with the highest of their "
    "confidences. The three give different values."
)
_NO_LENGTH = "has no length"
_POINTS_ADVICE = (
    "If events without a length are points in time, keep them as they are with overlaps='keep' "
    "(--overlaps keep)."
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

    ``events``: columns are for events that are kept as they are. ``assumed_classes``: those of the classes
    that are known from the ground truth only; see :class:`Scores`.
    """
    check_choice(EventOverlaps, overlaps=overlaps)
    if isinstance(events, DetectedColumns):
        return kept_events(events, classes=classes, clips=clips, assumed_classes=assumed_classes)
    lists = _lists(events)
    issue_warnings(_missing_confidences_note(lists), stacklevel=3)
    if overlaps == "keep":
        columns = _columns(lists)
        return kept_events(columns, classes=classes, clips=clips, assumed_classes=assumed_classes)
    by_clip = _by_clip(lists, points=False)
    occurring = {label for of_clip in by_clip.values() for label in of_clip.labels}
    labels = event_classes(occurring, classes)
    scores: dict[str, ClipScores] = {}
    errors: list[SedscopeError] = []
    for name, of_clip in by_clip.items():
        try:
            scores[name] = of_clip.scores(labels, overlaps)
        except SedscopeError as error:
            errors.append(error)
    raise_together(errors)
    assumed_clips = clips_without_events(scores, clips)
    scores |= dict.fromkeys(assumed_clips, _ClipEvents("", (), points=False).scores(labels, overlaps))
    source = ScoreSource(
        scores.__getitem__,
        labels,
        in_memory=True,
        thread_safe=True,
        whole_clips=False,
        assumed_classes=frozenset(assumed_classes),
        assumed_clips=frozenset(assumed_clips),
    )
    return Scores._of(scores, source)


def _by_clip(events: Mapping[str, Iterable[DetectionLike]], *, points: bool) -> dict[str, _ClipEvents]:
    """Check the events of each clip."""
    by_clip: dict[str, _ClipEvents] = {}
    errors: list[SedscopeError] = []
    for name in events:
        try:
            by_clip[name] = _ClipEvents(name, events[name], points=points)
        except SedscopeError as error:
            errors.append(error)
    raise_together(errors)
    return by_clip


def _lists(events: Mapping[str, Iterable[DetectionLike]]) -> dict[str, list[Any]]:
    """List the events of each clip, as they are."""
    _require_mapping(events)
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
    if not missing:
        return []
    number = subject(len(missing), "event", "has")
    they = "it has" if len(missing) == 1 else "they have"
    return [
        f"{number} no confidence, unlike others of the same class, so {they} the confidence 1: "
        f"{listing(missing)}."
    ]


def _columns(lists: Mapping[str, list[Any]]) -> DetectedColumns:
    """Put the events of all clips into columns: at once, or clip by clip to say what is wrong."""
    columns = DetectedColumns.of_lists(lists)
    if columns is None:
        by_clip = _by_clip(lists, points=True)
        rows = {name: of_clip.rows() for name, of_clip in by_clip.items()}
        columns = DetectedColumns.of_lists(rows)
        assert columns is not None
    return columns


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
    text = f"{which} not usable: {listing(problems)}. {advice}"
    return SedscopeError(text.rstrip(), advice=advice, lines=lines)


def points_advice(problems: Iterable[str]) -> str:
    """Say what to do about events of no length, if some of the problems are about these."""
    return _POINTS_ADVICE if any(problem.endswith(_NO_LENGTH) for problem in problems) else ""


def _require_mapping(events: object) -> None:
    if not isinstance(events, Mapping):
        raise SedscopeError(f"Give a mapping from clips to events, not {type(events).__name__}.")


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

    if isinstance(scores, ScoredEvents):
        return in_classes(scores, classes, columns, assumed_classes=silent)

    def load(clip: str) -> ClipScores:
        detected = scores[clip]
        values = np.full((len(detected.values), len(classes)), -np.inf)
        values[:, columns] = detected.values
        return ClipScores.unchecked(values, detected.ticks)

    clips = {clip: load(clip) for clip in scores}
    return scores._remade(
        clips, clips.__getitem__, classes=classes, assumed_classes=silent, in_memory=True
    )


class _ClipEvents:
    """The events of one clip as columns."""

    def __init__(self, clip: str, events: Iterable[DetectionLike], *, points: bool) -> None:
        """``points``: whether events may have no length, because they are kept as they are."""
        detections: list[Any] = [
            tuple(event) if isinstance(event, Iterable) and not isinstance(event, str) else event
            for event in (events if isinstance(events, Iterable) else [events])
        ]
        self.clip = clip
        try:
            rows = [event if len(event) == 4 else (*event, 1.0) for event in detections]
            onsets, offsets, labels, confidences = zip(*rows, strict=True) if rows else ((),) * 4
            self.times: Ticks = to_ticks([onsets, offsets]).reshape(2, len(rows)).T
            self.labels = tuple(map(str.strip, labels))
            self.confidences = np.array(confidences, np.float64)
            usable = usable_times(self.times) & ~np.isnan(self.confidences)
            usable &= points | (self.times[:, 1] > self.times[:, 0])
            valid = usable.shape == (len(rows),) and bool(usable.all())
            valid = valid and all(self.labels)
        except (TypeError, ValueError):
            valid = False
        if not valid:
            problems = [
                problem for event in detections if (problem := event_problem(event, points=points))
            ]
            raise _unusable(f"clip {clip}: {subject(len(problems), 'event', 'is')}", problems)

    def rows(self) -> list[tuple[float, float, str, float]]:
        """Return ``(onset, offset, label, confidence)`` of each event, times in seconds."""
        onsets, offsets = to_seconds(self.times).T.tolist()
        return [*zip(onsets, offsets, self.labels, self.confidences.tolist(), strict=True)]

    def scores(self, classes: Sequence[str], overlaps: EventOverlaps) -> ClipScores:
        """Make frames between all boundaries. Where two events of a class touch, a frame of no length
        keeps them apart, unless they are windows to average."""
        column = {label: c for c, label in enumerate(classes)}
        labels = np.array([column[label] for label in self.labels], np.int64)
        if overlaps == "average":
            return self._averaged(labels, len(classes))
        times, labels, confidences = _separate(self, labels, overlaps)
        onsets, offsets = times[:, 0], times[:, 1]
        same = np.flatnonzero((labels[1:] == labels[:-1]) & (onsets[1:] == offsets[:-1]))
        ticks = np.sort(np.concatenate([np.unique(times), np.unique(onsets[same + 1])]))
        if not len(ticks):
            ticks = np.zeros(1, np.int64)
        self._refuse_many_frames(len(ticks), len(classes))
        values = np.full((len(ticks) - 1, len(classes)), -np.inf)
        first = np.searchsorted(ticks, onsets, side="right") - 1
        last = np.searchsorted(ticks, offsets, side="left")
        for begin, end, label, confidence in zip(first, last, labels, confidences, strict=True):
            values[begin:end, label] = confidence
        return ClipScores.unchecked(values, ticks)

    def _refuse_many_frames(self, frames: int, classes: int) -> None:
        refuse_beyond_memory(
            8 * frames * classes,
            f"clip {self.clip}: its {len(self.labels):,} events begin and end at {frames:,} times, so as "
            "scores of frames they need",
            "Keep the events as they are with overlaps='keep' (--overlaps keep), or leave out events of low "
            "confidence.",
        )

    def _averaged(self, labels: IntArray, classes: int) -> ClipScores:
        ticks = np.unique(self.times) if len(labels) else np.zeros(1, np.int64)
        self._refuse_many_frames(len(ticks), 4 * classes)
        shape = len(ticks) - 1, classes
        begin, end = np.searchsorted(ticks, self.times).reshape(-1, 2).T
        event = np.repeat(np.arange(len(labels)), end - begin)  # of each frame that it covers
        first = np.cumsum(end - begin) - (end - begin)
        entry = (begin[event] + np.arange(len(event)) - first[event]) * classes + labels[event]
        means = group_means(self.confidences[event, None], entry, shape[0] * classes)
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
    events: _ClipEvents, labels: IntArray, overlaps: EventOverlaps
) -> tuple[Ticks, IntArray, FloatArray]:
    """Sort the events by class and time. Refuse or merge those of a class that overlap."""
    order = np.lexsort((events.times[:, 0], labels))
    times, labels, confidences = events.times[order], labels[order], events.confidences[order]
    if not ((labels[1:] == labels[:-1]) & (times[1:, 0] < times[:-1, 1])).any():
        return times, labels, confidences
    kept: list[int] = []
    overlapping: list[str] = []
    for i in range(len(order)):
        last = kept[-1] if kept else -1
        if kept and labels[i] == labels[last] and times[i, 0] < times[last, 1]:
            onset, offset = times[i] / 1e6
            overlapping.append(f"{events.labels[order[i]]} {onset:g}–{offset:g} s")
            times[last, 1] = max(times[last, 1], times[i, 1])
            confidences[last] = max(confidences[last], confidences[i])
        else:
            kept.append(i)
    if overlapping and overlaps == "error":
        raise SedscopeError(
            f"clip {events.clip}: {subject(len(overlapping), 'event', 'overlaps')} another one of the "
            f"same class: {listing(overlapping)}. {OVERLAP_ADVICE}",
            advice=OVERLAP_ADVICE,
        )
    return times[kept], labels[kept], confidences[kept]
