"""A system at its operating points: the metrics that are defined there, and the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting.counts import ClassCounts, Counts
from ..criteria import Criterion
from ..data.scores import Scores
from ..data.thresholds import binary_scores, unsuitable_thresholds
from ..errors import SedscopeError, listing
from ..metrics import Metric
from ..metrics.names import name_pairs, short_name

if TYPE_CHECKING:
    from ..tuning.operating_points import OperatingPoints

_DEFAULT_THRESHOLD = 0.5


def metrics_at_points(metrics: Mapping[str, Metric[Any]]) -> dict[str, Metric[Any]]:
    """Return metrics by name, at operating points. Refuse those that are not defined there.

    Short names state a threshold, so they change: ``collar_f1`` becomes ``collar_f1_at_points``.
    """
    chosen = metrics.values()
    timed = [name for name, metric in metrics.items() if metric.criterion.latency_threshold is not None]
    if timed:
        raise SedscopeError(
            f"These metrics measure latencies at a threshold of their own: {listing(timed)}. For those at "
            "operating points, use `alarm_latencies()`, or measure them on "
            "at_thresholds() of the scores."
        )
    without = [name for name, metric in metrics.items() if metric.at_points() is None]
    if without:
        raise SedscopeError(
            "Operating points have one threshold per class, but these metrics look at many thresholds: "
            f"{listing(without)}. To measure them with the post-processing of the points alone, give "
            "`points.process(scores)` instead of `points=`. Or choose "
            "metrics such as Precision, Recall, FScore, ErrorRate and FalseAlarmRate."
        )
    stated = [
        repr(metric)
        for metric in chosen
        if not isinstance(metric.points_read, str) and metric.points_read != _DEFAULT_THRESHOLD
    ]
    if stated:
        raise SedscopeError(
            f"The operating points set the thresholds, but these metrics have thresholds of their own: "
            f"{listing(stated)}. Leave out threshold= in their definitions."
        )
    means = [repr(metric) for metric in chosen if not metric.criterion.thresholds_frames]
    if means:
        raise SedscopeError(
            "Operating points apply their thresholds to the scores of frames, but these metrics apply them "
            f"to mean scores of segments: {listing(means)}."
        )
    at_points: list[tuple[str, Metric[Any]]] = []
    for name, metric in metrics.items():
        moved = metric.at_points()
        assert moved is not None
        at_points.append((f"{name}_at_points" if name == short_name(metric) else name, moved))
    return name_pairs(at_points)


def scores_at_points(scores: Scores, points: OperatingPoints | None) -> Scores:
    """Return what the system detects, from its post-processed scores; 1 where a class is detected."""
    return (
        scores if points is None or not points.thresholds else binary_scores(scores, points.thresholds)
    )


def counts_at_points(
    counts: Mapping[Criterion, Counts], points: OperatingPoints | None
) -> Mapping[Criterion, Counts]:
    """Return the counts of what a system detects as those at its thresholds, one row for each class."""
    if points is None or not points.thresholds:
        return counts
    return {criterion: _at_points(part, points.thresholds) for criterion, part in counts.items()}


def _at_points(counts: Counts, thresholds: Mapping[str, float]) -> Counts:
    any_label = None
    if counts.any_label is not None:
        pairs = counts.any_label[1][-1:]
        any_label = (np.array([np.nan]), pairs if len(pairs) else np.zeros(1, np.int64))
    per_class = {
        label: _class_at_point(table, thresholds.get(label, np.inf)) for label, table in counts.items()
    }
    return replace(counts, per_class=per_class, any_label=any_label)


def _class_at_point(counts: ClassCounts, threshold: float) -> ClassCounts:
    tally = counts.tally()[len(counts.scores)]
    errors = None
    if counts.errors is not None:
        errors = counts.errors[-1:] if len(counts.errors) else np.zeros((1, 2))
    return replace(
        counts,
        scores=np.array([threshold]),
        tp=np.array([tally.tp], np.int64),
        fp=np.array([tally.fp], np.int64),
        cross_rows=np.zeros_like(counts.cross_rows),
        errors=errors,
        right=None if tally.right is None else np.array([tally.right], np.int64),
        at_chosen_thresholds=True,
        next_scores=None if counts.complete else np.array([-np.inf]),
    )


def points_notes(points: OperatingPoints | None, scores: Scores) -> list[str]:
    """Note classes that are never detected: they have no threshold, or no score is above it.

    ``scores``: after post-processing.
    """
    if points is None or not points.thresholds:
        return []
    return [
        *unsuitable_thresholds(scores, points.thresholds),
        *unstated_classes_note(points, scores.classes),
    ]


def unstated_classes_note(points: OperatingPoints, classes: Sequence[str]) -> list[str]:
    """Note classes that have no threshold."""
    lacking = [label for label in classes if label not in points.thresholds]
    if not lacking:
        return []
    return [
        "The operating points have no threshold for some classes, which are never detected: "
        f"{listing(lacking)}."
    ]
