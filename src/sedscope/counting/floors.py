"""Exact pruning: scores below which a metric with a limit on false alarms does not look."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.scores import ScoreArray
from ..data.times import TICKS_PER_SECOND, Ticks


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

    def needed(self, durations: Ticks) -> int:
        """How many clips must be above the floor; ``durations``: of all clips."""
        assert self.limit is not None
        return int(min(self.limit * int(durations.sum()) / TICKS_PER_SECOND, 2.0**62)) + 2

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
        needed = self.needed(durations)
        self.largest = np.concatenate(
            [self.largest, without_references(maxima, event_clips, event_labels)]
        )
        if len(self.largest) < needed:
            return lowest
        self.largest = np.partition(self.largest, -needed, axis=0)[-needed:]
        return rounded_down(self.largest[0], maxima.dtype)

    def of(
        self, maxima: NDArray[np.float64], durations: Ticks
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Per class, whether enough clips are above some score for there to be a floor, and the floor,
        else ``-inf``; ``maxima``: (classes × clips) of clips without references of the class."""
        needed = self.needed(durations)
        if needed > maxima.shape[1]:
            return np.zeros(len(maxima), bool), np.full(len(maxima), -np.inf)
        floors: NDArray[np.float64] = np.partition(maxima, -needed, axis=1)[:, -needed]
        return floors > -np.inf, floors

    def guess(self, sample: NDArray[np.float64], clips: int, durations: Ticks) -> NDArray[np.float64]:
        """What the floors will be, or lower, judged by the maxima of some of the clips: with such floors
        from the beginning, little is found in vain. Whether they hold is known at the end."""
        above = 2 * self.needed(durations) * len(sample) / clips + 8  # twice as many as needed, and some
        rank = int(np.ceil(above))
        if rank > len(sample):
            return np.full(sample.shape[1], -np.inf)
        guessed: NDArray[np.float64] = np.partition(sample, -rank, axis=0)[-rank]
        return guessed


def without_references(
    maxima: ScoreArray, event_clips: NDArray[np.int32], event_labels: NDArray[np.int32]
) -> NDArray[np.float64]:
    """(clips × classes) the maxima, ``-inf`` for clips with references of the class."""
    false_alarms = maxima.astype(np.float64)
    false_alarms[event_clips, event_labels] = -np.inf
    return false_alarms


def rounded_down(floors: NDArray[np.float64], dtype: np.dtype[Any]) -> ScoreArray:
    """As a type that may be narrower than that of the scores they come from: for each the largest value
    that is not above it, so that the same scores of that type are above either."""
    lowest: ScoreArray = np.full(len(floors), -np.inf, dtype)
    with np.errstate(over="ignore"):
        narrow: ScoreArray = floors.astype(dtype)
        return np.where(narrow > floors, np.nextafter(narrow, lowest), narrow)


def resampled_floors(
    maxima: NDArray[np.float64], limit: float, weights: NDArray[np.int32], durations: Ticks
) -> NDArray[np.float64]:
    """Per class a score below which the limit is surely passed whichever of the weights the clips have.

    ``maxima``: (classes × clips) the largest score of clips without references of the class, ``-inf``
    for the others; ``weights``: (resamples × clips). As for :class:`Floor`, a clip holds as many false
    positives as it weighs where its largest score is detected, and one more is left for rounding.
    """
    classes, clips = maxima.shape
    allowed = limit * (weights @ durations) / TICKS_PER_SECOND
    order = np.argsort(-maxima, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(clips), order.shape), axis=1)
    # every sum of weights is a whole number that a float32 holds
    times = weights.astype(np.float32 if weights.sum(axis=1).max(initial=0) < 2**24 else np.float64)
    too_few, enough = np.zeros(classes, np.int64), np.full(classes, clips + 1)
    while (too_few + 1 < enough).any():  # how many of the highest clips are enough in all resamples
        middle = (too_few + enough) // 2
        highest = (rank < middle[:, None]).astype(times.dtype)
        surely = ((times @ highest.T) > allowed[:, None] + 1).all(axis=0)
        too_few, enough = np.where(surely, too_few, middle), np.where(surely, middle, enough)
    found = enough <= clips
    floors = np.full(classes, -np.inf)
    floors[found] = maxima[found, order[found, enough[found] - 1]]
    return floors
