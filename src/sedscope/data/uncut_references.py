"""The references of whole recordings, for clips that were cut out of them.

A collar is around each boundary of a reference. Where a clip is a part of a recording, the clip may cut a
reference, which makes no boundary, and a boundary outside of the clip may be near enough to matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import IntArray
from .times import LONGEST_TICKS, Ticks

if TYPE_CHECKING:
    from .cuts import Stretch
    from .ground_truth import GroundTruth

EVERYTHING = (-LONGEST_TICKS, LONGEST_TICKS)
"""The region of a clip that cuts no reference."""


class Boundaries(NamedTuple):
    """Boundaries of references that count, with times from the start of their clip."""

    times: Ticks
    labels: NDArray[np.int32]
    clips: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class UncutReferences:
    """The references of recordings that count, and which part of a recording each clip is."""

    events: Ticks
    """(events × 2) onsets and offsets in the recordings, ordered by recording."""
    labels: NDArray[np.int32]
    """The class of each event."""
    starts: IntArray
    """The first event of each recording, and the number of all events."""
    recordings: IntArray
    """Per clip, its recording."""
    begins: Ticks
    """Per clip, where it begins in its recording."""
    regions: Ticks
    """(clips × 2) where the references of the clip were cut: its region, of which it may be a part."""
    crossing_count: bool
    """Whether references that cross the border of a region count in it."""
    shortest: int = -1
    """References count if they are longer. Those that were cut are as long as the part in the region."""
    longest: int = LONGEST_TICKS
    """References count if they are at most as long."""

    @classmethod
    def of_regions(
        cls,
        truth: GroundTruth,
        parts: Sequence[Stretch | None],
        class_number: Mapping[str, int],
        *,
        crossing_count: bool,
    ) -> UncutReferences:
        """Return the references of the recordings of some regions.

        ``parts``: the region of each clip; None for a clip that is not in the ground truth.
        """
        number = {clip: i for i, clip in enumerate(truth.clips)}
        label_class = np.array([class_number.get(label, -1) for label in truth.labels], np.int32)
        rows = np.flatnonzero(~truth.ignored)
        rows = rows[label_class[truth.event_labels[rows]] >= 0]
        regions = [
            EVERYTHING if part is None or part.is_whole_clip else (part.start, part.end)
            for part in parts
        ]
        return cls(
            events=np.stack([truth.onsets[rows], truth.offsets[rows]], axis=1),
            labels=label_class[truth.event_labels[rows]],
            # a last recording without references, for clips that are not in the ground truth
            starts=np.searchsorted(truth.event_clips[rows], np.arange(len(number) + 2)),
            recordings=np.array(
                [len(number) if part is None else number[part.clip] for part in parts], np.int64
            ),
            begins=np.array([0 if part is None else part.start for part in parts], np.int64),
            regions=np.array(regions, np.int64).reshape(-1, 2),
            crossing_count=crossing_count,
        )

    def choose(self, clips: NDArray[np.intp]) -> UncutReferences:
        """Keep only the clips with these indices, and their recordings."""
        kept, recordings = np.unique(self.recordings[clips], return_inverse=True)
        counts = self.starts[kept + 1] - self.starts[kept]
        rows = _ranges(self.starts[kept], counts)
        return replace(
            self,
            events=self.events[rows],
            labels=self.labels[rows],
            starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            recordings=recordings.astype(np.int64),
            begins=self.begins[clips],
            regions=self.regions[clips],
        )

    def parts(self, clips: IntArray, begins: Ticks) -> UncutReferences:
        """Return the references for parts of the clips, which begin at these times of their clips."""
        return replace(
            self,
            recordings=self.recordings[clips],
            begins=self.begins[clips] + begins,
            regions=self.regions[clips],
        )

    def of_classes(self, kept: NDArray[np.bool_]) -> UncutReferences:
        """Keep only some of the classes. ``kept``: whether each class is one of them."""
        rows = kept[self.labels]
        return replace(
            self,
            events=self.events[rows],
            labels=(np.cumsum(kept) - 1).astype(np.int32)[self.labels[rows]],
            starts=np.concatenate([[0], np.cumsum(rows)])[self.starts].astype(np.int64),
        )

    def of_length(self, shortest: int, longest: int) -> UncutReferences:
        """Keep the references that are longer than ``shortest``, and at most as long as ``longest``."""
        return replace(self, shortest=max(self.shortest, shortest), longest=min(self.longest, longest))

    def boundaries(self, durations: Ticks, reach: int) -> Boundaries:
        """Return the boundaries within the clips, or at most ``reach`` away from them."""
        recordings = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.lexsort((self.events.ravel(), np.repeat(recordings, 2)))
        times, events = self.events.ravel()[order], order // 2
        firsts, ends = np.empty((2, len(durations)), np.int64)
        limits = np.stack([self.begins - reach, self.begins + durations + reach], axis=1)
        for clip, recording in enumerate(self.recordings.tolist()):
            rows = slice(2 * self.starts[recording], 2 * self.starts[recording + 1])
            firsts[clip] = rows.start + np.searchsorted(times[rows], limits[clip, 0], side="left")
            ends[clip] = rows.start + np.searchsorted(times[rows], limits[clip, 1], side="right")
        clips = np.repeat(np.arange(len(durations), dtype=np.int32), ends - firsts)
        nearby = _ranges(firsts, ends - firsts)
        counting = self._count(events[nearby], clips)
        nearby, clips = nearby[counting], clips[counting]
        return Boundaries(times[nearby] - self.begins[clips], self.labels[events[nearby]], clips)

    def identity(self) -> bytes:
        """Return bytes that differ if the boundaries may differ."""
        arrays = (self.events, self.labels, self.starts, self.recordings, self.begins, self.regions)
        facts = (self.crossing_count, self.shortest, self.longest, [array.shape for array in arrays])
        return b"".join([repr(facts).encode(), *(array.tobytes() for array in arrays)])

    def _count(self, events: IntArray, clips: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether references count in clips."""
        onsets, offsets = self.events[events].T
        begins, ends = self.regions[clips].T
        inside = (onsets < ends) & (offsets > begins)
        first, last = np.maximum(onsets, begins), np.minimum(offsets, ends)
        lengths = np.where(inside, last - first, offsets - onsets)
        counting: NDArray[np.bool_] = (lengths > self.shortest) & (lengths <= self.longest)
        if not self.crossing_count:
            counting &= ~inside | ((onsets >= begins) & (offsets <= ends))
        return counting


def _ranges(firsts: IntArray, counts: IntArray) -> IntArray:
    """Return ranges of indices, one after the other.

    >>> _ranges(np.array([7, 2]), np.array([3, 2])).tolist()
    [7, 8, 9, 2, 3]
    """
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(counts.sum())
