"""Guarantees: which thresholds keep a requirement on other recordings, too, although they were searched for.

Requirements are tested in a fixed sequence of thresholds (learn then test: Angelopoulos et al., 2021), by
exact tails of the Poisson and the binomial distribution. Events of one clip depend on each other, so both are
applied to effective counts (Korn and Graubard, 1998): counts are divided by how much more they vary from clip
to clip than those of independent events would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts, Counts
from ..counting.deltas import Deltas
from ..criteria.delta_tables import DeltaRows
from ..data.arrays import FloatArray
from ..data.times import TICKS_PER_SECOND
from ..errors import SedscopeError, listing
from ..resampling.exact_limits import (
    binomial_at_most,
    poisson_at_most,
    poisson_lower_limit,
    poisson_upper_limit,
)
from ..resampling.resampling import Resampling
from .allocation import Frontier, allocate

_LEARNING = 1 / 3  # of the clips, on which the allocation to classes is learnt; the others test it
_PRECISION = 1e-11  # more than rounding changes a probability, as a share of it
_STEP = 1.005  # from one operating point that is tested to the next
_STARTS = (0.5, 1.0, 2.0, 4.0, 8.0)  # numbers of detections, per reference, at which tests begin
_PLACES, _FIRST = 6, 0.25  # and so many places more, from that number of detections on


def hours_without_false_alarms(per_hour: float, confidence: float, total: bool = False) -> float:
    """Return how many hours without any false alarm keep a limit with confidence.

    ``total``: for all classes together, of which only some of the hours are tested.

    >>> round(hours_without_false_alarms(0.1, 0.95), 2)
    29.96
    """
    hours = poisson_upper_limit(0, confidence) / per_hour if per_hour else math.inf
    return hours / (1 - _LEARNING) if total else hours


def rate_is_below(limit: float, number: int, hours: float, dependence: float, level: float) -> bool:
    """Return whether so few events in so many hours prove, at a level, that a rate is at most a limit."""
    mean = limit * hours / dependence
    return hours > 0 and poisson_at_most(math.ceil(number / dependence), mean) <= level * (
        1 + _PRECISION
    )


def share_is_below(limit: float, number: int, trials: int, dependence: float, level: float) -> bool:
    """Return whether so few of some trials prove, at a level, that a share is at most a limit."""
    effective = math.floor(trials / dependence), math.ceil(number / dependence)
    return binomial_at_most(effective[1], effective[0], limit) <= level * (1 + _PRECISION)


class Guarantees:
    """Which operating points keep requirements with confidence, class by class."""

    def __init__(
        self,
        counts: Counts,
        confidence: float,
        deltas: Deltas | None = None,
        groups: Mapping[str, Hashable] | None = None,
    ) -> None:
        """``deltas``: of the same clips; without them, all events are taken as independent."""
        if deltas is None and groups is not None:
            raise SedscopeError("groups= needs deltas, which know the clips. Counts do not.")
        self.counts, self.confidence, self.hours = counts, confidence, counts.hours
        self._clusters = None if deltas is None else _Clusters(deltas, groups)
        self._of_detections = None
        if deltas is not None and deltas.tables.right is not None:
            self._of_detections = _Clusters(_right_as_true(deltas), groups)

    def about(self, total: bool, unmet: Collection[str]) -> str:
        """Describe what holds in one sentence.

        ``total``: for all classes together. ``unmet``: the classes for which it does not hold.
        """
        confidence = f"with {self.confidence * 100:g} % confidence"
        how = f"exact Poisson and binomial limits, {self.dependence_text()}"
        if unmet and (total or len(unmet) == len(self._judged_classes())):
            return f"Requirements cannot be promised {confidence}: {how}."
        of = "all classes together" if total else "each class"
        of += f" but {listing(unmet, limit=10)}" if unmet else ""
        return f"Requirements hold {confidence} for {of}, although thresholds were searched for: {how}."

    def _judged_classes(self) -> list[str]:
        return [label for label, table in self.counts.items() if table.references]

    def dependence_text(self) -> str:
        """Say what the limits take into account."""
        if self._clusters is None:
            return "with all events taken as independent"
        return f"corrected for events that depend on each other within {self._clusters.unit}"

    def precision_above(self, label: str, least: float, level: float) -> NDArray[np.bool_]:
        """Return at which operating points the precision is at least so high, at a level."""
        table = self.counts[label]
        if table.right is not None:
            table = replace(table, tp=table.right)
        tp, fp = _columns(table)
        judges = self._clusters if self._of_detections is None else self._of_detections
        dependence = np.ones(len(tp)) if judges is None else judges.of_precision(table)
        return tested_in_order(
            _sequence(table),
            lambda row, share: (
                bool(tp[row] >= least * (tp[row] + fp[row]) > 0)
                and share_is_below(
                    1 - least, int(fp[row]), int(tp[row] + fp[row]), float(dependence[row]), share
                )
            ),
            _starts(table),
            level,
            len(tp),
        )

    def recall_above(self, label: str, least: float, level: float) -> NDArray[np.bool_]:
        """Return at which operating points the recall is at least so high, at a level."""
        table = self.counts[label]
        tp, _ = _columns(table)
        dependence = self._dependence(label, lambda clusters: clusters.of_recall(table))
        return tested_in_order(
            _sequence(table)[::-1],  # the recall is highest at low thresholds
            lambda row, share: (
                bool(tp[row] >= least * table.references)
                and share_is_below(
                    1 - least,
                    int(table.references - tp[row]),
                    table.references,
                    float(dependence[row]),
                    share,
                )
            ),
            _starts(table),
            level,
            len(tp),
        )

    def rate_below(self, label: str, limit: float, level: float) -> NDArray[np.bool_]:
        """Return at which operating points there are at most so many false alarms per hour, at a level."""
        table = self.counts[label]
        _, fp = _columns(table)
        dependence = self._dependence(label, lambda clusters: clusters.of_rate(table))
        return tested_in_order(
            _sequence(table),
            lambda row, share: (
                bool(fp[row] <= limit * self.hours)
                and rate_is_below(limit, int(fp[row]), self.hours, float(dependence[row]), share)
            ),
            {0},
            level,
            len(fp),
        )

    def bounds_at(self, label: str, threshold: float) -> tuple[float, float]:
        """Return the lower and the upper bound of the false alarms per hour of a class at a threshold."""
        table = self.counts[label]
        dependence = self._dependence(label, lambda clusters: clusters.of_rate(table))
        row = int(np.count_nonzero(table.scores > threshold)) if len(table.scores) else 0
        return rate_bounds(
            int(table.tally_at(threshold).fp), self.hours, float(dependence[row]), self.confidence
        )

    def total_bounds(self, thresholds: Mapping[str, float]) -> tuple[float, float]:
        """Return the lower and the upper bound of the false alarms per hour of all classes together."""
        if self._clusters is None:
            number = sum(
                int(self.counts[label].tally_at(threshold).fp) for label, threshold in thresholds.items()
            )
            return rate_bounds(number, self.hours, 1.0, self.confidence)
        number, hours, dependence = self._clusters.of_total(thresholds)
        return rate_bounds(number, hours, dependence, self.confidence)

    def _dependence(self, label: str, of: Callable[[_Clusters], FloatArray]) -> FloatArray:
        if self._clusters is None:
            return np.ones(len(self.counts[label].scores) + 1)
        return of(self._clusters)


def _right_as_true(deltas: Deltas) -> Deltas:
    """Return deltas whose true positives are the right detections instead of the references found."""
    right, rows = deltas.tables.right, deltas.tables.detections
    assert right is not None
    false = replace(
        rows, columns=(np.zeros(len(rows.scores), np.int32), rows.columns[1].astype(np.int32))
    )
    true = replace(right, columns=(right.columns[0], np.zeros(len(right.scores), np.int32)))
    return replace(deltas, tables=replace(deltas.tables, detections=DeltaRows.joined([false, true])))


def rate_bounds(number: int, hours: float, dependence: float, confidence: float) -> tuple[float, float]:
    """Return the lower and the upper bound of a rate after so many events."""
    if not hours > 0:
        return 0.0, math.inf
    lower = poisson_lower_limit(math.floor(number / dependence), confidence)
    upper = poisson_upper_limit(math.ceil(number / dependence), confidence)
    return lower * dependence / hours, upper * dependence / hours


def _columns(table: ClassCounts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the true and the false positives, first without detections."""
    return np.concatenate([[0], table.tp]), np.concatenate([[0], table.fp])


