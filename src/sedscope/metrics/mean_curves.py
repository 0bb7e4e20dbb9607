"""Weighted means of the curves of several classes, in the vertical direction.

The area under a mean curve is the mean of the areas, so an averaged metric can be read off it. Its vertices
combine different operating points of the classes, except for quantities over the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

import numpy as np

from ..data.arrays import FloatArray
from .curves import Curve, PrecisionRecallCurve, ROCCurve, ThresholdCurve

AnyCurve = TypeVar("AnyCurve", bound=Curve)


def mean_precision_recall(
    curves: Sequence[PrecisionRecallCurve], weights: Sequence[float]
) -> PrecisionRecallCurve:
    """Return the mean precision at each recall, in steps. Its scores are not defined (NaN).

    A class has, up to each recall that it reaches, its best precision there, as in the average precision;
    beyond its largest recall the precision is 0.
    """
    recall = np.unique(np.concatenate([curve.recall for curve in curves]))

    def precision_at_recall(curve: PrecisionRecallCurve) -> FloatArray:
        order = np.lexsort((-curve.precision, curve.recall))
        reached, best = np.unique(curve.recall[order], return_index=True)
        steps = np.append(curve.precision[order][best], 0.0)
        return steps[np.searchsorted(reached, recall)]

    precision = _mean(curves, weights, precision_at_recall)
    point = None
    if all(curve.one_point for curve in curves):
        rows = [_only_row(curve.scores) for curve in curves]
        recalls = [curve.recall[row] for curve, row in zip(curves, rows, strict=True)]
        # a class that is never detected has no precision
        precisions = [c.precision[row] if row else np.nan for c, row in zip(curves, rows, strict=True)]
        point = _mean_of_defined(recalls, weights), _mean_of_defined(precisions, weights)
    return PrecisionRecallCurve(np.full(len(recall), np.nan), precision, recall, point)


def mean_roc(curves: Sequence[ROCCurve], weights: Sequence[float]) -> ROCCurve:
    """Return the mean true positive rate at each false positive rate. Its scores are not defined (NaN)."""
    rates = np.unique(np.concatenate([curve.fpr for curve in curves]))
    tpr = _mean(curves, weights, lambda curve: _tpr_around(curve, rates)).ravel()
    fpr = np.repeat(rates, 2)
    kept = np.append(True, (np.diff(fpr) > 0) | (np.diff(tpr) > 0))  # no vertex twice
    point = None
    if all(curve.one_point for curve in curves):
        rows = [_only_row(curve.scores) for curve in curves]
        only_points = [(curve.fpr[row], curve.tpr[row]) for curve, row in zip(curves, rows, strict=True)]
        mean_fpr, mean_tpr = (
            _mean_of_defined(rates, weights) for rates in zip(*only_points, strict=True)
        )
        point = mean_fpr, mean_tpr
    return ROCCurve(np.full(int(kept.sum()), np.nan), fpr[kept], tpr[kept], point)


def _only_row(scores: FloatArray) -> int:
    """Return the vertex of a curve of one point; 0 if nothing is detected."""
    return int(np.flatnonzero(scores > -np.inf)[-1])


def _mean_of_defined(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted mean of the values that are not NaN; NaN if none is."""
    defined = ~np.isnan(values)
    chosen = np.asarray(weights)[defined]
    return float(np.average(np.asarray(values)[defined], weights=chosen)) if chosen.any() else np.nan


def _tpr_around(curve: ROCCurve, rates: FloatArray) -> FloatArray:
    """Return the true positive rates just before and at each false positive rate, as (rates × 2)."""
    first = np.searchsorted(curve.fpr, rates, side="left")
    last = np.searchsorted(curve.fpr, rates, side="right") - 1
    vertices = curve.tpr[np.stack([first, last], axis=1)]
    between = np.interp(rates, curve.fpr, curve.tpr)[:, None]
    return np.where((first <= last)[:, None], vertices, between)


def mean_threshold_curve(curves: Sequence[ThresholdCurve], weights: Sequence[float]) -> ThresholdCurve:
    """Return the mean of a quantity, with all classes at the same threshold."""
    scores = np.unique(np.concatenate([curve.scores for curve in curves]))[::-1]

    def values_at_scores(curve: ThresholdCurve) -> FloatArray:
        values: FloatArray = curve.values[np.searchsorted(-curve.scores, -scores, side="right") - 1]
        return values

    mean = _mean(curves, weights, values_at_scores)
    return ThresholdCurve(scores, mean, f"mean {curves[0].quantity}")


def _mean(
    curves: Sequence[AnyCurve],
    weights: Sequence[float],
    values_of: Callable[[AnyCurve], FloatArray],
) -> FloatArray:
    """Return the weighted mean of what a function makes of the curves, holding few of them at once."""
    parts = (weight * values_of(curve) for curve, weight in zip(curves, weights, strict=True))
    return reduce(np.add, parts) / sum(weights)
