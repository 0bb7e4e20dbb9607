"""Values of systems and their differences, each with its interval and its p value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..counting.tally import differences
from ..data.arrays import FloatArray
from ..metrics import Metric
from ..resampling.draws import Draws, mean_of_classes
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampling import Resampling
from ..resampling.subsampling import Behaviour
from ..results.text import picked
from .significance import PValue, SwappedDifferences, is_significant, level_of, p_text, step_down

_ENDS = ("value", "low", "high", "values")


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
        The two-sided p value: the share of resamples in which the difference is as far from what was
        measured as this is from 0.
    p_least : float
        The smallest p value that so many resamples allow.
    higher_is_better : bool
        Whether a larger value is a better one.
    level : float
        The largest p value that counts as significant, 1 − confidence.
    """

    p: float
    p_least: float
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
        smaller."""
        p = self._decisive_p
        return p_text(p, self.level, at_most=p <= self.p_least)

    @property
    def _decisive_p(self) -> float:
        return self.p


@dataclass(frozen=True, eq=False, repr=False)
class PairDifference(Difference):
    """The difference between two systems over all classes, and for each class.

    Attributes
    ----------
    p_corrected : float
        The p value, corrected for the number of pairs of systems by the largest difference of each
        resample (Westfall and Young, 1993). It decides the verdict.
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


def system_value(
    draws: Draws, metric: Metric[Any], classes: Sequence[str], runs: Sequence[FloatArray]
) -> SystemValue:
    """Return the mean over the runs of a system, with its interval."""
    mean = draws.summary(classes, _mean(runs), Behaviour.of(metric))
    of_mean = picked(mean, *_ENDS, "per_class", "resampling")
    return SystemValue(**of_mean, runs=tuple(float(run[0, 0]) for run in runs))


def paired_differences(
    draws: Draws,
    metric: Metric[Any],
    classes: Sequence[str],
    measured: Mapping[str, Sequence[FloatArray]],
    published: Mapping[str, float],
    order: Sequence[str],
    swapped: SwappedDifferences | None = None,
) -> dict[tuple[str, str], PairDifference]:
    """Return the differences of all pairs, the later system minus the earlier one.

    Published values are the same in every resample, and not compared with each other. They have no classes.
    ``swapped``: what swaps systems at random for the p values, which otherwise come from the resamples.
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
        behaviour = Behaviour.of(metric).difference(published.get(earlier), published.get(later))
        mean = None
        if behaviour.costs_spread:  # a published value has no classes
            mean = differences(*(_mean_of_classes(means[name]) for name in (later, earlier)))
        intervals.append(draws.summary(classes[: columns - 1], values, behaviour, mean))
    level = level_of(draws.resampling.confidence)

    def fields(interval: Interval, p: PValue) -> dict[str, Any]:
        judged = {"higher_is_better": metric.higher_is_better, "level": level}
        return {**picked(interval, *_ENDS), "p": p.alone, "p_least": p.least, **judged}

    swaps = [None if swapped is None else swapped(metric, *pair) for pair in pairs]

    def noise(i: int, column: int, interval: Interval) -> FloatArray:
        of_pair = swaps[i]
        return differences(interval.values, interval.value) if of_pair is None else of_pair[:, column]

    def p_of_class(i: int, number: int, interval: Interval) -> PValue:
        return step_down([interval.value], lambda _: noise(i, 1 + number, interval))[0]

    p_values = step_down([interval.value for interval in intervals], lambda i: noise(i, 0, intervals[i]))
    return {
        pair: PairDifference(
            **fields(interval, p),
            p_corrected=p.corrected,
            per_class={
                label: Difference(**fields(of_class, p_of_class(i, number, of_class)))
                for number, (label, of_class) in enumerate(interval.per_class.items())
            },
        )
        for i, (pair, interval, p) in enumerate(zip(pairs, intervals, p_values, strict=True))
    }


def _mean_of_classes(values: FloatArray) -> FloatArray:
    """Return the mean over the classes; 0 for a published value."""
    return mean_of_classes(values[:, 1:]) if values.shape[1] > 1 else np.zeros(len(values))


def _mean(runs: Sequence[FloatArray]) -> FloatArray:
    with np.errstate(invalid="ignore"):  # opposite infinities have no mean
        mean: FloatArray = np.mean(runs, axis=0)
    return mean
