"""Upper bounds of false alarms per hour: what a set of clips can promise about other recordings."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..counting.tally import most_false_positives
from ..data.arrays import IntArray, ScoreArray
from ..data.times import TICKS_PER_SECOND
from ..errors import SedscopeError
from ..resampling.intervals import FEW
from ..resampling.resampling import Resampling, refuse_blocks

_NEGLIGIBLE = 1e-18  # a term this small beside the sum changes nothing
_PRECISION = 1e-11  # more than rounding changes a probability, as a share of it


def poisson_at_most(number: int, mean: float) -> float:
    """Return the probability of at most ``number`` events, where ``mean`` are expected.

    >>> round(poisson_at_most(0, 3.0), 6), round(poisson_at_most(2, 3.0), 6)
    (0.049787, 0.42319)
    """
    if number < 0:
        return 0.0
    if mean == 0:
        return 1.0
    nearest = min(number, math.floor(mean))  # the most probable term of the sum
    largest = math.exp(nearest * math.log(mean) - mean - math.lgamma(nearest + 1))
    total = term = largest
    for i in range(nearest, 0, -1):
        term *= i / mean
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    term = largest
    for i in range(nearest + 1, number + 1):
        term *= mean / i
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    return min(1.0, total)


def poisson_upper_limit(number: int, confidence: float) -> float:
    """Return the exact upper limit of the mean of a Poisson distribution, after ``number`` events.

    It is the mean at which so few events have the probability 1 − confidence: half the quantile of the
    chi-square distribution with 2 (number + 1) degrees of freedom (Garwood, 1936).

    >>> round(poisson_upper_limit(0, 0.95), 4), round(poisson_upper_limit(10, 0.95), 4)
    (2.9957, 16.9622)
    """
    tail = 1 - confidence
    if number == 0:
        return -math.log(tail)
    low, high = 0.0, number + 1.0
    while poisson_at_most(number, high) > tail:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if poisson_at_most(number, middle) > tail:
            low = middle
        else:
            high = middle
    return high


def poisson_lower_limit(number: int, confidence: float) -> float:
    """Return the exact lower limit of the mean of a Poisson distribution, after ``number`` events.

    It is the mean at which so many events have the probability 1 − confidence.

    >>> poisson_lower_limit(0, 0.95), round(poisson_lower_limit(10, 0.95), 4)
    (0.0, 5.4254)
    """
    return poisson_upper_limit(number - 1, 1 - confidence) if number else 0.0


def most_events_below(mean: float, confidence: float) -> int:
    """Return the largest number of events whose upper limit is at most ``mean``; -1 if there is none.

    >>> [most_events_below(mean, 0.95) for mean in (2.99, 3, 4.8, 17)]
    [-1, 0, 1, 10]
    """
    tail = (1 - confidence) * (1 + _PRECISION)

    def too_many(number: int) -> bool:
        return poisson_at_most(number, mean) > tail

    if too_many(0):
        return -1
    low, high = 0, 1
    while not too_many(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if too_many(middle) else (middle, high)
    return low


_TICKS_PER_HOUR = 3600 * TICKS_PER_SECOND
_ROWS_AT_ONCE = 1024  # of deltas, times the resamples


@dataclass(frozen=True)
class FalseAlarmBound:
    """The false alarms per hour of a class at a threshold, and their bounds.

    Attributes
    ----------
    per_hour : float
        The false alarms per hour of the clips.
    poisson : float
        The exact Poisson limit.
    resampled : float or None
        The bound from resampling the clips; None if they were not resampled.
    lower : float
        The exact Poisson limit on the other side, with the same confidence.
    """

    per_hour: float
    poisson: float
    resampled: float | None = None
    lower: float = 0.0

    @property
    def upper(self) -> float:
        """The larger bound."""
        return self.poisson if self.resampled is None else max(self.poisson, self.resampled)


class FalseAlarmBounds:
    """Upper bounds of the false alarms per hour of each class, at any threshold."""

    def __init__(
        self,
        counts: Counts,
        confidence: float,
        deltas: Deltas | None = None,
        resampling: Resampling | None = None,
    ) -> None:
        """``deltas``: of the same clips, to resample them."""
        if deltas is None and resampling is not None:
            raise SedscopeError("Counts cannot be resampled. Choose from the deltas instead.")
        self.counts = counts
        self.confidence = confidence
        self.hours = counts.hours
        self._resamples: _Resamples | None = None
        if deltas is not None:
            drawn = resampling or Resampling()
            refuse_blocks(drawn)
            # enough for the quantile that is read
            drawn = replace(drawn, n=max(drawn.number, math.ceil(50 / (1 - confidence))))
            if int(drawn.units(deltas.clips).max(initial=-1)) + 1 >= FEW:
                self._resamples = _Resamples(deltas, drawn, confidence)

    def about(self) -> str:
        """Describe the bounds in one sentence."""
        sure = f"{self.confidence * 100:g} % confidence for each class"
        if self._resamples is None:
            return f"The upper bounds hold with {sure}: exact Poisson limits."
        return (
            f"The upper bounds hold with {sure}: the larger of the exact Poisson limit and the quantile of "
            f"{self._resamples.resampling.resamples()}."
        )

    def meet(self, label: str, per_hour: float) -> NDArray[np.bool_]:
        """Return which operating points of a class keep a limit with confidence.

        There is one value for each row of the tally, the one without detections first.
        """
        counts = self.counts[label]
        false_positives = np.asarray(counts.tally().fp)
        met: NDArray[np.bool_] = false_positives <= self._most(per_hour, int(false_positives.max()))
        if self._resamples is not None and met[1:].any():
            rows = int(np.flatnonzero(met[1:])[-1]) + 1  # there is nothing to look for below
            met[1 : 1 + rows] &= self._resamples.meet(label, per_hour, counts.scores[:rows])
        return met

    def _most(self, per_hour: float, largest: int) -> int:
        """Return how many false alarms keep a limit with confidence. More than ``largest`` do not occur."""
        if self.hours <= 0:
            return -1
        limit = per_hour * self.hours
        if poisson_upper_limit(largest, self.confidence) <= limit:
            return largest
        return most_events_below(limit, self.confidence)

    def at(self, label: str, threshold: float) -> FalseAlarmBound:
        """Return the bound of a class at a threshold, by itself."""
        tally = self.counts[label].tally_at(threshold)
        false_alarms = int(tally.fp)
        per_hour = 1 / self.hours if self.hours > 0 else np.nan
        return FalseAlarmBound(
            float(tally.false_alarms_per_hour(self.hours)),
            poisson_upper_limit(false_alarms, self.confidence) * per_hour,
            None if self._resamples is None else self._resamples.bound(label, threshold),
            poisson_lower_limit(false_alarms, self.confidence) * per_hour,
        )


def hours_without_false_alarms(per_hour: float, confidence: float) -> float:
    """Return how many hours without any false alarm keep a limit with confidence.

    >>> round(hours_without_false_alarms(0.1, 0.95), 2)
    29.96
    """
    return poisson_upper_limit(0, confidence) / per_hour if per_hour else math.inf


class _Resamples:
    """The false alarms of resampled clips."""

    def __init__(self, deltas: Deltas, resampling: Resampling, confidence: float) -> None:
        self.resampling = resampling
        self._deltas = deltas
        self._weights = resampling.draw(deltas.clips)
        self._ticks: IntArray = self._weights.astype(np.int64) @ deltas.durations
        # of the resamples in order, the one that is the bound; with one more resample beyond all others
        share = Fraction(str(confidence)) * (len(self._weights) + 1)
        self._bound = math.ceil(share) - 1

    def meet(self, label: str, per_hour: float, points: ScoreArray) -> NDArray[np.bool_]:
        """Return at which of some decreasing scores the bound of a class keeps a limit."""
        scores, clips, changes = self._false_alarms(label)
        order = np.argsort(-scores, kind="stable")
        clips, changes = clips[order], changes[order]
        ends = np.searchsorted(
            -scores[order], -points, side="right"
        )  # the changes at each of the points
        durations, which = np.unique(self._ticks, return_inverse=True)
        hours = (durations / _TICKS_PER_HOUR).tolist()
        allowed = np.array([most_false_positives(per_hour, number) for number in hours])[which]
        exceeding = np.empty(ends[-1], np.int64)  # the resamples with too many, after each change
        so_far = np.zeros((len(allowed), 1), np.int64)
        for start in range(0, len(exceeding), _ROWS_AT_ONCE):
            rows = slice(start, min(start + _ROWS_AT_ONCE, len(exceeding)))
            sums = so_far + np.cumsum(self._weights[:, clips[rows]] * changes[rows], axis=1)
            exceeding[rows] = np.count_nonzero(sums > allowed[:, None], axis=0)
            so_far = sums[:, -1:]
        return exceeding[ends - 1] < len(allowed) - self._bound

    def bound(self, label: str, threshold: float) -> float:
        """Return the bound of the false alarms per hour of a class at a threshold."""
        scores, clips, changes = self._false_alarms(label)
        active = scores.astype(np.float64) > threshold
        per_clip = np.zeros(len(self._deltas.clips), np.int64)
        np.add.at(per_clip, clips[active], changes[active])
        false_alarms = self._weights.astype(np.int64) @ per_clip
        rates = np.sort(false_alarms * float(_TICKS_PER_HOUR) / self._ticks)
        return float(rates[self._bound])

    def _false_alarms(self, label: str) -> tuple[ScoreArray, NDArray[np.intp], IntArray]:
        """Return the score, the clip and the change of each delta of a class."""
        rows = self._deltas.tables.detections
        starts = rows.starts[self._deltas.classes.index(label)]
        clips = np.repeat(np.arange(len(self._deltas.clips)), np.diff(starts))
        of_class = slice(starts[0], starts[-1])
        return rows.scores[of_class], clips, rows.columns[1][of_class].astype(np.int64)
