"""What a criterion is given: some clips with their reference events, as the core reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.scores import ScoreArray
from ..data.times import Ticks
from .delta_tables import ReferenceRows


@dataclass(frozen=True, eq=False)
class ClipReferences:
    """The reference events of some clips."""

    durations: Ticks
    """Per clip, in microseconds."""
    extents: Ticks
    """(clips × 3) where the first frame begins, and where the last one begins and ends."""
    events: Ticks
    """(events × 2) onsets and offsets, ordered by clip, class, onset."""
    labels: NDArray[np.int32]
    """The class of each event."""
    event_clips: NDArray[np.int32]
    """The clip of each event."""
    starts: NDArray[np.int64]
    """The first event of each clip, and the end."""
    maxima: ScoreArray
    """(clips × classes) the largest score."""
    late: NDArray[np.intp]
    """The events that are left out because they begin after their clip ends, counted among all."""

    def truth(self, floors: ScoreArray, threads: int) -> _native.Truth:
        """The references as the core reads them, with the bounds of the work."""
        return _native.Truth(self.events, self.labels, self.starts, self.maxima, floors, threads)

    def reference_rows(self) -> ReferenceRows:
        """One row per reference event."""
        return ReferenceRows(self.event_clips, self.labels, self.events[:, 1] - self.events[:, 0])


@dataclass(frozen=True, eq=False)
class ClipBatch(ClipReferences):
    """Some clips with their scores and references."""

    clips: _native.Clips


@dataclass(frozen=True, eq=False)
class EventBatch(ClipReferences):
    """Some clips whose detected events are kept as they are, with their references."""

    detected: _native.DetectedEvents


@dataclass(frozen=True, eq=False)
class Recording(ClipReferences):
    """One clip whose scores arrive in pieces, with its references. Its ``maxima`` are ``-inf``: they are
    not known yet."""

    clip: _native.Recording
