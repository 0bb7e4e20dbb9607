"""Intervals from halves and quarters of the clips, drawn without replacement.

Metrics that take a maximum, such as the best threshold or the best rate of a ROC, are too good on few clips.
Drawing with replacement repeats clips, and makes them too good once more. So the interval comes from subsets:

- Half of the clips deviate from all of them as much as all of them deviate from the population: by the
  variance s² of a mean, s²/(n/2) - s²/n = s²/n.
- The bias of a smooth metric falls with the number of clips n as 1/n, so what halves have more than the whole
  is the bias of the whole, and is subtracted.
- The bias of a maximum over thresholds falls more slowly, and hardly at all while there are so few clips that
  most classes have a nearly perfect threshold: as 1 / (1 + (n/m)^rate). The rate is 3/4, between the 2/3 of a
  smooth curve (Kim and Pollard, "Cube Root Asymptotics", 1990) and the 1 of few thresholds. The step from
  halves to quarters tells m. The correction is taken as known to a third.
- A metric that subtracts the spread of its classes (PSDS) has two biases of opposite sign: the classes are
  too good, and differ too much. Their mean is corrected as a maximum, and the rest as a smooth metric.
- The bias depends on the value. The slope of what the quarters of a half have more than the half, over the
  value of the half, says how much, and the corrected value deviates more by that.
- The deviation is an estimate, too, so the quantiles are those of Student's t.
- An interval of a value between 0 and 1 is made on a logistic scale, and stays between them.

See Politis, Romano, Wolf, "Subsampling" (1999). ``benchmarks/coverage.py`` measures how often the intervals
hold the value of a population.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import FloatArray
from ..metrics import Metric

SUBSETS_PER_ROUND = 6
"""Two halves, and the two quarters of each."""
_LEAST_ROUNDS = 40
_RESAMPLES_PER_ROUND = 10
_FREEDOM = 20  # degrees: few clips say much about rare classes, and halves have much in common
_STEEPEST = 2.0  # how many times wider the dependence of the bias on the value makes an interval at most
_MOST = 4.0  # times what halves have more than the whole, as the bias
_DOUBT = 1 / 3  # the standard error of the bias of a maximum, as a share of it
_MARGIN = 0.05  # of the logistic scale: how far beyond its bounds a value would be infinite


@dataclass(frozen=True)
class Behaviour:
    """How a metric behaves on few clips."""

    rate: float = 1.0
    """The power of the number of clips with which the bias falls."""
    bounds: tuple[float, float] | None = None
    """Between which all values lie, if both are known."""
    fixed: bool = False
    """Whether the rate is that of any number of clips, as for differences, of which the bias is small. Their
    bounds are only where an interval ends."""
    costs_spread: bool = False
    """Whether the value is the mean of the classes, minus a cost for their spread."""
    higher_is_better: bool = True
    """In which direction the best of many thresholds is too good."""

    @classmethod
    def of(cls, metric: Metric[Any]) -> Behaviour:
        """Return the behaviour of a metric."""
        return cls(
            metric.bias_rate,
            metric.bounds,
            costs_spread=metric.psd_roc is not None,
            higher_is_better=metric.higher_is_better,
        )

    def difference(self, minus: float | None = None, of: float | None = None) -> Behaviour:
        """Return the behaviour of differences, perhaps ``minus`` a certain value, or ``of`` one."""
        least, most = self.bounds or (-np.inf, np.inf)
        if minus is not None:
            kind = replace(self, bounds=(least - minus, most - minus))
        elif of is not None:
            kind = replace(
                self, bounds=(of - most, of - least), higher_is_better=not self.higher_is_better
            )
        else:
            kind = replace(self, bounds=(least - most, most - least), fixed=True, costs_spread=False)
        return replace(kind, bounds=self.bounds and kind.bounds)


SMOOTH = Behaviour()
"""That of values of which no more is known."""


def subsets(units: NDArray[np.intp], resamples: int, seed: int) -> NDArray[np.int32]:
    """Return the weights of the clips in halves and quarters: per round, two halves and the quarters of both.

    ``units``: which unit each clip belongs to; units are drawn as a whole.
    """
    number = int(units.max()) + 1
    rounds = max(_LEAST_ROUNDS, resamples // _RESAMPLES_PER_ROUND)
    rng = np.random.default_rng([seed, 1])
    ends = np.array([0, number // 4, number // 2, number // 2 + number // 4, number])
    quarter = np.repeat(np.arange(4), np.diff(ends))
    weights = np.empty((rounds, SUBSETS_PER_ROUND, len(units)), np.int32)
    for block in weights:
        of_clip = quarter[rng.permutation(number)][units]
        block[:2] = of_clip // 2 == np.arange(2)[:, None]
        block[2:] = of_clip == np.arange(4)[:, None]
    return weights.reshape(-1, len(units))


def subsampling_ends(
    value: float,
    of_subsets: FloatArray,
    confidence: float,
    behaviour: Behaviour,
    mean_of_classes: FloatArray | None = None,
) -> tuple[float, float]:
    """Return the ends of the interval of a value.

    ``of_subsets``: the values of the subsets, NaN where they are not defined. ``mean_of_classes``: of all
    clips and then of the subsets, for a value that subtracts the spread of the classes. The ends are NaN if
    there are no two halves with a value, and for an infinite value.
    """
    halves, quarters = _halves_and_quarters(of_subsets)
    defined = halves[~np.isnan(halves)]
    if not np.isfinite(value) or len(defined) < 2:
        return np.nan, np.nan
    steps = _steps(value, of_subsets)
    of_best = steps if mean_of_classes is None else _steps(mean_of_classes[0], mean_of_classes[1:])
    factor = _bias_factor(*of_best, behaviour)
    bias = factor * of_best[0] + (steps[0] - of_best[0])
    deviation = float(np.std(defined))
    widened = np.clip(1 - factor * _slope(halves, quarters.mean(axis=1)), 1, _STEEPEST)
    doubt = 0.0 if behaviour.rate >= 1 or behaviour.fixed else _DOUBT * factor * of_best[0]
    reach = student_quantile((1 + confidence) / 2, _FREEDOM) * float(
        np.hypot(deviation * widened, doubt)
    )
    if reach == 0 and steps[0] == 0:
        return value, value
    centre = value - bias
    least, most = behaviour.bounds or (-np.inf, np.inf)
    inside = least <= min(value, defined.min()) and max(value, defined.max()) <= most
    if inside and least > -np.inf and not behaviour.fixed:
        return _around(centre, reach, least, most)
    ends = np.array([centre - reach, centre + reach])
    low, high = np.clip(ends, least, most) if inside else ends
    return float(low), float(high)


def _halves_and_quarters(of_subsets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the values of the halves, and (halves × 2) those of their quarters."""
    rounds = np.where(np.isfinite(of_subsets), of_subsets, np.nan).reshape(-1, SUBSETS_PER_ROUND)
    return rounds[:, :2].ravel(), rounds[:, 2:].reshape(-1, 2)


