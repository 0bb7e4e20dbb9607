"""Exact counts of lists of events, in which the same event may occur twice.

All clips lie end to end on one line of time, so the overlaps of all events are found at once. Times are
whole microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...criteria.criterion import as_share
from ...data.times import Ticks
from .events import Numbers
from .results import FloatArray, Thresholds


@dataclass(frozen=True, eq=False)
class PlacedEvents:
    """Events on the line of time."""

    labels: Numbers
    lengths: Ticks
    onsets: Ticks
    offsets: Ticks

    def chosen(self, rows: NDArray[Any]) -> PlacedEvents:
        """Return some of the events."""
        return PlacedEvents(self.labels[rows], self.lengths[rows], self.onsets[rows], self.offsets[rows])

    def shared_with(self, others: PlacedEvents) -> Ticks:
        """Return how much time each event shares with others, one after the other."""
        onsets, offsets = np.sort(others.onsets), np.sort(others.offsets)

        def others_before(times: Ticks) -> Ticks:
            return _time_since(onsets, times) - _time_since(offsets, times)

        return others_before(self.offsets) - others_before(self.onsets)


def _time_since(moments: Ticks, times: Ticks) -> Ticks:
    """Return the total time since all earlier moments, which are sorted. Overflows cancel in differences."""
    passed = np.searchsorted(moments, times)
    sums = np.append(0, np.cumsum(moments))
    return passed * times - sums[passed]


def required_time(share: float, lengths: Ticks) -> Ticks:
    """Return this share of lengths in whole microseconds, halves rounded up, and at least one."""
    numerator, denominator = as_share(share)
    distinct, index = np.unique(lengths, return_inverse=True)
    rounded = [
        max((2 * numerator * length + denominator) // (2 * denominator), 1)
        for length in distinct.tolist()
    ]
    return np.array(rounded, np.int64)[index]


def confusion_matrix(
    references: PlacedEvents,
    detections: PlacedEvents,
    false_counts: NDArray[np.bool_],
    classes: int,
    thresholds: Thresholds,
) -> FloatArray:
    """Count true positives (diagonal), cross-triggers (detected × reference) and false positives (last
    column). The last row is 0.

    ``false_counts``: which detections are false positives unless they are relevant. Others may be
    cross-triggers all the same.
    """
    matrix = np.zeros((classes + 1, classes + 1))
    of_class = [references.chosen(references.labels == c) for c in range(classes)]
    relevant = np.zeros(len(detections.labels), bool)
    for c, own in enumerate(of_class):
        rows = np.flatnonzero(detections.labels == c)
        detected = detections.chosen(rows)
        is_relevant = detected.shared_with(own) >= required_time(thresholds.dtc, detected.lengths)
        relevant[rows] = is_relevant
        covered = own.shared_with(detected.chosen(is_relevant))
        matrix[c, c] = np.count_nonzero(covered >= required_time(thresholds.gtc, own.lengths))
    false = detections.chosen(~relevant)
    matrix[:-1, -1] = np.bincount(false.labels[false_counts[~relevant]], minlength=classes)
    required = required_time(thresholds.cttc, false.lengths)
    for other, events in enumerate(of_class):
        crossing = (false.shared_with(events) >= required) & (false.labels != other)
        matrix[:-1, other] += np.bincount(false.labels[crossing], minlength=classes)
    return matrix
