"""Values of systems and their differences, each with its interval and its p value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..resampling.intervals import Bootstrap, Interval
from .p_values import is_significant, p_text, smallest_p


@dataclass(frozen=True, eq=False, repr=False)
class SystemValue(Bootstrap):
    """A metric of a system: the mean over its runs, with its interval from resampling.

    Attributes
    ----------
    runs : tuple of float
        The value of each run.
    """

    runs: tuple[float, ...]

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