def _steps(value: float, of_subsets: FloatArray) -> tuple[float, float]:
    """Return what halves have more than the whole, and quarters more than halves."""
    halves, quarters = _halves_and_quarters(of_subsets)
    of_half = float(np.nanmean(halves))
    of_quarter = float(np.nanmean(quarters)) if np.isfinite(quarters).any() else np.nan
    return of_half - value, of_quarter - of_half


def _bias_factor(first: float, second: float, behaviour: Behaviour) -> float:
    """Return the bias in units of what halves have more than the whole, the first of two steps."""
    growth = 2**behaviour.rate
    of_many_clips = 1 / (growth - 1)
    if not behaviour.higher_is_better:
        first, second = -first, -second
    if behaviour.rate >= 1 or behaviour.fixed or not first > 0 or np.isnan(second):
        return of_many_clips
    rest = growth * second - first
    return min(max((first + second) / rest, of_many_clips), _MOST) if rest > 0 else _MOST


def _slope(halves: FloatArray, quarters: FloatArray) -> float:
    """Return by how much what quarters have more than their half changes with the value of the half."""
    defined = ~np.isnan(halves + quarters)
    gaps = (quarters - halves)[defined]
    if len(gaps) < 2:
        return 0.0
    from_mean = halves[defined] - np.mean(halves[defined])
    spread = float(np.sum(from_mean**2))
    return float(np.sum(from_mean * gaps)) / spread if spread > 0 else 0.0


def _around(centre: float, reach: float, least: float, most: float) -> tuple[float, float]:
    """Return the ends of an interval around a centre, between bounds."""
    size = most - least
    share = min(max((centre - least) / size, 0.0), 1.0)
    above, below = share + _MARGIN, 1 - share + _MARGIN
    on_scale = min(reach / size * (1 / above + 1 / below), 40.0)
    odds = above / below * np.exp([-on_scale, on_scale])
    low, high = np.clip((odds * (1 + _MARGIN) - _MARGIN) / (1 + odds), 0, 1) * size + least
    return float(low), float(high)


def student_quantile(share: float, freedom: float) -> float:
    """Return a quantile of Student's t by the expansion of Cornish and Fisher.

    For at least 10 degrees of freedom and shares up to 0.9995 its error is below 1 %.

    >>> [round(student_quantile(0.975, freedom), 3) for freedom in (20, 60, 1000)]
    [2.086, 2.0, 1.962]
    """
    x = NormalDist().inv_cdf(share)
    return (
        x
        + (x**3 + x) / (4 * freedom)
        + (5 * x**5 + 16 * x**3 + 3 * x) / (96 * freedom**2)
        + (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / (384 * freedom**3)
    )
