"""What the page says about its metrics: at which thresholds they were measured."""

from __future__ import annotations

from typing import Any

from ..evaluation.result import Evaluation
from ..metrics import Metric


def thresholds_read(metric: Metric[Any], evaluation: Evaluation) -> str:
    """Say at which thresholds a metric was measured."""
    if metric.criterion.values_queries:
        return "over queries"
    points = metric.points_read
    if isinstance(points, (int, float)):
        return f"at the threshold {points:g}"
    if points == "points":
        return "at the operating points of the system"
    if metric.has_thresholds:
        return "at the threshold that the metric chooses for each class"
    if any(table.at_chosen_thresholds for table in evaluation.counts[metric.criterion].values()):
        return "over the thresholds of the detections"
    return "over all thresholds"
