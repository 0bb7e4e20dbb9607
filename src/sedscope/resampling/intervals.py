"""Intervals: how far a value may be from what other clips would give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import FloatArray

if TYPE_CHECKING:
    from .resampling import Resampling

FEW = 10
"""With fewer clips or groups of clips, intervals are rough."""


@dataclass(frozen=True, eq=False)
class Interval:
    """A value with its interval from resampling.

    Attributes
    ----------
    value, low, high : float
        The value, and the ends of its interval.
    values : array
        The value of each resample; NaN where it is not defined.
    subsets : array
        The value of each subset of the clips that the ends come from: halves and quarters, or all but one.
    exact : {"binomial", "Poisson"} or None
        The distribution whose exact limits the ends are, because the resamples do not differ.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> psds = sed.PSDS(sed.Intersection(0.7, 0.7))
    >>> deltas = sed.deltas(sed.simulate.scores(truth), truth, psds.criterion)
    >>> sed.bootstrap(deltas, psds, 200).per_class["Speech"]
    <Interval: 0.4309 (0.0000–0.7416)>
    """

    value: float
    low: float
    high: float
    values: FloatArray
    subsets: FloatArray = field(default_factory=lambda: np.empty(0), kw_only=True)
    exact: str | None = field(default=None, kw_only=True)

    @property
    def _column(self) -> FloatArray:
        """The value, then those of the resamples and of the subsets."""
        return np.concatenate([[self.value], self.values, self.subsets])

    @property
    def undefined(self) -> int:
        """The number of resamples in which the value is not defined (or infinite), e.g. because the class
        has no references in them. The interval leaves these out."""
        return int(np.count_nonzero(~np.isfinite(self.values)))

    @property
    def deviation(self) -> float:
        """The standard error: the standard deviation over the resamples."""
        defined = self.values[np.isfinite(self.values)]
        return float(np.std(defined, ddof=1)) if len(defined) > 1 else np.nan

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.value:.4f} {interval_text(self)}>"


def interval_text(interval: Interval, digits: int = 4, *, signed: bool = False) -> str:
    """Return the ends of an interval in brackets. ``signed``: with a sign, as those of differences.

    >>> interval = Interval(value=0.5, low=0.25, high=0.75, values=np.array([0.25, 0.75]))
    >>> interval_text(interval, 2), interval_text(interval, 2, signed=True)
    ('(0.25–0.75)', '(+0.25 … +0.75)')
    """
    if signed:
        return f"({interval.low:+.{digits}f} … {interval.high:+.{digits}f})"
    return f"({interval.low:.{digits}f}–{interval.high:.{digits}f})"


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Interval):
    """The interval of a metric, and of each class.

    Attributes
    ----------
    per_class : mapping of label to Interval
        The interval of each class alone.
    resampling : Resampling
        How the clips were drawn.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> psds = sed.PSDS(sed.Intersection(0.7, 0.7))
    >>> deltas = sed.deltas(sed.simulate.scores(truth), truth, psds.criterion)
    >>> sed.bootstrap(deltas, psds, 200).per_class["Speech"]
    <Interval: 0.4309 (0.0000–0.7416)>
    """

    per_class: Mapping[str, Interval]
    resampling: Resampling
