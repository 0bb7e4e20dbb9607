"""Misses weighed against false alarms: detection cost and equal error rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..counting.class_counts import ClassCounts
from ..counting.tally import Tally, first_best_row
from ..criteria import Criterion
from ..criteria.criterion import as_share
from ..data.arrays import FloatArray
from ..definitions import LARGEST_WEIGHT, require_number
from .classwise import AVERAGES, ClassValue, ClasswiseMetric
from .curves import ROCCurve, roc_curve, roc_points
from .fixed_threshold import FixedThreshold, Threshold
from .mean_curves import mean_roc
from .metric import METRICS
from .thresholded import BestThreshold


def _detection_cost(tally: Tally, miss_cost: float, false_alarm_cost: float) -> Any:
    """Return the weighted sum of the miss rate and the false positive rate."""
    return miss_cost * tally.miss_rate + false_alarm_cost * tally.fpr


def _check_weights(metric: DetectionCost | BestDetectionCost) -> None:
    require_number(metric, "miss_cost", at_least=0, at_most=LARGEST_WEIGHT)
    require_number(metric, "false_alarm_cost", at_least=0, at_most=LARGEST_WEIGHT)


@METRICS.register
@dataclass(frozen=True, repr=False)
class DetectionCost(FixedThreshold):
    """A weighted sum of the miss rate and the false positive rate, at one threshold for all classes.

    With :class:`Time` and the default weights it is the detection cost function of NIST's speech activity
    detection (OpenSAT): 0.75 · P(miss) + 0.25 · P(false alarm).

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    threshold, average
        As for :class:`FScore`.
    miss_cost : float, default 0.75
        The weight of the miss rate, the share of the references that is not found.
    false_alarm_cost : float, default 0.25
        The weight of the false positive rate, the share of the rest that is detected.

    Examples
    --------
    >>> from sedscope import Time
    >>> DetectionCost(Time())
    DetectionCost(Time(collar=0), threshold=0.5, miss_cost=0.75, false_alarm_cost=0.25, average='macro')
    """

    criterion: Criterion
    threshold: Threshold = 0.5
    miss_cost: float = 0.75
    false_alarm_cost: float = 0.25
    average: str = "macro"

    higher_is_better: ClassVar[bool] = False
    needs_negatives: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_weights(self)

    def of_tally(self, tally: Tally) -> float:
        return float(_detection_cost(tally, self.miss_cost, self.false_alarm_cost))


@METRICS.register
@dataclass(frozen=True, repr=False)
class BestDetectionCost(BestThreshold):
    """The smallest detection cost over all thresholds; see :class:`DetectionCost`.

    Parameters
    ----------
    criterion, miss_cost, false_alarm_cost
        As for :class:`DetectionCost`.
    average : {"macro", "micro", "weighted", "micro_tuned"}, default "macro"
        How the classes are averaged, as for :class:`BestFScore`.

    Examples
    --------
    >>> from sedscope import Time
    >>> BestDetectionCost(Time())
    BestDetectionCost(Time(collar=0), miss_cost=0.75, false_alarm_cost=0.25, average='macro')
    """

    criterion: Criterion
    miss_cost: float = 0.75
    false_alarm_cost: float = 0.25
    average: str = "macro"

    higher_is_better: ClassVar[bool] = False
    needs_negatives: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_weights(self)

    @property
    def quantity_name(self) -> str:
        return "detection cost"

    def quantity(self, tally: Tally) -> Any:
        return _detection_cost(tally, self.miss_cost, self.false_alarm_cost)

    def best_row(self, tally: Tally, values: FloatArray) -> int:
        of_miss, of_false_alarm = (
            Fraction(*as_share(weight)) / max(1, number)
            for weight, number in (
                (self.miss_cost, tally.references),
                (self.false_alarm_cost, tally.negatives),
            )
        )
        return first_best_row(-values, lambda row: -tally.exact_cost(row, of_miss, of_false_alarm))


@METRICS.register
@dataclass(frozen=True, repr=False)
class EqualErrorRate(ClasswiseMetric[ROCCurve]):
    """The rate at which the miss rate equals the false positive rate.

    It is read off the ROC, with straight lines between operating points.

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.

    Examples
    --------
    >>> from sedscope import Time
    >>> EqualErrorRate(Time())
    EqualErrorRate(Time(collar=0), average='macro')
    """

    criterion: Criterion
    average: str = "macro"

    averages: ClassVar[tuple[str, ...]] = AVERAGES
    higher_is_better: ClassVar[bool] = False
    needs_negatives: ClassVar[bool] = True

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[ROCCurve]:
        return ClassValue(_equal_error_rate(roc_points(counts)))

    def curve_of(self, counts: ClassCounts, hours: float) -> ROCCurve:
        return roc_curve(counts)

    def mean_curve(self, curves: Sequence[ROCCurve], weights: Sequence[float]) -> ROCCurve:
        return mean_roc(curves, weights)


def _equal_error_rate(curve: ROCCurve) -> float:
    """Return where the curve crosses the line of equal miss and false positive rates.

    >>> _equal_error_rate(ROCCurve(np.zeros(3), np.array([0, 0.5, 1]), np.array([0, 1.0, 1])))
    0.3333333333333333
    """
    if np.isnan(curve.fpr).any() or np.isnan(curve.tpr).any():
        return np.nan
    excess = curve.fpr + curve.tpr - 1  # of the false positive rate over the miss rate: from -1 to 1
    after = int(np.argmax(excess >= 0))
    before = after - 1
    if curve.tpr[before] == curve.tpr[after]:  # the same bits however many points are on the line
        return float(1 - curve.tpr[after])
    share = excess[before] / (excess[before] - excess[after])
    return float(curve.fpr[before] + share * (curve.fpr[after] - curve.fpr[before]))