def _sequence(table: ClassCounts) -> list[int]:
    """Return the operating points that are tested, from high to low thresholds: far down, 1 of 200.

    Which ones they are does not depend on which detections are right.
    """
    rows = [0]
    while rows[-1] < len(table.scores):
        rows.append(max(rows[-1] + 1, min(math.floor(rows[-1] * _STEP), len(table.scores))))
    return rows


def _starts(table: ClassCounts) -> set[int]:
    """Return the operating points at which tests of a share begin.

    These are numbers of detections per reference, and places of equal distance, for systems whose detections
    merge before there are many. Scores that flicker have most detections where events are in pieces, and far
    fewer below: one start is where the number of detections has fallen by the largest factor before it rises
    again.
    """
    tp, fp = _columns(table)
    sequence = np.array(_sequence(table))
    number = (tp + fp)[sequence]
    reached = np.maximum.accumulate(number)
    at_least = [max(1, math.ceil(share * table.references)) for share in (_FIRST, *_STARTS)]
    first, *places = np.searchsorted(reached, at_least, side="left").tolist()
    places += np.linspace(first, len(sequence), _PLACES, endpoint=False).astype(int).tolist()
    later = np.maximum.accumulate(number[::-1])[::-1]
    places.append(int(np.argmax(np.minimum(reached, later) / np.maximum(number, at_least[0]))))
    return {int(sequence[place]) for place in places if place < len(sequence)} or {int(sequence[-1])}


