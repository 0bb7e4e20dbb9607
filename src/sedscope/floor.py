"""Exact pruning: scores below which a metric with a limit on false alarms does not look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .scores import ScoreArray
from .times import TICKS_PER_SECOND, Ticks


class Floor:
    """Exact pruning: per class a score below which a false-alarm limit is surely passed.

    Each clip without references of a class whose largest score is above a threshold holds at least
    one false positive there. So if n are allowed, nobody looks below the (n + 1)-th largest of these
    maxima; the (n + 2)-th is taken, to be safe from the rounding of n. As clips come in, the floor
    only rises.
    """

    def __init__(self, limit: float | None, classes: int) -> None:
        """``limit``: false positives allowed per second; None for no floor."""
        self.limit = limit
        self.largest: NDArray[np.float64] = np.empty((0, classes))

    def raise_to(
        self,
        maxima: ScoreArray,
        event_clips: NDArray[np.int32],
        event_labels: NDArray[np.int32],
        durations: Ticks | None,
    ) -> ScoreArray:
        """Take in the maxima of more clips and return the floors.

        ``durations``: of all clips to come as well; None if they are not known yet.
        """
        lowest: ScoreArray = np.full(maxima.shape[1], -np.inf, maxima.dtype)
        if self.limit is None or durations is None:
            return lowest
        false_alarms = maxima.astype(np.float64)
        false_alarms[event_clips, event_labels] = -np.inf
        allowed = self.limit * int(durations.sum()) / TICKS_PER_SECOND
        needed = int(min(allowed, 2.0**62)) + 2
        self.largest = np.concatenate([self.largest, false_alarms])
        if len(self.largest) < needed:
            return lowest
        self.largest = np.partition(self.largest, -needed, axis=0)[-needed:]
        floors: ScoreArray = self.largest[0].astype(maxima.dtype)
        raised = floors > self.largest[0]  # by rounding, where scores of other clips are finer
        return np.where(raised, np.nextafter(floors, lowest), floors)
