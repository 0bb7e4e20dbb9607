"""What a criterion is given: some clips with their reference events, as the core reads them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.choices import refuse_beyond_memory
from ..data.scores import ScoreArray
from ..data.times import TICKS_PER_SECOND, Ticks
from .delta_tables import IgnoredRows, ReferenceRows

if TYPE_CHECKING:
    from ..alignment.cuts import Boundaries, UncutReferences
    from ..data.clip_events import EventList

AnyReferences = TypeVar("AnyReferences", bound="ClipReferences")


CoreCriterion: TypeAlias = "_native.OverlapCriterion | _native.AnyOverlap | _native.ActiveTime"


@dataclass(frozen=True, eq=False)
class DeltaSearch:
    """How the deltas of some clips are found."""

    floors: ScoreArray
    """Per class: scores at or below it are left out."""
    threads: int
    any_label: bool = False
    """Whether to find also how the number of pairs changes if labels do not matter."""


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

    def merged_at_gaps(self, gap: int) -> EventRows:
        """Return the events after those of one clip and class that are less than ``gap`` apart are one."""
        if not len(self.labels):
            return self
        order = np.lexsort((self.events[:, 1], self.labels, self.event_clips))
        rank = np.empty(len(order), np.intp)
        rank[order] = np.arange(len(order))
        # the latest offset so far: ranks rise from one clip and class to the next
        latest = self.events[order, 1][np.maximum.accumulate(rank)]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (
            (np.diff(self.event_clips) != 0)
            | (np.diff(self.labels) != 0)
            | (self.events[1:, 0] - latest[:-1] >= gap)
        )
        events = self.chosen(is_first)
        offsets = latest[np.append(is_first[1:], True)]
        return replace(events, events=np.stack([events.events[:, 0], offsets], axis=1))

    def cut_to_pieces(self, longest: int) -> EventRows:
        """Return the pieces of the events: those of more than ``longest`` are cut from their onset on."""
        onsets, offsets = self.events.T
        pieces = np.maximum(-((onsets - offsets) // longest), 1)
        refuse_beyond_memory(
            100 * float(pieces.sum()),
            f"{pieces.sum()} pieces of references, each of {longest / TICKS_PER_SECOND:g} s, need",
            "Split references into longer pieces, and check their ends.",
        )
        event = np.repeat(np.arange(len(pieces)), pieces)
        number = np.arange(len(event)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        begins = onsets[event] + number * longest
        ends = np.minimum(begins + longest, offsets[event])
        labels, clips = self.labels[event], self.event_clips[event]
        order = np.lexsort((begins, labels, clips))
        before = np.concatenate([[0], np.cumsum(pieces)])
        times = np.stack([begins, ends], axis=1)
        return EventRows(times[order], labels[order], clips[order], before[self.starts])


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
    uncut: UncutReferences | None = field(default=None, kw_only=True)
    """The references of the recordings that the clips were cut out of; None if they are whole."""

    def truth(self, search: DeltaSearch) -> _native.Truth:
        """The references as the core reads them, with the bounds of the work."""
        ignored = self.ignored.native() if len(self.ignored.labels) else None
        return _native.Truth(self.native(), ignored, self.maxima, search.floors, search.threads)

    def reference_rows(self) -> ReferenceRows:
        """One row per reference event that counts."""
        return ReferenceRows(self.event_clips, self.labels, self.events[:, 1] - self.events[:, 0])

    def ignored_rows(self) -> IgnoredRows:
        """One row per clip and class with ignored references."""
        if not len(self.ignored.labels):
            return IgnoredRows(self.ignored.event_clips, self.ignored.labels, np.zeros(0, np.int64))
        pairs = np.unique(np.stack([self.ignored.event_clips, self.ignored.labels]), axis=1)
        return IgnoredRows(pairs[0], pairs[1], np.zeros(pairs.shape[1], np.int64))

    def of_length(
        self: AnyReferences, shortest: int, longest: int, *, ignore_others: bool
    ) -> AnyReferences:
        """Keep the references that are longer than ``shortest``, and at most as long as ``longest``.

        ``ignore_others``: the others become ignored references; otherwise, there are none.
        """
        lengths = self.events[:, 1] - self.events[:, 0]
        counts = (lengths > shortest) & (lengths <= longest)
        ignored = self.ignored.merged(self.chosen(~counts)) if ignore_others else self.ignored
        uncut = None if self.uncut is None else self.uncut.of_length(shortest, longest)
        return replace(self, **vars(self.chosen(counts)), ignored=ignored, uncut=uncut)

    def with_counted(self: AnyReferences, events: EventRows) -> AnyReferences:
        """Return the same clips with other references that count."""
        return replace(self, **vars(events))

    def boundaries(self, reach: int) -> Boundaries:
        """Return the boundaries of the references that count, without those that a cut made.

        In clips that were cut out of recordings, they may be outside, up to ``reach`` away.
        """
        if self.uncut is not None:
            return self.uncut.boundaries(self.durations, reach)
        from ..alignment.cuts import Boundaries

        return Boundaries(self.events.ravel(), np.repeat(self.labels, 2), np.repeat(self.event_clips, 2))

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

    def find_deltas(self, core: CoreCriterion, search: DeltaSearch) -> _native.EventDeltas:
        """Find the deltas of a criterion of the core."""
        return core.find_deltas(self.clips, self.truth(search))


@dataclass(frozen=True, eq=False)
class EventBatch(ClipReferences):
    """Some clips whose detected events are kept as they are, with their references."""

    detected: _native.DetectedEvents
    listed: EventList | None = field(default=None, kw_only=True)
    """The same events, for criteria that the core does not compute; None if only some of them are left."""

    @property
    def clips(self) -> _native.Clips:
        """The events as the diagnosis of errors reads them."""
        return _native.Clips(self.detected)

    def find_deltas(self, core: CoreCriterion, search: DeltaSearch) -> _native.EventDeltas:
        """Find the deltas of a criterion of the core."""
        return core.find_deltas_of_events(self.detected, self.truth(search))


AnyBatch: TypeAlias = ClipBatch | EventBatch


@dataclass(frozen=True, eq=False)
class Recording(ClipReferences):
    """One clip whose scores arrive in pieces, with its references. Its ``maxima`` are ``-inf``: they are
    not known yet."""

    clip: _native.Recording
