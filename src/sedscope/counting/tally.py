"""A tally: the counts at one operating point, or at many, and the quantities that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..criteria.criterion import as_share
from ..data.arrays import FloatArray
from ..data.times import TICKS_PER_SECOND
from ..definitions import definition
from ..errors import SedscopeError

Number: TypeAlias = "int | float | NDArray[Any]"


def _ratio(part: Number, whole: Number, otherwise: float) -> Any:
    """Return ``part / whole``, and ``otherwise`` where the whole is 0."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(whole > 0, part / whole, otherwise)
    return ratio if ratio.ndim else float(ratio)


_ROUNDING = 4e-15  # more than rounding errors can add up to, as a share of a value
_ROUNDING_OF_SUMS = 1e-12  # the same for areas and means, which are sums of many values

PRECISION = 2.0**-50
"""A rate meets a limit if it is at most this share beyond it, which is the precision of the numbers."""


def hours_per(unit: str) -> int:
    """Return the hours of a unit of recording time, ``"hour"`` or ``"day"``."""
    hours = {"hour": 1, "day": 24}
    if unit not in hours:
        raise SedscopeError(f"per={unit!r} is not a unit of recording time. Choose 'hour' or 'day'.")
    return hours[unit]


def rate_text(limit: float, per: str) -> str:
    """Spell a rate of false alarms.

    >>> rate_text(1.0, "day"), rate_text(0.5, "hour")
    ('1 false alarm per day', '0.5 false alarms per hour')
    """
    return f"{definition(limit)} {'false alarm' if limit == 1 else 'false alarms'} per {per}"


def most_false_positives(limit: float, hours: float, per: str = "hour") -> int:
    """Return how many false positives a limit per hour or day allows; -1 without a duration.

    >>> most_false_positives(720, 65 / 3600), most_false_positives(0.29, 100)
    (13, 29)
    >>> most_false_positives(1, 71, "day")
    2
    """
    if not hours > 0:
        return -1
    rate = Fraction(float(limit)) / hours_per(per)
    return math.floor(rate * Fraction(hours) * (1 + Fraction(PRECISION)))


def first_best_row(values: FloatArray, exact: Callable[[int], Fraction]) -> int:
    """Return the first row with the largest value.

    Values that differ by no more than rounding errors are compared by what ``exact`` returns for their rows.
    """
    best = int(np.argmax(values))
    highest = values[best]
    near = np.flatnonzero(values >= highest - _ROUNDING * abs(highest))
    if not highest or len(near) <= 1:  # zero is exact
        return best
    rows: list[int] = near.tolist()
    return max(rows, key=exact)


def exceed(values: Any, others: Any) -> Any:
    """Return which measured values are larger than others by more than rounding errors.

    >>> exceed(np.array([0.1 + 0.2, 0.4, np.inf]), np.array([0.3, 0.3, np.inf])).tolist()
    [False, True, False]
    """
    return values > np.maximum(others * (1 + _ROUNDING_OF_SUMS), others * (1 - _ROUNDING_OF_SUMS))


