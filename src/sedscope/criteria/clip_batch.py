"""What a criterion is given: some clips with their reference events, as the core reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.scores import ScoreArray
from ..data.times import Ticks
from .delta_tables import IgnoredRows, ReferenceRows

AnyReferences = TypeVar("AnyReferences", bound="ClipReferences")


@dataclass(frozen=True, eq=False)
class EventRows:
    """Events of some clips."""

    events: Ticks
    """(events × 2) onsets and offsets, ordered by clip, class, onset."""
    labels: NDArray[np.int32]
    """The class of each event."""
    event_clips: NDArray[np.int32]
    """The clip of each event."""
    starts: NDArray[np.int64]
    """The first event of each clip, and the end."""

    def native(self) -> _native.Events:
        """The events as the core reads them."""
        return _native.Events(self.events, self.labels, self.starts)

    def merged(self, others: EventRows) -> EventRows:
        """Return these events and others of the same clips, in order."""
        events, labels, event_clips = (
            np.concatenate([getattr(rows, name) for rows in (self, others)])
            for name in ("events", "labels", "event_clips")
        )
        order = np.lexsort((events[:, 0], labels, event_clips))
        starts = self.starts + others.starts
        return EventRows(events[order], labels[order], event_clips[order], starts)

    def chosen(self, rows: NDArray[np.bool_]) -> EventRows:
        """Return some of the events."""
        before = np.concatenate([[0], np.cumsum(rows)])
        return EventRows(
            self.events[rows], self.labels[rows], self.event_clips[rows], before[self.starts]
        )


@dataclass(frozen=True, eq=False)
class ClipReferences(EventRows):
    """The reference events of some clips. The events are those that count."""

    ignored: EventRows
    """The ignored references. Those of one class may overlap."""
    durations: Ticks
    """Per clip, in microseconds."""
    extents: Ticks
    """(clips × 3) where the first frame begins, and where the last one begins and ends."""
    maxima: ScoreArray
    """(clips × classes) the largest score."""
    late: NDArray[np.intp]
    """The events that are left out because they begin after their clip ends, counted among all."""

    def truth(self, floors: ScoreArray, threads: int) -> _native.Truth:
        """The references as the core reads them, with the bounds of the work."""
        ignored = self.ignored.native() if len(self.ignored.labels) else None
        return _native.Truth(self.native(), ignored, self.maxima, floors, threads)

    def reference_rows(self) -> ReferenceRows:
        """One row per reference event that counts."""
        return ReferenceRows(self.event_clips, self.labels, self.events[:, 1] - self.events[:, 0])

    def ignored_rows(self) -> IgnoredRows:
        """One row per clip and class with ignored references."""
        if not len(self.ignored.labels):
            return IgnoredRows(self.ignored.event_clips, self.ignored.labels, np.zeros(0, np.int64))
        pairs = np.unique(np.stack([self.ignored.event_clips, self.ignored.labels]), axis=1)
        return IgnoredRows(pairs[0], pairs[1], np.zeros(pairs.shape[1], np.int64))

    def of_length(self: AnyReferences, shortest: int, longest: int) -> AnyReferences:
        """Ignore the references that are not longer than ``shortest``, or longer than ``longest``."""
        lengths = self.events[:, 1] - self.events[:, 0]
        counts = (lengths > shortest) & (lengths <= longest)
        ignored = self.ignored.merged(self.chosen(~counts))
        return replace(self, **vars(self.chosen(counts)), ignored=ignored)

    def with_any_event(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return clips and classes with references, ignored or not: not every detection is false there."""
        if not len(self.ignored.labels):
            return self.event_clips, self.labels
        return (
            np.concatenate([self.event_clips, self.ignored.event_clips]),
            np.concatenate([self.labels, self.ignored.labels]),
        )


@dataclass(frozen=True, eq=False)
class ClipBatch(ClipReferences):
    """Some clips with their scores and references."""

    clips: _native.Clips


@dataclass(frozen=True, eq=False)
class EventBatch(ClipReferences):
    """Some clips whose detected events are kept as they are, with their references."""

    detected: _native.DetectedEvents

    @property
    def clips(self) -> _native.Clips:
        """The events as the diagnosis of errors reads them."""
        return _native.Clips(self.detected)


@dataclass(frozen=True, eq=False)
class Recording(ClipReferences):
    """One clip whose scores arrive in pieces, with its references. Its ``maxima`` are ``-inf``: they are
    not known yet."""

    clip: _native.Recording
