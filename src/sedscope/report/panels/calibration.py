"""Calibration: the share of items that are right over their score, one picture for each criterion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...metrics import Metric
from ...metrics.calibration import CalibrationMetric, Reliability
from ...metrics.classwise import ClasswiseResult
from ..packing import rounded
from ..source import Data, Panel, PanelContent, ReportSource
from ..systems import System

_DIGITS = 5


def build(source: ReportSource) -> PanelContent | None:
    """Build the pictures; nothing without a metric of calibration."""
    sharing: dict[tuple[Any, int], list[CalibrationMetric]] = {}
    for metric in source.metrics:
        if isinstance(metric, CalibrationMetric):
            sharing.setdefault((metric.criterion, metric.bins), []).append(metric)
    pictures = [
        {
            "metrics": [source.metrics.index(metric) for metric in metrics],
            "systems": [_reliability(metrics[0], system, source.detailed) for system in source.systems],
        }
        for metrics in sharing.values()
    ]
    return ({"pictures": pictures}, ()) if pictures else None


def _reliability(
    metric: Metric[ClasswiseResult[Reliability]], system: System, detailed: Sequence[str]
) -> Data:
    """Return the curve of the items of all classes together, and one for each detailed class."""
    result = metric.measure(system.evaluation.counts[metric.criterion])
    classes = [_curve(result.per_class[label].curve) for label in detailed]
    return {"overall": _curve(result.overall_curve()), "classes": classes}


def _curve(curve: Reliability | None) -> Data | None:
    """Return the bins that have items: their mean score, and the share that is right."""
    if curve is None or not len(curve.number):
        return None
    return {
        "scores": [rounded(score, _DIGITS) for score in curve.confidence.tolist()],
        "shares": [rounded(share, _DIGITS) for share in curve.share.tolist()],
        "items": curve.number.astype(int).tolist(),
    }


PANEL = Panel("calibration", "Calibration", build)
