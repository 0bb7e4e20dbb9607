"""Calibration: the share of items that are right over their score, one picture for each criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...metrics import Metric
from ...metrics.calibration import CalibrationMetric, Reliability
from ...metrics.classwise import ClasswiseResult
from ..packing import rounded
from ..schema import PanelData
from ..source import Panel, PanelContent, ReportSource
from ..systems import System

_DIGITS = 5


@dataclass(frozen=True)
class ReliabilityCurve:
    """The bins of the scores that have items, in order of the score."""

    scores: Sequence[float | None]
    """The mean score of the items in each bin."""
    shares: Sequence[float | None]
    """The share of them that is right."""
    items: Sequence[int]


@dataclass(frozen=True)
class SystemReliability:
    """The curves of one system."""

    overall: ReliabilityCurve | None
    """Of the items of all classes together."""
    classes: Sequence[ReliabilityCurve | None]
    """One for each detailed class; None for a class without items."""


@dataclass(frozen=True)
class ReliabilityPicture:
    """The curves of one criterion and number of bins."""

    metrics: Sequence[int]
    """Those that are read off the curves, as indices into the metrics of the page."""
    systems: Sequence[SystemReliability]


@dataclass(frozen=True)
class CalibrationData(PanelData):
    """One picture for each criterion and number of bins."""

    pictures: Sequence[ReliabilityPicture]


def build(source: ReportSource) -> PanelContent | None:
    """Build the pictures; nothing without a metric of calibration."""
    sharing: dict[tuple[Any, int], list[CalibrationMetric]] = {}
    for metric in source.metrics:
        if isinstance(metric, CalibrationMetric):
            sharing.setdefault((metric.criterion, metric.bins), []).append(metric)
    pictures = [
        ReliabilityPicture(
            [source.metrics.index(metric) for metric in metrics],
            [_reliability(metrics[0], system, source.detailed) for system in source.systems],
        )
        for metrics in sharing.values()
    ]
    return PanelContent(CalibrationData(pictures)) if pictures else None


def _reliability(
    metric: Metric[ClasswiseResult[Reliability]], system: System, detailed: Sequence[str]
) -> SystemReliability:
    result = metric.measure(system.evaluation.counts[metric.criterion])
    classes = [_curve(result.per_class[label].curve) for label in detailed]
    return SystemReliability(_curve(result.overall_curve()), classes)


def _curve(curve: Reliability | None) -> ReliabilityCurve | None:
    if curve is None or not len(curve.number):
        return None
    return ReliabilityCurve(
        [rounded(score, _DIGITS) for score in curve.confidence.tolist()],
        [rounded(share, _DIGITS) for share in curve.share.tolist()],
        curve.number.astype(int).tolist(),
    )


PANEL = Panel("calibration", "Calibration", build)
