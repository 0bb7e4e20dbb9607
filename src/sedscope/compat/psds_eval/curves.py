"""Curves over operating points, and the area under them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...metrics.psd_roc import step_area
from .results import PSDROC, FloatArray, PSDSEvalError, RatesPerClass

Curve = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def step_curve(x: FloatArray, xp: FloatArray, yp: FloatArray) -> FloatArray:
    """Return at each x the largest y of all points up to it, and 0 before the first point."""
    order = np.argsort(xp, kind="stable")
    best = np.append(0.0, np.maximum.accumulate(np.asarray(yp, np.float64)[order]))
    return best[np.searchsorted(np.asarray(xp)[order], x, side="right")]


def line_curve(x: FloatArray, xp: FloatArray, yp: FloatArray) -> FloatArray:
    """Return the largest y up to each x on straight lines between points, of those with the same x the
    highest."""
    order = np.lexsort((-np.asarray(yp, np.float64), xp))
    distinct, highest = np.unique(np.asarray(xp)[order], return_index=True)
    return np.maximum.accumulate(np.interp(x, distinct, np.asarray(yp, np.float64)[order][highest]))


def roc_curves(rates: RatesPerClass, curve: Curve) -> tuple[PSDROC, PSDROC, PSDROC]:
    """Return the curves of true positive rates over false positive, cross-trigger and effective rates."""
    tpr, fpr, ctr, efpr = rates[:4]
    return (
        _curves_over(fpr, tpr, curve),
        _curves_over(ctr, np.repeat(tpr, len(tpr), axis=0), curve),
        _curves_over(efpr, tpr, curve),
    )


def _curves_over(rates: FloatArray, ratios: FloatArray, curve: Curve) -> PSDROC:
    """Return a curve for each row of rates, and their mean and deviation. NaN rates have NaN curves."""
    x = np.unique(np.append(0.0, rates[~np.isnan(rates)]))
    y = np.full((*rates.shape[:-1], len(x)), np.nan)
    rows = y.reshape(-1, len(x))
    for row, xp, yp in zip(rows, rates.reshape(-1, rates.shape[-1]), ratios, strict=True):
        if not np.isnan([xp, yp]).any():
            row[:] = curve(x, xp, yp)
    defined = rows[~np.isnan(rows).any(axis=1)]
    mean, std = (defined.mean(0), defined.std(0)) if len(defined) else (x * np.nan, x * np.nan)
    return PSDROC(y, x, mean, std)


def area_under(x: Any, y: Any, max_x: float | None = None, decreasing_y: bool = False) -> np.float64:
    """Return the area under steps up to ``max_x``; ``y[i]`` holds from ``x[i]`` on. ``decreasing_y``:
    accept y that fall."""
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise PSDSEvalError(
            "x and y must be provided as a numpy.ndarray, "
            f"not as {type(x).__name__} and {type(y).__name__}."
        )
    if x.ndim > 1 or y.ndim > 1:
        raise PSDSEvalError(
            f"x or y are not 1-dimensional numpy.ndarray: their shapes are {x.shape} and {y.shape}."
        )
    if x.size != y.size:
        raise PSDSEvalError(f"x and y must be of equal length {x.size} != {y.size}.")
    for name, values, checked in (("x", x, True), ("y", y, not decreasing_y)):
        if checked and np.any(np.diff(values) < 0):
            raise PSDSEvalError(f"non-decreasing property not verified for {name}: sort the points.")
    if not x.size:
        raise PSDSEvalError("x and y are empty. A curve needs a point.")
    end = float(x.max() if max_x is None else max_x)
    inside = x <= end
    area: np.float64 = np.float64(step_area(x[inside], y[inside], end) if inside.any() else 0.0)
    return area
