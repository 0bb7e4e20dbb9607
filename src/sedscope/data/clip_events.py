"""Events of clips as a system detects them: none merges with another, even where they overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted
from .arrays import FloatArray, IntArray
from .clip_scores import ClipPieces, ClipScores
from .times import Ticks, lies_within, to_seconds


@dataclass(frozen=True, eq=False, repr=False)
class ClipEvents:
    """The detected events of one clip.

    Each is there at every threshold below its confidence. Of events with the same confidence, the system
    ranks the earlier one in these columns higher.
    """

    times: Ticks
    """(events × 2) onsets and offsets in microseconds."""
    columns: NDArray[np.int32]
    """The class of each event, as an index into the classes of the scores."""
    confidences: FloatArray
    extent: Ticks | None = None
    """Where the first frame of the clip begins, and where the last one begins and ends, if the events were
    found in scores of frames."""

    @classmethod
    def none(cls, ticks: Ticks) -> ClipEvents:
        """Return no events. ``ticks``: the frame boundaries of the clip."""
        times = np.empty((0, 2), np.int64)
        return cls(times, np.empty(0, np.int32), np.empty(0), extent_of(ticks))

    def __repr__(self) -> str:
        return f"<ClipEvents: {counted(len(self.times), 'event')}>"

    @property
    def ticks(self) -> Ticks:
        """All boundaries in order, with those of the clip if they are known; 0 if there are none."""
        ticks = self.times.ravel() if self.extent is None else np.append(self.times, self.extent)
        return np.unique(ticks) if len(ticks) else np.zeros(1, np.int64)

    def in_columns(self, columns: NDArray[np.int32]) -> ClipEvents:
        """Return the events in other columns. ``columns``: the new one of each; -1 drops its events."""
        return EventList.joined([self]).in_columns(columns)[0]

    def within(self, start: int, end: int) -> ClipEvents:
        """Return what lies between two times of the events, with times from the first one."""
        inside = lies_within(self.times[:, 0], self.times[:, 1], start, end)
        times = np.clip(self.times[inside], start, end) - start
        extent = None if self.extent is None else np.clip(self.extent, start, end) - start
        return ClipEvents(times, self.columns[inside], self.confidences[inside], extent)

    def above(self, limits: FloatArray) -> ClipEvents:
        """Return the events whose confidence is above the limit of their class."""
        kept = self.confidences > limits[self.columns]
        return ClipEvents(self.times[kept], self.columns[kept], self.confidences[kept], self.extent)

    def highest(self, classes: int) -> ClipScores:
        """Return the highest confidence at each instant, with frames between all boundaries.

        It says where something is detected, but not as how many events.
        """
        ticks = self.ticks
        values = np.full((len(ticks) - 1, classes), -np.inf)
        for column in np.unique(self.columns).tolist():
            rows = self.columns == column
            edges = np.unique(self.times[rows])
            events = np.searchsorted(edges, self.times[rows])
            highest = _highest(events, self.confidences[rows], len(edges))
            frames = slice(*np.searchsorted(ticks, edges[[0, -1]]))
            values[frames, column] = highest[np.searchsorted(edges, ticks[frames], side="right") - 1]
        return ClipScores.unchecked(values, ticks)

    def at_limits(self, limits: FloatArray) -> ClipEvents:
        """Return the same events, with a confidence of 1."""
        events = self.above(limits)
        return replace(events, confidences=np.ones(len(events.times)))

    def in_seconds(self, classes: Sequence[str]) -> list[tuple[float, float, str, float]]:
        """Return ``(onset, offset, label, confidence)`` of each event, the best one first."""
        order = np.argsort(-self.confidences, kind="stable")
        onsets, offsets = to_seconds(self.times[order]).T.tolist()
        labels = [classes[column] for column in self.columns[order].tolist()]
        return [*zip(onsets, offsets, labels, self.confidences[order].tolist(), strict=True)]


AnyClip: TypeAlias = ClipScores | ClipPieces | ClipEvents
"""What the output of a system is for one clip."""


def extent_of(ticks: Ticks) -> Ticks:
    """Return where the first frame begins, and where the last one begins and ends."""
    return ticks[[0, max(len(ticks) - 2, 0), -1]]


@dataclass(frozen=True, eq=False)
class EventList:
    """The detected events of several clips as columns, ordered by clip; see :class:`ClipEvents`."""

    times: Ticks
    """(events × 2) onsets and offsets in microseconds."""
    columns: NDArray[np.int32]
    """The class of each event."""
    confidences: FloatArray
    starts: IntArray
    """The first event of each clip, and the end."""
    frames: Ticks | None = None
    """(clips × 3) the extents of the clips, if the events were found in scores of frames."""

    @classmethod
    def joined(cls, clips: Sequence[ClipEvents]) -> EventList:
        """Put the events of clips after each other."""
        extents = [clip.extent for clip in clips if clip.extent is not None]
        return cls(
            np.concatenate([np.empty((0, 2), np.int64), *(clip.times for clip in clips)]),
            np.concatenate([np.empty(0, np.int32), *(clip.columns for clip in clips)]),
            np.concatenate([np.empty(0), *(clip.confidences for clip in clips)]),
            np.cumsum([0, *(len(clip.times) for clip in clips)]),
            np.stack(extents) if extents and len(extents) == len(clips) else None,
        )

    @classmethod
    def ranked(
        cls,
        clips: int,
        event_clips: NDArray[np.integer[Any]],
        times: Ticks,
        columns: NDArray[np.int32],
        confidences: FloatArray,
    ) -> EventList:
        """Put events into order of clip and falling confidence. Equal ones stay as they are listed.

        ``event_clips``: the clip of each, below ``clips``.
        """
        order = np.lexsort((-confidences, event_clips))
        return cls(times[order], columns[order], confidences[order], _starts(event_clips, clips))

    def by_onset(self) -> tuple[EventList, IntArray]:
        """Return the events in order of clip, class, onset and offset, and where each of them was."""
        onsets, offsets = self.times.T
        order = np.lexsort((offsets, onsets, self.columns, self.event_clips)).astype(np.int64)
        columns = (self.times[order], self.columns[order], self.confidences[order])
        return EventList(*columns, self.starts, self.frames), order

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, clip: int) -> ClipEvents:
        rows = slice(self.starts[clip], self.starts[clip + 1])
        extent = None if self.frames is None else self.frames[clip]
        return ClipEvents(self.times[rows], self.columns[rows], self.confidences[rows], extent)

    @property
    def event_clips(self) -> IntArray:
        """The clip of each event."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def in_columns(self, columns: NDArray[np.int32]) -> EventList:
        """Return the events in other columns. ``columns``: the new one of each; -1 drops its events."""
        new = columns[self.columns]
        kept = new >= 0
        starts = _starts(self.event_clips[kept], len(self))
        return EventList(self.times[kept], new[kept], self.confidences[kept], starts, self.frames)

    def maxima(self, classes: int) -> FloatArray:
        """Return (clips × classes) the highest confidences, ``-inf`` where nothing is detected.

        The events are in order of clip and class.
        """
        highest = np.full(len(self) * classes, -np.inf)
        cells = self.event_clips * classes + self.columns
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        if len(first):
            highest[cells[first]] = np.maximum.reduceat(self.confidences, first)
        return highest.reshape(len(self), classes)

    def extents(self) -> Ticks:
        """Return (clips × 3) the first boundary, the last but one, and the last; 0 without events.

        They are those of the frames, if the events were found in scores of frames.
        """
        if self.frames is not None:
            return self.frames
        extents = np.zeros((len(self), 3), np.int64)
        clips = np.flatnonzero(np.diff(self.starts))
        if len(clips):
            starts = self.starts[clips]
            extents[clips, 0] = np.minimum.reduceat(self.times[:, 0], starts)
            extents[clips, 2] = np.maximum.reduceat(self.times[:, 1], starts)
            last = extents[self.event_clips, 2]
            before = np.where(self.times[:, 1] < last, self.times[:, 1], self.times[:, 0])
            extents[clips, 1] = np.maximum.reduceat(before, starts)
        return extents


