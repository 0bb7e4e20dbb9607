"""Curves over operating points: the area under them, points on them, and plots. Plots need matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._native import step_area
from ...errors import counted
from ..axes import draw_on_axes, draw_psd_roc
from .results import PSDROC, PSDS, WORLD, FloatArray, PSDSEvalError, RatesPerClass, as_psds_eval_errors

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
    rates, ratios = (np.asarray(axis[inside], np.float64) for axis in (x, y))
    return np.float64(step_area(rates, ratios, end))


class ClassRates(NamedTuple):
    """The values of one class at all operating points. At the last one, nothing is detected."""

    TPR: FloatArray
    FPR: FloatArray
    eFPR: FloatArray
    Fscore: FloatArray

    def best(self, constraint: str, value: Any) -> int | None:
        """Return the best operating point that meets a constraint; None if none detects anything."""
        met, goodness = self._judged(constraint, value)
        points = np.flatnonzero(met & ~np.isnan(goodness))
        if not len(points):
            return None
        point = int(points[np.argmax(goodness[points])])
        return None if point == len(self.TPR) - 1 else point

    def _judged(self, constraint: str, value: Any) -> tuple[Any, FloatArray]:
        """Return which operating points meet the constraint, and how good they are."""
        tpr, fpr, efpr, fscore = self
        match constraint:
            case "tpr":
                return tpr >= value, -efpr
            case "fpr":
                return fpr <= value, tpr
            case "efpr":
                return efpr <= value, tpr
            case "fscore":
                return np.ones(len(fscore), bool), fscore
        raise PSDSEvalError(
            f"The constraint has to be one of tpr, fpr, efpr or fscore, instead it is {constraint}."
        )


def plot_psd_roc(
    psd: PSDS, en_std: bool = False, axes: Any = None, filename: str | Path | None = None, **kwargs: Any
) -> None:
    """Draw a PSD-ROC and the area under it, into ``axes`` or into a new figure that is shown.

    ``en_std``: also draw the mean plus and minus the standard deviation. ``filename``: also save the
    figure there.
    """
    if not isinstance(psd, PSDS):
        raise PSDSEvalError(
            f"The psds data needs to be given as a PSDS object, not {type(psd).__name__}. Call psds()."
        )
    curve = psd.plt
    borders = (np.maximum(curve.mean - curve.std, 0), curve.mean + curve.std) if en_std else ()
    title = (
        f"PSDS: {psd.value:.5f}\nalpha_st: {psd.alpha_st:.2f}, alpha_ct: {psd.alpha_ct:.2f}, "
        f"max_efpr: {psd.max_efpr}"
    )
    draw = partial(draw_psd_roc, curve.yp, curve.xp, psd.max_efpr, psd.duration_unit, title, borders)
    with as_psds_eval_errors():
        draw_on_axes(draw, axes, filename, kwargs.get("figsize", (7, 7)))


def plot_per_class_psd_roc(
    psd: PSDROC,
    class_names: list[str],
    max_efpr: float | None = None,
    axes: Any = None,
    filename: str | Path | None = None,
    **kwargs: Any,
) -> None:
    """Draw the curve of each class and their mean.

    ``psd``: one of the results of ``psd_roc_curves``. The options are those of :func:`plot_psd_roc`, and
    ``xlim``, ``xlabel`` and ``title``.
    """
    if not isinstance(psd, PSDROC):
        raise PSDSEvalError(
            f"The psdroc data needs to be a PSDROC object, not {type(psd).__name__}. "
            "Call psd_roc_curves()."
        )
    classes = [name for name in class_names if name != WORLD]
    if len(classes) != len(psd.yp):
        raise PSDSEvalError(
            f"Num of class names doesn't match the expected: {len(classes)} for "
            f"{counted(len(psd.yp), 'curve')}."
        )

    def draw(axes: Any) -> None:
        for label, curve in zip(classes, psd.yp, strict=True):
            axes.step(psd.xp, curve, label=label, where="post")
        axes.step(psd.xp, psd.mean, "--", linewidth=2, label="mean_TPR", where="post")
        end = float(psd.xp.max()) if max_efpr is None else max_efpr
        axes.set(xlim=(0, kwargs.get("xlim", end)), ylim=(0, 1), ylabel="TPR")
        axes.set(xlabel=kwargs.get("xlabel", "(e)FPR"), title=kwargs.get("title", "Per-class PSDROC"))
        axes.legend()
        axes.grid()

    with as_psds_eval_errors():
        draw_on_axes(draw, axes, filename, kwargs.get("figsize", (7, 7)))
