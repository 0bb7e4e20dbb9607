"""Events of a clip as a system detects them: none merges with another, even where they overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted
from .arrays import FloatArray
from .times import Ticks


@dataclass(frozen=True, eq=False, repr=False)
class ClipEvents:
    """The detected events of one clip, ordered by class and onset.

    Each is there at every threshold below its confidence.
    """

    times: Ticks
    """(events × 2) onsets and offsets in microseconds."""
    columns: NDArray[np.int32]
    """The class of each event, as an index into the classes of the scores."""
    confidences: FloatArray

    def __repr__(self) -> str:
        return f"<ClipEvents: {counted(len(self.times), 'event')}>"

    @property
    def ticks(self) -> Ticks:
        """All boundaries in order; 0 if there are no events."""
        return np.unique(self.times) if len(self.times) else np.zeros(1, np.int64)

    def in_columns(self, columns: NDArray[np.int32]) -> ClipEvents:
        """Return the events in other columns. ``columns``: the new one of each; -1 drops its events."""
        new = columns[self.columns]
        kept = np.flatnonzero(new >= 0)
        order = kept[np.lexsort((self.times[kept, 1], self.times[kept, 0], new[kept]))]
        return ClipEvents(self.times[order], new[order], self.confidences[order])

    def within(self, start: int, end: int) -> ClipEvents:
        """Return what lies between two times of the events, with times from the first one."""
        inside = (self.times[:, 0] < end) & (self.times[:, 1] > start)
        times = np.clip(self.times[inside], start, end) - start
        return ClipEvents(times, self.columns[inside], self.confidences[inside])

    def maxima(self, classes: int) -> FloatArray:
        """Return the highest confidence of each class, ``-inf`` where nothing is detected."""
        highest = np.full(classes, -np.inf)
        np.maximum.at(highest, self.columns, self.confidences)
        return highest


def kept_events_error(clip: str) -> SedscopeError:
    """Return the error of an operation that needs scores of frames."""
    return SedscopeError(
        f"Clip {clip} holds overlapping events that are kept as they are. Collar and IoU can judge them, but "
        "post-processing, blocks of time, error types and reports need scores of frames. Merge the events "
        "with overlaps='merge' (--overlaps merge)."
    )


def needs_events_error(reader: object) -> SedscopeError:
    """Return the error of something that ranks events, where there are scores of frames."""
    return SedscopeError(
        f"{reader} ranks events by their confidence, so it needs scored events that are kept as they are: "
        "give an event list with confidences and overlaps='keep' (--overlaps keep). The detections of frame "
        "scores change with the threshold."
    )