def _highest(spans: IntArray, confidences: FloatArray, boundaries: int) -> FloatArray:
    """Return the highest confidence between each two boundaries, ``-inf`` where there is none.

    ``spans``: the numbers of the boundaries at which each event begins and ends.
    """
    highest = np.full(boundaries - 1, -np.inf)
    rows = zip((-confidences).tolist(), *spans.T.tolist(), strict=True)
    waiting = sorted(rows, key=lambda row: row[1], reverse=True)
    present: list[tuple[float, int]] = []
    for frame in range(boundaries - 1):
        while waiting and waiting[-1][1] <= frame:
            negative, _, end = waiting.pop()
            heappush(present, (negative, end))
        while present and present[0][1] <= frame:
            heappop(present)
        if present:
            highest[frame] = -present[0][0]
    return highest


def _starts(event_clips: NDArray[np.integer[Any]], clips: int) -> IntArray:
    """Return the first event of each clip, and the end."""
    return np.concatenate([[0], np.cumsum(np.bincount(event_clips, minlength=clips))])


FRAMES_ADVICE = (
    "Merge the events with `overlaps='merge'`, or average them with `overlaps='average'` if they are "
    "windows that slide over a recording."
)
"""How events that are kept as they are become scores of frames."""


def kept_events_error(clip: str) -> SedscopeError:
    """Return the error of an operation that needs scores of frames."""
    return SedscopeError(
        f"Clip {clip} holds scored events that are kept as they are, and this needs scores of frames. "
        f"{FRAMES_ADVICE}",
        advice=FRAMES_ADVICE,
    )


def needs_events_error(reader: object) -> SedscopeError:
    """Return the error of something that ranks events, where there are scores of frames."""
    return SedscopeError(
        f"{reader} ranks events by their confidence, so it needs scored events that are kept as they are: "
        "give an event list with confidences and `overlaps='keep'`. The detections of frame scores change "
        "with the threshold."
    )
