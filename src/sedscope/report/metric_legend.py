"""What the page says about its metrics: a short heading for each, its definition, and what it reads."""

from __future__ import annotations

from typing import Any

from ..evaluation.result import Evaluation
from ..metrics import Metric


def metric_headings(evaluation: Evaluation) -> dict[Metric[Any], str]:
    """Return a short heading for each metric, which cards, columns and pictures carry."""
    return {metric: f"[{i}] {type(metric).__name__}" for i, metric in enumerate(evaluation, 1)}


def thresholds_read(metric: Metric[Any], evaluation: Evaluation) -> str:
    """Say at which thresholds a metric was measured."""
    points = metric.points_read
    if isinstance(points, (int, float)):
        return f"at the threshold {points:g}"
    if points == "points":
        return "at the operating points of the system"
    if metric.has_thresholds:
        return "at the threshold that the metric chooses for each class"
    if any(table.given for table in evaluation.counts[metric.criterion].values()):
        return "over the thresholds of the detections"
    return "over all thresholds"
