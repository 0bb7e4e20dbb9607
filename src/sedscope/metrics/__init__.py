"""Metrics: values that say what is measured, and measure it on counts."""

from __future__ import annotations

from collections.abc import Mapping

from ..criteria.criterion import Collar, Criterion, Intersection, IoU
from ..criteria.segments import Clip, Segment
from ..definitions import parse
from ..errors import SedscopeError, listing, shortened
from ..postprocessing import POSTPROCESSINGS
from .classwise import ClassValue, ClasswiseMetric, ClasswiseResult
from .curve_areas import AUROC, AveragePrecision, DPrime
from .metric import ClassResult, Metric, MetricResult
from .psds import PSDS, ClassPSDS, PiPSDS, PSDSResult
from .thresholded import (
    BalancedAccuracy,
    BestErrorRate,
    BestFScore,
    ErrorRate,
    FScore,
    Precision,
    PrecisionAtRecall,
    Recall,
    RecallAtFalseAlarms,
    RecallAtPrecision,
    Specificity,
)

__all__ = [
    "AUROC",
    "METRICS",
    "PSDS",
    "AveragePrecision",
    "BalancedAccuracy",
    "BestErrorRate",
    "BestFScore",
    "ClassPSDS",
    "ClassResult",
    "ClassValue",
    "ClasswiseMetric",
    "ClasswiseResult",
    "DPrime",
    "ErrorRate",
    "FScore",
    "Metric",
    "MetricResult",
    "PSDSResult",
    "PiPSDS",
    "Precision",
    "PrecisionAtRecall",
    "Recall",
    "RecallAtFalseAlarms",
    "RecallAtPrecision",
    "Specificity",
    "parse_criterion",
    "parse_metric",
]

METRICS: Mapping[str, type] = {
    metric.__name__: metric
    for metric in (
        PSDS,
        PiPSDS,
        FScore,
        BestFScore,
        AveragePrecision,
        AUROC,
        DPrime,
        ErrorRate,
        BestErrorRate,
        Precision,
        Recall,
        Specificity,
        BalancedAccuracy,
        PrecisionAtRecall,
        RecallAtPrecision,
        RecallAtFalseAlarms,
    )
}
CRITERIA: Mapping[str, type] = {
    criterion.__name__: criterion for criterion in (Intersection, Collar, IoU, Segment, Clip)
}


def parse_metric(text: str) -> Metric:
    """Read a metric from its definition; what is left out takes its default.

    >>> parse_metric("PSDS(Intersection(dtc=0.5, gtc=0.5), max_efpr=1, unit='minute')")
    PSDS(Intersection(dtc=0.5, gtc=0.5), alpha_ct=0, alpha_st=0, max_efpr=1, unit='minute')
    """
    metric = parse(text, {**METRICS, **CRITERIA, **POSTPROCESSINGS})
    if not isinstance(metric, Metric):
        known = listing([*METRICS], limit=30)
        raise SedscopeError(f"{shortened(text)!r} is not a metric; metrics are {known}")
    return metric


def parse_criterion(text: str) -> Criterion:
    """Read a criterion from its definition; what is left out takes its default.

    >>> parse_criterion("Collar(onset=0.5, offset=None)")
    Collar(onset=0.5, offset=None, offset_rate=0.2)
    """
    criterion = parse(text, CRITERIA)
    if not isinstance(criterion, Criterion):
        known = listing([*CRITERIA], limit=30)
        raise SedscopeError(f"{shortened(text)!r} is not a criterion; criteria are {known}")
    return criterion
