"""Metrics that sum up a whole curve."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from ..counting.counts import ClassCounts
from ..criteria.criterion import Criterion
from ..definitions import optional_number, require_flag
from ..errors import SedscopeError
from .classwise import ClassValue, ClasswiseMetric, ClasswiseResult
from .curves import PrecisionRecallCurve, ROCCurve, precision_recall_curve, roc_curve


@dataclass(frozen=True, repr=False)
class AveragePrecision(ClasswiseMetric):
    """The area under the precision-recall curve, in steps: the mean of the precision over recall."""

    criterion: Criterion
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """See the class."""
        return ClassValue(self.curve_of(counts).average_precision())

    def curve_of(self, counts: ClassCounts) -> PrecisionRecallCurve:
        """Precision over recall."""
        return precision_recall_curve(counts)


@dataclass(frozen=True, repr=False)
class AUROC(ClasswiseMetric):
    """The area under the ROC of segments or clips, straight lines between operating points.

    ``max_fpr``: only up to that false positive rate, divided by it, or with ``mcclish`` rescaled so
    that 0.5 is chance (McClish, "Analyzing a Portion of the ROC Curve", 1989).
    """

    criterion: Criterion
    max_fpr: float | None = None
    mcclish: bool = False
    average: str = "macro"

    needs_negatives: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check()
        optional_number(self, "max_fpr", above=0, at_most=1)
        require_flag(self, "mcclish")
        if self.mcclish and self.max_fpr is None:
            raise SedscopeError("mcclish=True corrects a partial area: give max_fpr")

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """See the class."""
        return ClassValue(self.curve_of(counts).area(self.max_fpr, mcclish=self.mcclish))

    def curve_of(self, counts: ClassCounts) -> ROCCurve:
        """The true over the false positive rate."""
        return roc_curve(counts)


@dataclass(frozen=True, repr=False)
class DPrime(ClasswiseMetric):
    """d′ of segments or clips: √2 times the normal quantile of the area under the ROC. The average is d′
    of the average area (Hershey et al., "CNN Architectures for Large-Scale Audio Classification")."""

    criterion: Criterion
    average: str = "macro"

    needs_negatives: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check()

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """See the class."""
        return ClassValue(_d_prime(self.curve_of(counts).area()))

    def curve_of(self, counts: ClassCounts) -> ROCCurve:
        """The true over the false positive rate."""
        return roc_curve(counts)

    def average_of(self, result: ClasswiseResult, kind: str) -> float:
        """d′ of the average area."""
        areas = AUROC(self.criterion, average=self.average)
        return _d_prime(areas.average_of(areas.measure(result.counts), kind))


def _d_prime(area: float) -> float:
    if not 0 < area < 1:
        return np.inf if area == 1 else -np.inf if area == 0 else np.nan
    return float(np.sqrt(2)) * NormalDist().inv_cdf(area)
