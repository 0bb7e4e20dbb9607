"""Stops of the threshold sliders: a bounded choice of thresholds, at which all counts are exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts
from .packing import short_between

MOST = 240
"""Stops of a class; a frame's score is then told by the number of stops below it, in one byte."""
_COMMON = 32
_RATES = tuple(float(f"{digit}e{power}") for power in range(-1, 4) for digit in (1, 2, 5))

Thresholds = NDArray[np.float64]


def class_stops(
    tables: Sequence[ClassCounts], hours: float, given: Iterable[float], common: Thresholds
) -> Thresholds:
    """Thresholds for one class, decreasing: at the first nothing is detected.

    ``tables``: its counts by criterion and system. For each there is the best F-score, the best
    recall at 0.1, 0.2, 0.5, 1, 2, 5 … false alarms per hour, and as many operating points, even in true
    positives and in false positives, as there is room for. ``given`` and ``common`` are kept as is.
    """
    if tables[0].given:
        return np.unique(np.concatenate([table.scores for table in tables]).astype(np.float64))[::-1]
    floor = max(table.floor for table in tables)
    needed = [_thresholds_of(table, important_rows(table, hours)) for table in tables]
    chosen = np.unique(np.concatenate([*needed, common, np.array([*given], np.float64)]))
    chosen = chosen[chosen >= floor]
    room = max(0, MOST - len(chosen)) // (2 * len(tables))
    more = [_thresholds_of(table, even_rows(table, room)) for table in tables]
    found = np.unique(np.concatenate([chosen, *more]))
    kept: Thresholds = found[(found >= floor) & ~np.isnan(found)][-MOST:]
    return kept[::-1] if len(kept) else np.array([floor])


def common_stops(tables: Sequence[ClassCounts]) -> Thresholds:
    """Thresholds that all classes have a stop at, decreasing; evenly chosen among those where
    counts of any class change, and round numbers for scores between 0 and 1."""
    if tables[0].given:
        return tables[0].scores.astype(np.float64)
    floor = max(table.floor for table in tables)
    pieces = [_thresholds_of(table, even_rows(table, _COMMON)) for table in tables]
    everything = np.sort(np.concatenate(pieces))
    everything = everything[(everything >= floor) & np.isfinite(everything)]
    if not len(everything):
        return everything
    rows = np.unique(np.linspace(0, len(everything) - 1, _COMMON).round().astype(np.intp))
    chosen = everything[rows]
    if min(table.scores.min(initial=1) for table in tables) >= 0 and chosen[-1] <= 1:
        chosen = np.concatenate([chosen, np.arange(1, 20) / 20])
    return np.unique(chosen[chosen >= floor])[::-1]


def important_rows(table: ClassCounts, hours: float) -> NDArray[np.intp]:
    """Rows of the tally: nothing and everything detected, the best F-score, the best recall at each of
    some rates of false alarms."""
    tally = table.tally()
    rows = [0, len(table.scores)]
    if table.references:
        rows.append(int(np.argmax(tally.fscore())))
    fp, tp = np.asarray(tally.fp), np.asarray(tally.tp)
    for rate in _RATES:
        allowed = fp <= rate * hours
        if not allowed.all():
            rows.append(int(np.argmax(np.where(allowed, tp, -1))))
    return np.unique(np.array(rows, np.intp))


def even_rows(table: ClassCounts, number: int) -> NDArray[np.intp]:
    """Rows of the tally, about so many even in true positives, and as many even in the logarithm of
    false positives: the first ones that have so many."""
    tally = table.tally()
    found = [np.empty(0, np.intp)]
    for counted, scaled in (
        (np.asarray(tally.tp), lambda t: t),
        (np.asarray(tally.fp), np.log1p),
    ):
        most = np.maximum.accumulate(scaled(counted.astype(np.float64)))
        targets = np.linspace(0, most[-1], number + 2)[1:-1]
        found.append(np.searchsorted(most, targets))
    return np.unique(np.concatenate(found)).astype(np.intp)


def _thresholds_of(table: ClassCounts, rows: NDArray[np.intp]) -> Thresholds:
    """A threshold with few digits for each of some rows of the tally."""
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
