"""Values of systems and their differences, each with its interval and its p value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..counting.tally import PRECISION, differences
from ..data.arrays import FloatArray
from ..data.choices import machine_memory
from ..metrics import Metric
from ..resampling.draws import Draws
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampling import MOST_RESAMPLES, Resampling

FEWEST_RESAMPLES = 1000
"""The number of resamples of a comparison, if no more are needed."""


def p_value(value: float, resampled: FloatArray) -> float:
    """Return twice the share of resamples that are not on the same side of 0 as the difference itself.

    The set as it is counts as one resample more, so the result is never 0.

    >>> p_value(0.2, np.full(39, 0.1)), p_value(0.2, np.array([0.1, 0.3, -0.1]))
    (0.05, 1.0)
    """
    defined = resampled[np.isfinite(resampled)]
    if not len(defined) or np.isnan(value):
        return np.nan
    elsewhere = int(np.count_nonzero(defined <= 0 if value > 0 else defined >= 0))
    return 1.0 if value == 0 else min(1.0, 2 * (1 + elsewhere) / (1 + len(defined)))


def smallest_p(resampled: FloatArray) -> float:
    """Return the smallest p value that the resamples allow."""
    return 2 / (1 + int(np.count_nonzero(np.isfinite(resampled))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number (Holm): the smallest times n, the next times n − 1, …

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    order = np.argsort(p_values)  # NaN last
    corrected = np.full(len(p_values), np.nan)
    defined = int(np.count_nonzero(~np.isnan(p_values)))
    largest = 0.0
    for rank, i in enumerate(order[:defined]):
        largest = max(largest, min(1.0, (defined - rank) * p_values[i]))
        corrected[i] = largest
    return [float(p) for p in corrected]


def level_of(confidence: float) -> float:
    """Return the largest p value that is significant.

    >>> level_of(0.95), level_of(0.9)
    (0.05, 0.1)
    """
    return round(1 - confidence, 12) or 1 - confidence


def is_significant(p: float, level: float) -> bool:
    """Return whether a p value is at most the level, as far as the precision of floats goes."""
    return p <= level * (1 + PRECISION)


def resamples_needed(pairs: int, confidence: float) -> int:
    """Return how many resamples allow a p value that is significant after the correction for all pairs.

    >>> resamples_needed(1, 0.95), resamples_needed(276, 0.95)
    (39, 11039)
    """
    return math.ceil(2 * pairs / level_of(confidence) * (1 - PRECISION)) - 1


def affordable_resamples(bytes_of_a_resample: int) -> int:
    """Return how many resamples fit into a quarter of the memory, the most that is taken unasked."""
    return int(min(MOST_RESAMPLES, machine_memory() / 4 / bytes_of_a_resample))


def automatic_resamples(pairs: int, confidence: float, most: int) -> int:
    """Return how many resamples to draw: as many thousands as are needed, at most ``most`` beyond the first.

    >>> [automatic_resamples(pairs, 0.95, most=10**6) for pairs in (1, 25, 45, 276)]
    [1000, 1000, 2000, 12000]
    """
    thousands = math.ceil(resamples_needed(pairs, confidence) / 1000) * 1000
    return max(FEWEST_RESAMPLES, min(thousands, most))


def p_text(p: float, level: float, *, at_most: bool) -> str:
    """Return a p value as all tables show it.

    It has three decimals, or as many as show on which side of the level it is. ``at_most``: no resample
    is on the other side of 0, so the p value may be smaller; it is rounded up.

    >>> p_text(2 / 1001, 0.05, at_most=True), p_text(0.0312, 0.05, at_most=False)
    ('≤ 0.002', '0.031')
    >>> p_text(0.0504, 0.05, at_most=False), p_text(0.0004, 0.05, at_most=False)
    ('0.0504', '< 0.001')
    """
    if np.isnan(p):
        return "nan"
    if p < 0.001 and not at_most:
        return "< 0.001"
    for digits in range(3, 18):
        scale = 10**digits
        # rounding up leaves out the error of the floats, e.g. of 2 / 1000
        shown = math.ceil(p * scale * (1 - PRECISION)) / scale if at_most else round(p, digits)
        if is_significant(shown, level) == is_significant(p, level):
            break
    return f"{'≤ ' if at_most else ''}{shown:.{digits}f}"


@dataclass(frozen=True, eq=False, repr=False)
class SystemValue(Bootstrap):
    """A metric of a system: the mean over its runs, with its interval from resampling.

    Attributes
    ----------
    runs : tuple of float
        The value of each run; empty for a published value, which has no interval either.
    """

    runs: tuple[float, ...]

    @classmethod
    def as_published(cls, value: float, resampling: Resampling) -> SystemValue:
        """Return a value that others published. Nothing is known of the classes."""
        return cls(value, np.nan, np.nan, np.empty(0), {}, resampling, runs=())

    @property
    def spread(self) -> float:
        """The standard deviation between runs; NaN for a single run."""
        with np.errstate(invalid="ignore"):  # infinite values have no deviation
            return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Interval):
    """The value of the later system minus that of the earlier one, in the same resamples.

    Attributes
    ----------
    p : float
        The two-sided p value: twice the share of resamples in which the difference is not on its side
        of 0.
    higher_is_better : bool
        Whether a larger value is a better one.
    level : float
        The largest p value that counts as significant, 1 − confidence.
    """

    p: float
    higher_is_better: bool
    level: float

    @property
    def verdict(self) -> int:
        """1 if the later system is better, −1 if it is worse, 0 if the p value is above the level."""
        if not is_significant(self._decisive_p, self.level):
            return 0
        return 1 if (self.value > 0) == self.higher_is_better else -1

    @property
    def p_text(self) -> str:
        """The p value that decides the verdict, as text. It has "≤" if more resamples could make it
        smaller, because none is on the other side of 0."""
        at_most = self.p <= smallest_p(self.values)
        return p_text(self._decisive_p, self.level, at_most=at_most)

    @property
    def _decisive_p(self) -> float:
        return self.p


@dataclass(frozen=True, eq=False, repr=False)
class PairDifference(Difference):
    """The difference between two systems over all classes, and for each class.

    Attributes
    ----------
    p_corrected : float
        The p value, corrected for the number of pairs of systems (Holm, 1979). It decides the verdict.
    per_class : mapping of str to Difference
        The difference for each class alone.
    """

    p_corrected: float
    per_class: Mapping[str, Difference]

    @property
    def wins(self) -> int:
        """The number of classes in which the later system is better by more than the noise."""
        return sum(of_class.verdict > 0 for of_class in self.per_class.values())

    @property
    def losses(self) -> int:
        """The number of classes in which the later system is worse by more than the noise."""
        return sum(of_class.verdict < 0 for of_class in self.per_class.values())

    @property
    def _decisive_p(self) -> float:
        return self.p_corrected


def system_value(draws: Draws, classes: Sequence[str], runs: Sequence[FloatArray]) -> SystemValue:
    """Return the mean over the runs of a system, with its interval."""
    mean = draws.summary(classes, _mean(runs))
    return SystemValue(
        value=mean.value,
        low=mean.low,
        high=mean.high,
        values=mean.values,
        per_class=mean.per_class,
        resampling=mean.resampling,
        runs=tuple(float(run[0, 0]) for run in runs),
    )


def paired_differences(
    draws: Draws,
    metric: Metric[Any],
    classes: Sequence[str],
    measured: Mapping[str, Sequence[FloatArray]],
    published: Mapping[str, float],
    order: Sequence[str],
) -> dict[tuple[str, str], PairDifference]:
    """Return the differences of all pairs, the later system minus the earlier one.

    Published values are the same in every resample, and not compared with each other. They have no classes.
    """
    means = {name: _mean(runs) for name, runs in measured.items()}
    means |= {name: np.full((len(draws.weights), 1), value) for name, value in published.items()}
    pairs = [
        (later, earlier)
        for earlier, later in combinations(order, 2)
        if not (later in published and earlier in published)
    ]
    intervals = []
    for later, earlier in pairs:
        columns = 1 if {later, earlier} & published.keys() else 1 + len(classes)
        values = differences(means[later][:, :columns], means[earlier][:, :columns])
        intervals.append(draws.summary(classes[: columns - 1], values))
    corrected = holm([p_value(interval.value, interval.values) for interval in intervals])
    level = level_of(draws.resampling.confidence)

    def fields(interval: Interval) -> dict[str, Any]:
        return {
            "value": interval.value,
            "low": interval.low,
            "high": interval.high,
            "values": interval.values,
            "p": p_value(interval.value, interval.values),
            "higher_is_better": metric.higher_is_better,
            "level": level,
        }

    return {
        pair: PairDifference(
            **fields(interval),
            p_corrected=p,
            per_class={
                label: Difference(**fields(of_class)) for label, of_class in interval.per_class.items()
            },
        )
        for pair, interval, p in zip(pairs, intervals, corrected, strict=True)
    }


def _mean(runs: Sequence[FloatArray]) -> FloatArray:
    with np.errstate(invalid="ignore"):  # opposite infinities have no mean
        mean: FloatArray = np.mean(runs, axis=0)
    return mean
