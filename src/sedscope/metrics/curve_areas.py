"""Metrics that summarise a whole curve: areas under it, and the equal error rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from ..counting.counts import ClassCounts
from ..counting.tally import Tally
from ..criteria import Criterion
from ..criteria.queries import INTERPOLATIONS
from ..data.arrays import IntArray
from ..definitions import optional_number, require_choice, require_flag, unstated
from ..errors import SedscopeError
from .classwise import ClassValue, ClasswiseMetric, ClasswiseResult, OfFewest
from .curves import (
    PrecisionRecallCurve,
    ROCCurve,
    area_in_steps,
    mean_precision_recall,
    mean_roc,
    precision_recall_curve,
    precision_recall_points,
    roc_curve,
    roc_points,
)
from .metric import METRICS, SHARE


@METRICS.register
@dataclass(frozen=True, repr=False)
class AveragePrecision(ClasswiseMetric[PrecisionRecallCurve]):
    """The area under the precision-recall curve, in steps: the mean precision over recall.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.
    interpolation : {"step", "voc"}, default "step"
        The precision at a recall: ``"step"``, the best one at this recall; ``"voc"``, the best one at this
        or a higher recall, as object detectors are judged.

    Examples
    --------
    >>> from sedscope import Collar, IoU
    >>> AveragePrecision(Collar())
    AveragePrecision(Collar(onset=0.2, offset=0.2, offset_rate=0.2), average='macro')
    >>> AveragePrecision(IoU(0.5, matching="greedy"), interpolation="voc")
    AveragePrecision(IoU(threshold=0.5, matching='greedy'), average='macro', interpolation='voc')
    """

    criterion: Criterion
    average: str = "macro"
    interpolation: str = unstated("step")

    bounds: ClassVar[tuple[float, float] | None] = SHARE

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice(self, "interpolation", INTERPOLATIONS)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[PrecisionRecallCurve]:
        return ClassValue(precision_recall_points(counts).average_precision(self.interpolation))

    @property
    def of_fewest(self) -> OfFewest:
        def area(tp: IntArray, fp: IntArray, references: int, _: float) -> float:
            tally = Tally(tp, fp, references)
            return area_in_steps(tally.recall, tally.precision, interpolation=self.interpolation)

        return area

    def curve_of(self, counts: ClassCounts, hours: float) -> PrecisionRecallCurve:
        return precision_recall_curve(counts)

    def mean_curve(
        self, curves: Sequence[PrecisionRecallCurve], weights: Sequence[float]
    ) -> PrecisionRecallCurve:
        return mean_precision_recall(curves, weights)


class ROCMetric(ClasswiseMetric[ROCCurve]):
    """Base of the metrics that are read off the ROC of segments, of clips or of time."""

    needs_negatives: ClassVar[bool] = True

    def curve_of(self, counts: ClassCounts, hours: float) -> ROCCurve:
        return roc_curve(counts)

    def mean_curve(self, curves: Sequence[ROCCurve], weights: Sequence[float]) -> ROCCurve:
        return mean_roc(curves, weights)


@METRICS.register
@dataclass(frozen=True, repr=False)
class AUROC(ROCMetric):
    """The area under the ROC of segments, of clips or of time, with straight lines between operating points.

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    max_fpr : float, optional
        Only the area up to this false positive rate counts, divided by the rate.
    mcclish : bool, default False
        Rescale the partial area so that chance gives 0.5 (McClish, "Analyzing a Portion of the ROC
        Curve", 1989). Needs ``max_fpr``.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.

    Examples
    --------
    >>> from sedscope import Segment
    >>> AUROC(Segment(1.0), max_fpr=0.1)
    AUROC(Segment(length=1, aggregation='max'), max_fpr=0.1, average='macro')
    """

    criterion: Criterion
    max_fpr: float | None = None
    mcclish: bool = False
    average: str = "macro"

    bounds: ClassVar[tuple[float, float] | None] = SHARE

    def __post_init__(self) -> None:
        super().__post_init__()
        optional_number(self, "max_fpr", above=0, at_most=1)
        require_flag(self, "mcclish")
        if self.mcclish and self.max_fpr is None:
            raise SedscopeError("mcclish=True corrects a partial area: give max_fpr as well.")

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[ROCCurve]:
        return ClassValue(roc_points(counts).area(self.max_fpr, mcclish=self.mcclish))


@METRICS.register
@dataclass(frozen=True, repr=False)
class DPrime(ROCMetric):
    """d′ of segments, of clips or of time: √2 times the normal quantile of the area under the ROC.

    The average is d′ of the average area (Hershey et al., "CNN Architectures for Large-Scale Audio
    Classification").

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the areas of the classes are averaged.

    Examples
    --------
    >>> from sedscope import Clip
    >>> DPrime(Clip())
    DPrime(Clip(aggregation='max'), average='macro')
    """

    criterion: Criterion
    average: str = "macro"

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[ROCCurve]:
        return ClassValue(_d_prime(roc_points(counts).area()))

    def average_of(self, result: ClasswiseResult[Any], kind: str) -> float:
        areas = AUROC(self.criterion, average=self.average)
        return _d_prime(areas.average_of(areas.measure(result.counts), kind))


def _d_prime(area: float) -> float:
    if not 0 < area < 1:
        return np.inf if area == 1 else -np.inf if area == 0 else np.nan
    return float(np.sqrt(2)) * NormalDist().inv_cdf(area)


@METRICS.register
@dataclass(frozen=True, repr=False)
class EqualErrorRate(ROCMetric):
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

    higher_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float] | None] = SHARE

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[ROCCurve]:
        return ClassValue(_equal_error_rate(roc_points(counts)))


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