def differences(values: Any, others: Any) -> FloatArray:
    """Subtract measured values. Values that differ by rounding errors, and equal infinities, give 0."""
    differ = exceed(values, others) | exceed(others, values) | np.isnan(values) | np.isnan(others)
    with np.errstate(invalid="ignore"):  # equal infinities
        return np.where(differ, values - others, 0.0)


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts at one operating point, or arrays of them over several. Those of a criterion that measures
    time are microseconds.

    Rates that are not defined are NaN: recall without references, and rates of false positives without
    negatives.
    """

    tp: Number
    """References found."""
    fp: Number
    """False detections."""
    references: int
    trials: int | None = None
    """The number of segments judged, or the time; None for criteria about events."""
    pairs: Number | None = None
    """The number of pairs regardless of label; None if they were not counted."""
    right: Number | None = None
    """Right detections, of criteria that count them apart from the references found; None for others."""

    @property
    def fn(self) -> Any:
        """References missed: deletions."""
        return self.references - self.tp

    @property
    def precision(self) -> Any:
        """The share of detections that are true; 1 without detections.

        Where right detections are not counted, each reference found stands for one of them.
        """
        return _ratio(self.tp if self.right is None else self.right, self.detected, 1.0)

    @property
    def recall(self) -> Any:
        """The share of references that are found: sensitivity, true positive rate."""
        return _ratio(self.tp, self.references, np.nan)

    def fscore(self, beta: float = 1.0) -> Any:
        """Return the weighted harmonic mean of precision and recall; 0 where nothing is found."""
        weight = beta * beta
        if self.right is not None:
            detections, right, tp = (
                np.asarray(n, np.float64) for n in (self.detected, self.right, self.tp)
            )
            whole = weight * self.references * right + tp * detections
            return _ratio((1 + weight) * right * tp, whole, 0.0 if self.references else np.nan)
        whole = (1 + weight) * self.tp + weight * self.fn + self.fp
        return _ratio((1 + weight) * self.tp, whole, 0.0 if self.references else np.nan)

    def exact_fscore(self, row: int, beta: float) -> Fraction:
        """Return the F-score at an operating point without rounding. ``beta`` is taken as it is written."""
        weight = Fraction(*as_share(beta)) ** 2
        tp, fp = (int(np.asarray(column)[row]) for column in (self.tp, self.fp))
        if self.right is not None:
            right = int(np.asarray(self.right)[row])
            whole = weight * self.references * right + tp * (right + fp)
            return (1 + weight) * right * tp / whole if whole else Fraction(0)
        return (1 + weight) * tp / (tp + weight * self.references + fp)

    def exact_cost(self, row: int, of_miss: Fraction, of_false_alarm: Fraction) -> Fraction:
        """Return the cost of an operating point without rounding."""
        return of_miss * int(self.fn[row]) + of_false_alarm * int(np.asarray(self.fp)[row])

    @property
    def detected(self) -> Any:
        """Detections that are right or false; where right ones are not counted, references found stand for
        them."""
        return (self.tp if self.right is None else self.right) + self.fp

    @property
    def substitutions(self) -> Any:
        """Pairs of a missed reference and a false detection that differ only in their label."""
        return 0 if self.pairs is None else self.pairs - self.tp

    @property
    def substitution_rate(self) -> Any:
        """Substitutions per reference."""
        return _ratio(self.substitutions, self.references, np.nan)

    @property
    def deletion_rate(self) -> Any:
        """Missed references that are not substitutions, per reference."""
        return _ratio(self.fn - self.substitutions, self.references, np.nan)

    @property
    def insertion_rate(self) -> Any:
        """False detections that are not substitutions, per reference."""
        return _ratio(self.fp - self.substitutions, self.references, np.nan)

    @property
    def error_rate(self) -> Any:
        """Substitutions, deletions and insertions per reference."""
        return _ratio(self.fn + self.fp - self.substitutions, self.references, np.nan)

    @property
    def negatives(self) -> int:
        """The number of segments without the class, or the time without it."""
        if self.trials is None:
            raise SedscopeError("Only Segment, Clip and Time count true negatives.")
        return self.trials - self.references

    @property
    def fpr(self) -> Any:
        """The share of false positives among the negatives."""
        return _ratio(self.fp, self.negatives, np.nan)

    @property
    def specificity(self) -> Any:
        """The share of the negatives that are not false positives."""
        return 1 - self.fpr

    @property
    def miss_rate(self) -> Any:
        """The share of references that is not found."""
        return _ratio(self.fn, self.references, np.nan)

    @property
    def accuracy(self) -> Any:
        """The share of segments, or of time, that is judged rightly."""
        return _ratio(self.tp + (self.negatives - self.fp), self.references + self.negatives, np.nan)

    @property
    def balanced_accuracy(self) -> Any:
        """The mean of sensitivity and specificity."""
        return (self.recall + self.specificity) / 2

    def false_alarms_per_hour(self, hours: float) -> Any:
        """Return the false positives per hour of recording, rounded once: a duration is whole microseconds.

        >>> Tally(tp=0, fp=3, references=0).false_alarms_per_hour(6 / 3600)
        1800.0
        """
        ticks_per_hour = 3600 * TICKS_PER_SECOND
        return _ratio(self.fp * float(ticks_per_hour), round(hours * ticks_per_hour), np.nan)

    def rows(self, rows: NDArray[np.intp]) -> Tally:
        """Return some of the operating points."""
        return self._of_columns(lambda column: column[rows])

    def __getitem__(self, row: int) -> Tally:
        """Return one of the operating points."""
        return self._of_columns(lambda column: int(column[row]))

    def _of_columns(self, change: Callable[[NDArray[Any]], Any]) -> Tally:
        """Return a tally of what a function makes of each column."""
        columns: list[Any] = [self.tp, self.fp, self.pairs, self.right]
        changed: list[Any] = [None if column is None else change(column) for column in columns]
        tp, fp, pairs, right = changed
        return Tally(tp, fp, self.references, self.trials, pairs, right)

    def __add__(self, other: Tally) -> Tally:
        """Return the counts of two classes together."""
        trials = None if self.trials is None or other.trials is None else self.trials + other.trials
        right = None if self.right is None or other.right is None else self.right + other.right
        return Tally(
            self.tp + other.tp,
            self.fp + other.fp,
            self.references + other.references,
            trials,
            right=right,
        )


def first_minimum_of_runs(runs: NDArray[Any], costs: NDArray[Any]) -> NDArray[np.intp]:
    """Return, for each run of consecutive equal values, the index of its first smallest cost.

    >>> first_minimum_of_runs(np.array([0, 0, 1, 1, 1, 0]), np.array([5, 4, 2, 1, 1, 9])).tolist()
    [1, 3, 5]
    """
    number: type[Any] = np.float64 if costs.dtype.kind == "f" else np.int64
    return _native.first_minima_of_runs(
        np.ascontiguousarray(runs, np.int64), np.ascontiguousarray(costs, number)
    )


def last_of_runs(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the index of the last element of each run of consecutive equal values.

    >>> last_of_runs(np.array([0.9, 0.5, 0.5, 0.1])).tolist()
    [0, 2, 3]
    """
    return np.flatnonzero(np.append(values[1:] != values[:-1], True)[: len(values)])
