"""Events instead of frame scores: lists of detections, with or without a confidence, as scores.

Each event is a detection from its confidence on down. Neighbours are not merged, even if they touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, listing, raise_together
from .clip_ids import clip_ids
from .scores import ClipScores, Scores, refuse_nans
from .times import Ticks, to_seconds, to_ticks

EventOverlaps: TypeAlias = Literal["error", "merge", "average"]
Event: TypeAlias = "tuple[float, float, str] | tuple[float, float, str, float]"
Events: TypeAlias = Mapping[str, Sequence[Event]]


def scores_from_events(
    events: Mapping[str, Iterable[Event]],
    *,
    classes: Iterable[str] | None = None,
    clips: Iterable[str] = (),
    overlaps: EventOverlaps = "error",
) -> Scores:
    """Scores from detected events ``{clip: [(onset, offset, label[, confidence]), …]}``, in seconds.

    The confidence is 1 unless given. ``classes``: the labels that occur unless given; ``clips``: more
    clips, in which nothing is detected. Overlapping events of one class are an error, or with
    ``overlaps="merge"`` become one event with the larger confidence; with ``overlaps="average"``, for
    windows that slide over a recording, they are one timeline, and the confidence is the mean of the
    windows that cover an instant.

    >>> scores = scores_from_events({"a": [(0, 1, "Dog", 0.9), (1, 2, "Dog", 0.4)]})
    >>> scores["a"].values[:, 0].tolist(), scores["a"].edges.tolist()
    ([0.9, -inf, 0.4], [0.0, 1.0, 1.0, 2.0])
    """
    if not isinstance(events, Mapping):
        raise SedscopeError(f"give a mapping from clips to events, not {type(events).__name__}")
    if overlaps not in ("error", "merge", "average"):
        raise SedscopeError(f"overlaps={overlaps!r}: choose 'error', 'merge' or 'average'")
    tables: dict[str, _ClipEvents] = {}
    failures: list[SedscopeError] = []
    for name in events:
        try:
            tables[name] = _ClipEvents(name, events[name])
        except SedscopeError as error:
            failures.append(error)
    raise_together(failures)
    found = {label for table in tables.values() for label in table.labels}
    names = tuple(sorted(found) if classes is None else classes)
    if not names:
        raise SedscopeError("there are no events: give classes=, the classes that could be detected")
    unknown = sorted(found.difference(names))
    if unknown:
        raise SedscopeError(f"events of classes that are not to be scored: {listing(unknown)}")
    made: dict[str, ClipScores] = {}
    for name, table in tables.items():
        try:
            made[name] = table.scores(names, overlaps)
        except SedscopeError as error:
            failures.append(error)
    raise_together(failures)
    known = set(clip_ids(made, "events").values())
    nothing = ClipScores.from_ticks(np.empty((0, len(names))), np.zeros(1, np.int64))
    made |= {clip: nothing for clip in clip_ids(clips, "clips").values() if clip not in known}
    return Scores(
        made, made.__getitem__, classes=names, in_memory=True, thread_safe=True, whole_clips=False
    )


class _ClipEvents:
    """The events of one clip as columns."""

    def __init__(self, clip: str, events: Iterable[Event]) -> None:
        given = [
            tuple(event) if isinstance(event, Iterable) and not isinstance(event, str) else event
            for event in (events if isinstance(events, Iterable) else [events])
        ]
        self.clip = clip
        try:
            rows = [event if len(event) == 4 else (*event, 1.0) for event in given]
            onsets, offsets, labels, confidences = zip(*rows, strict=True) if rows else ((),) * 4
            self.times: Ticks = to_ticks([onsets, offsets]).reshape(2, len(rows)).T
            self.labels: tuple[str, ...] = labels
            self.confidences = np.array(confidences, np.float64)
            usable = (self.times[:, 1] > self.times[:, 0]) & ~np.isnan(self.confidences)
            fine = usable.shape == (len(rows),) and usable.all()
            fine = fine and all(isinstance(label, str) and label for label in labels)
        except (TypeError, ValueError):
            fine = False
        if not fine:
            problems = [problem for event in given if (problem := _problem(event))]
            number = counted(len(problems), "event")
            raise SedscopeError(f"clip {clip}: {number} not usable: {listing(problems)}")

    def scores(self, classes: Sequence[str], overlaps: EventOverlaps) -> ClipScores:
        """Frames between all boundaries; where two events of a class touch, one of no length keeps
        them apart, unless they are windows to be averaged."""
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
        values = np.full((len(ticks) - 1, len(classes)), -np.inf)
        first = np.searchsorted(ticks, onsets, side="right") - 1
        last = np.searchsorted(ticks, offsets, side="left")
        for begin, end, label, confidence in zip(first, last, labels, confidences, strict=True):
            values[begin:end, label] = confidence
        return ClipScores.unchecked(values, ticks)

    def _averaged(self, labels: NDArray[np.int64], classes: int) -> ClipScores:
        ticks = np.unique(self.times) if len(labels) else np.zeros(1, np.int64)
        total = np.zeros((len(ticks) - 1, classes))
        covered = np.zeros(total.shape, np.int64)
        spans = np.searchsorted(ticks, self.times)
        for (begin, end), label, confidence in zip(spans, labels, self.confidences, strict=True):
            total[begin:end, label] += confidence
            covered[begin:end, label] += 1
        return ClipScores.unchecked(np.where(covered, total / np.maximum(covered, 1), -np.inf), ticks)


def _problem(event: Any) -> str | None:
    """What is wrong with an event."""
    try:
        onset, offset, label, *rest = event
        (confidence,) = rest or (1.0,)
        times = to_ticks([onset, offset])
        if not isinstance(label, str) or not label:
            return f"{event!r} has no label"
        if times[1] <= times[0]:
            return f"{event!r} has no or negative length"
        if np.ndim(confidence) > 0:
            return f"{event!r} has several confidences"
        if np.isnan(float(confidence)):
            return f"{event!r} has a confidence of NaN"
    except (TypeError, ValueError):
        return f"{event!r} is not (onset, offset, label[, confidence])"
    return None


def _separate(
    events: _ClipEvents, labels: NDArray[np.int64], overlaps: EventOverlaps
) -> tuple[Ticks, NDArray[np.int64], NDArray[np.float64]]:
    """Events in order of class and time; those of a class that overlap are refused or merged."""
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
        number = counted(len(overlapping), "event")
        raise SedscopeError(
            f"clip {events.clip}: {number} overlapping another of the same class: "
            f"{listing(overlapping)}. Merge them with overlaps='merge' (--overlaps merge)"
        )
    return times[kept], labels[kept], confidences[kept]


def detect(
    scores: Scores, thresholds: float | Mapping[str, float]
) -> dict[str, list[tuple[float, float, str]]]:
    """The events of each clip where frames with ``score > threshold`` are active, in order of time.

    ``thresholds``: one for all classes, or one per class; classes without one are not detected.

    >>> scores = Scores.from_arrays({"a": [[0.2], [0.9], [0.6], [0.1]]}, classes=["Dog"], frame=0.5)
    >>> detect(scores, 0.5)
    {'a': [(0.5, 1.5, 'Dog')]}
    """
    limits = class_thresholds(scores, thresholds)
    return {clip: _clip_events(clip, scores[clip], scores.classes, limits) for clip in scores}


def at_thresholds(scores: Scores, thresholds: float | Mapping[str, float]) -> Scores:
    """Scores with a single operating point: 1 where ``score > threshold``, else never detected."""
    limits = class_thresholds(scores, thresholds)

    def binary(clip: str) -> ClipScores:
        of_clip = scores[clip]
        values = np.where(of_clip.values > limits, 1.0, -np.inf)
        values[np.isnan(of_clip.values)] = np.nan  # to be refused where they are evaluated
        return ClipScores.unchecked(values, of_clip.ticks)

    return Scores(
        list(scores),
        binary,
        classes=scores.classes,
        thread_safe=scores.thread_safe,
        whole_clips=scores.whole_clips,
    )


def approximate(
    scores: Scores, thresholds: Iterable[float]
) -> dict[float, dict[str, list[tuple[float, float, str]]]]:
    """The detections at each of some thresholds, as tools that do not know all thresholds take them."""
    return {float(threshold): detect(scores, float(threshold)) for threshold in thresholds}


def class_thresholds(scores: Scores, thresholds: float | Mapping[str, float]) -> NDArray[np.float64]:
    """One threshold per class of the scores; ``inf`` for classes without one."""
    if not isinstance(thresholds, Mapping):
        thresholds = dict.fromkeys(scores.classes, thresholds)
    unknown = [label for label in thresholds if label not in scores.classes]
    if unknown:
        raise SedscopeError(f"thresholds for classes without scores: {listing(unknown)}")
    try:
        limits = np.array([float(thresholds.get(label, np.inf)) for label in scores.classes])
    except (TypeError, ValueError):
        raise SedscopeError(f"thresholds must be numbers, not {thresholds!r:.80}") from None
    if np.isnan(limits).any():
        raise SedscopeError("thresholds must be numbers, not NaN")
    return limits


def _clip_events(
    name: str, clip: ClipScores, classes: Sequence[str], limits: NDArray[np.float64]
) -> list[tuple[float, float, str]]:
    refuse_nans(name, clip, classes)
    active = np.zeros((len(clip.values) + 2, len(classes)), np.int8)
    active[1:-1] = clip.values > limits
    steps = np.diff(active, axis=0).T
    label, first = np.nonzero(steps == 1)
    _, last = np.nonzero(steps == -1)
    onsets, offsets = to_seconds(clip.ticks[first]), to_seconds(clip.ticks[last])
    found = sorted(zip(onsets.tolist(), offsets.tolist(), label.tolist(), strict=True))
    return [(onset, offset, classes[c]) for onset, offset, c in found]