def tested_in_order(
    rows: Iterable[int],
    rejects: Callable[[int, float], bool],
    starts: set[int],
    level: float,
    number: int,
) -> NDArray[np.bool_]:
    """Test operating points in order, and return which pass.

    The level is shared among the starts. What a test has, it hands on if it passes, and loses if it fails
    (the fallback procedure: Wiens and Dmitrienko, 2005). So the probability that any wrong one passes is at
    most the level.
    """
    passed = np.zeros(number, bool)
    at_hand = 0.0
    for row in rows:
        if row in starts:
            at_hand += level / len(starts)
        if at_hand and rejects(row, at_hand):
            passed[row] = True
        else:
            at_hand = 0.0
    return passed


_BUDGETS = (*np.arange(0, 0.5, 0.1).tolist(), *np.arange(0.5, 1.4, 0.02).tolist())
"""The false alarms of the allocations that are tested, as shares of what the limit allows."""
_SILENT_STEPS = 10
"""In so many steps, all classes are detected."""


def promised_thresholds(
    deltas: Deltas,
    counts: Counts,
    candidates: Mapping[str, NDArray[np.intp]],
    per_hour: float,
    level: float,
    groups: Mapping[str, Hashable] | None,
) -> dict[str, float] | None:
    """Return thresholds whose false alarms together keep a limit on other recordings, at a level.

    Some of the clips say which allocations to classes give the best mean recall within more and more false
    alarms. The other clips test these one after the other, up to the first that fails (fixed-sequence
    testing). So the search does not touch the clips that judge it. It is None if the first one fails.

    ``candidates``: the rows of each class to choose from.
    """
    units = Resampling(groups=groups).units(deltas.clips)
    number = int(units.max(initial=-1)) + 1
    learning = np.random.default_rng(0).permutation(number)[units] < _LEARNING * number
    learnt, judge = deltas.of_clips(learning).counts(), _Clusters(deltas.of_clips(~learning), groups)
    frontiers = {}
    for label, rows in candidates.items():
        scores = np.concatenate([[np.inf], counts[label].scores.astype(np.float64)])[rows]
        places = np.searchsorted(-learnt[label].scores.astype(np.float64), -scores, side="right")
        frontiers[label] = Frontier(learnt[label].tally().rows(places), rows)
    promised: dict[str, float] | None = None
    silent = all(0 in rows for rows in candidates.values())
    for chosen in _allocations(frontiers, silent, per_hour * learnt.hours):
        thresholds = {label: counts[label].threshold(row) for label, row in chosen.items()}
        if not rate_is_below(per_hour, *judge.of_total(thresholds), level):
            break
        promised = thresholds
    return promised


def _allocations(
    frontiers: Mapping[str, Frontier], silent: bool, allowed: float
) -> Iterator[dict[str, int]]:
    """Return allocations with more and more false alarms, each with the best mean recall for its number.

    The first ones detect only some of the classes, without any false alarm: what all classes together do
    without one in the clips that it is learnt on may be too much in others.

    ``silent``: whether classes may be left undetected.
    """
    best_first = sorted(frontiers, key=lambda label: -frontiers[label].recall[0])
    step = max(1, math.ceil(len(frontiers) / _SILENT_STEPS))
    for size in range(1, len(frontiers) if silent else 0, step):
        detected = set(best_first[:size])
        yield {label: int(part.rows[0]) * (label in detected) for label, part in frontiers.items()}
    for budget in dict.fromkeys(math.floor(share * allowed) for share in _BUDGETS):
        if (chosen := allocate(frontiers, budget)) is not None:
            yield chosen


