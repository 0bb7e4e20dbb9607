"""Positions of the threshold sliders: a limited choice of thresholds at which all counts are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts
from ..counting.tally import most_false_positives
from ..data.arrays import FloatArray
from .packing import short_between

MAX_POSITIONS = 240
"""Of the slider of one class. The rank of a score among them fits into one byte."""
_SHARED = 32
RATES = tuple(float(f"{digit}e{power}") for power in range(-1, 4) for digit in (1, 2, 5))
"""False alarms per hour for which a page sets the largest recall."""


def class_thresholds(
    tables: Sequence[ClassCounts], hours: float, metric_thresholds: Iterable[float], shared: FloatArray
) -> FloatArray:
    """Choose the thresholds of the slider of one class, decreasing.

    Among them are, for each table, the best F-score, the best recall at 0.1, 0.2, 0.5, 1, 2, 5 … false
    alarms per hour if they are counted, and nothing detected. Operating points that are spread evenly over
    true positives and over false positives fill the remaining positions.

    Parameters
    ----------
    tables : sequence of ClassCounts
        The counts of the class for each criterion and system.
    hours : float
        The total duration of the clips.
    metric_thresholds : iterable of float
        Thresholds at which metrics were measured. Each gets a position.
    shared : FloatArray
        Thresholds of the slider for all classes. Each gets a position.

    Returns
    -------
    FloatArray
        At position i, frames with ``score > thresholds[i]`` are active.
    """
    if tables[0].at_chosen_thresholds:
        return np.unique(np.concatenate([table.scores for table in tables]).astype(np.float64))[::-1]
    floor = max(table.floor for table in tables)
    important = [_short_thresholds(table, important_rows(table, hours)) for table in tables]
    measured = np.array([*metric_thresholds], np.float64)
    measured = measured[measured >= floor]
    chosen = np.unique(np.concatenate([*important, shared, measured]))
    chosen = chosen[chosen >= floor]
    room = max(0, MAX_POSITIONS - len(chosen)) // (2 * len(tables))
    fillers = [_short_thresholds(table, even_rows(table, room)) for table in tables]
    rising = np.unique(np.concatenate([chosen, *fillers]))
    kept: FloatArray = rising[(rising >= floor) & ~np.isnan(rising)]
    if len(kept) > MAX_POSITIONS:  # leave out the lowest, but none at which a metric was measured
        others = np.setdiff1d(kept, measured)[len(kept) - MAX_POSITIONS :]
        kept = np.union1d(others, measured)
    return kept[::-1] if len(kept) else np.array([floor])


def shared_thresholds(tables: Sequence[ClassCounts]) -> FloatArray:
    """Choose the thresholds of the slider for all classes, decreasing.

    They are spread evenly over the thresholds where the counts of any class change. Scores between 0
    and 1 get multiples of 0.05 as well.
    """
    if tables[0].at_chosen_thresholds:
        return tables[0].scores.astype(np.float64)
    floor = max(table.floor for table in tables)
    candidates: FloatArray = np.sort(
        np.concatenate([_short_thresholds(table, even_rows(table, _SHARED)) for table in tables])
    )
    candidates = candidates[(candidates >= floor) & np.isfinite(candidates)]
    if not len(candidates):
        return candidates
    rows = np.unique(np.linspace(0, len(candidates) - 1, _SHARED).round().astype(np.intp))
    chosen = candidates[rows]
    if min(table.scores.min(initial=1) for table in tables) >= 0 and chosen[-1] <= 1:
        chosen = np.concatenate([chosen, np.arange(1, 20) / 20])
    return np.unique(chosen[chosen >= floor])[::-1]


def important_rows(table: ClassCounts, hours: float) -> NDArray[np.intp]:
    """Return the rows of the tally that a slider must reach.

    They are nothing and everything detected, the best F-score, and the best recall at each of some rates
    of false alarms.
    """
    tally = table.tally()
    rows = [0, len(table.scores)]
    if table.references:
        rows.append(int(np.argmax(tally.fscore())))
    fp, tp = np.asarray(tally.fp), np.asarray(tally.tp)
    for rate in () if table.measures_time else RATES:
        allowed = fp <= most_false_positives(rate, hours)
        if not allowed.all():
            rows.append(int(np.argmax(np.where(allowed, tp, -1))))
    return np.unique(np.array(rows, np.intp))


def reaches(shown: ClassCounts, measured: ClassCounts, false_alarms: int) -> bool:
    """Return whether the shown range of counts has the largest recall with so many false alarms.

    ``measured``: the same counts, as far down as they are known.
    """

    def best(table: ClassCounts) -> int:
        return int(np.max(table.tp, where=table.fp <= false_alarms, initial=0))

    return measured.reaches(false_alarms) and best(shown) == best(measured)


def even_rows(table: ClassCounts, number: int) -> NDArray[np.intp]:
    """Return rows of the tally that are spread evenly.

    About ``number`` rows are spread over the true positives, and as many over the logarithm of the false
    positives.
    """
    tally = table.tally()
    rows = [np.empty(0, np.intp)]
    scaled: tuple[tuple[NDArray[np.int64], Callable[[FloatArray], FloatArray]], ...] = (
        (np.asarray(tally.tp), np.positive),
        (np.asarray(tally.fp), np.log1p),
    )
    for column, scale in scaled:
        largest = np.maximum.accumulate(scale(column.astype(np.float64)))
        targets = np.linspace(0, largest[-1], number + 2)[1:-1]
        rows.append(np.searchsorted(largest, targets))
    return np.unique(np.concatenate(rows)).astype(np.intp)


def _short_thresholds(table: ClassCounts, rows: NDArray[np.intp]) -> FloatArray:
    """Return a threshold with few digits for each of some rows of the tally."""
    scores = table.scores.astype(np.float64)
    if not len(scores):
        return np.zeros(len(rows))
    above = np.concatenate([[np.nextafter(scores[0], np.inf)], scores])[rows]
    lowest = max(table.floor, scores[-1] - abs(scores[-1]) / 8 - 1e-6)
    below = np.append(scores, lowest)[rows]
    first = rows == 0
    below = np.where(first, scores[0], below)
    above = np.where(first, scores[0] + max(abs(scores[0]) / 8, 1e-6), above)
    return short_between(below, above)