class _Clusters:
    """How much more counts vary from clip to clip, or from group to group, than independent events would."""

    def __init__(self, deltas: Deltas, groups: Mapping[str, Hashable] | None) -> None:
        self._deltas = deltas
        self._units = Resampling(groups=groups).units(deltas.clips)
        self._number = int(self._units.max(initial=-1)) + 1
        self.unit = "a clip" if groups is None else "a group of clips"
        self._hours = self._of_units(deltas.durations / (3600 * TICKS_PER_SECOND))

    def of_total(self, thresholds: Mapping[str, float]) -> tuple[int, float, float]:
        """Return the false positives of all classes together, the hours, and their dependence."""
        of_clips = np.zeros(len(self._units), np.int64)
        rows = self._deltas.tables.detections
        for label, threshold in thresholds.items():
            starts = rows.starts[self._deltas.classes.index(label)]
            active = rows.scores[starts[0] : starts[-1]].astype(np.float64) > threshold
            changes = np.where(active, rows.columns[1][starts[0] : starts[-1]], 0)
            of_clips += np.diff(
                np.concatenate([[0], np.cumsum(changes, dtype=np.int64)])[starts - starts[0]]
            )
        number, hours = int(of_clips.sum()), float(self._hours.sum())
        expected = number * self._hours / max(hours, 1e-300)
        spread = np.sum((self._of_units(of_clips) - expected) ** 2)
        return number, hours, float(self._ratio(np.array([spread]), np.array([float(number)]))[0])

    def of_rate(self, table: ClassCounts) -> FloatArray:
        """Return the dependence of false positives, for each operating point."""
        _, fp = _columns(table)
        sums = self._sums(table, self._hours)
        rate = fp / max(float(self._hours.sum()), 1e-300)
        spread = sums["ff"] - 2 * rate * sums["fx"] + rate**2 * float(np.sum(self._hours**2))
        return self._ratio(spread, fp.astype(np.float64))

    def of_precision(self, table: ClassCounts) -> FloatArray:
        """Return the dependence of whether detections are right, for each operating point."""
        tp, fp = _columns(table)
        sums = self._sums(table, self._hours)
        share = tp / np.maximum(tp + fp, 1)
        spread = (
            (1 - share) ** 2 * sums["tt"] - 2 * share * (1 - share) * sums["tf"] + share**2 * sums["ff"]
        )
        return self._ratio(spread, (tp + fp) * share * (1 - share))

    def of_recall(self, table: ClassCounts) -> FloatArray:
        """Return the dependence of whether references are found, for each operating point."""
        rows = self._deltas.tables.references
        clips = rows.clips[rows.labels == self._deltas.classes.index(table.label)]
        references = self._of_units(np.bincount(clips, minlength=len(self._units)))
        tp, _ = _columns(table)
        sums = self._sums(table, references)
        share = tp / max(table.references, 1)
        spread = sums["tt"] - 2 * share * sums["tx"] + share**2 * float(np.sum(references**2))
        return self._ratio(spread, table.references * share * (1 - share))

    def _ratio(self, spread: FloatArray, independent: FloatArray) -> FloatArray:
        """Return at least 1: events that seem to avoid each other are taken as independent."""
        correction = self._number / max(self._number - 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(independent > 0, correction * spread / independent, 1.0)
        return np.maximum(ratio, 1.0)

    def _of_units(self, values: NDArray[Any]) -> FloatArray:
        return np.bincount(self._units, weights=values, minlength=self._number).astype(np.float64)

    def _sums(self, table: ClassCounts, values: FloatArray) -> dict[str, FloatArray]:
        """Return the sums over units of products of tp (t), fp (f) and some values (x), at each point."""
        rows = self._deltas.tables.detections
        c = self._deltas.classes.index(table.label)
        bounds = rows.starts[c]
        of_class = slice(bounds[0], bounds[-1])
        units = np.repeat(self._units, np.diff(bounds))
        scores = rows.scores[of_class]
        order = np.lexsort((-scores, units))
        units, scores = units[order], scores[order]
        after: list[FloatArray] = []
        before: list[FloatArray] = []
        for column in rows.columns[:2]:
            changes = column[of_class][order].astype(np.float64)
            total = np.concatenate([[0.0], np.cumsum(changes)])
            at_start = total[np.searchsorted(units, units, side="left")]
            after.append(total[1:] - at_start)
            before.append(total[:-1] - at_start)
        (t, f), (t0, f0) = after, before
        place = np.searchsorted(-table.scores, -scores, side="left")
        x = values[units]
        changes_of: dict[str, FloatArray] = {
            "tt": t * t - t0 * t0,
            "tf": t * f - t0 * f0,
            "ff": f * f - f0 * f0,
            "tx": (t - t0) * x,
            "fx": (f - f0) * x,
        }
        size = len(table.scores) + 1
        return {
            name: np.concatenate([[0.0], np.cumsum(np.bincount(place, changes, size)[:-1])])
            for name, changes in changes_of.items()
        }
