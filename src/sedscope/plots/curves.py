"""Plots of curves: PSD-ROC, precision over recall, ROC, DET, and quantities over the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .axes import axes_or_new, label_axes
from .points import draw_point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..metrics.curves import DETCurve, PrecisionRecallCurve, ROCCurve, ThresholdCurve
    from ..metrics.psd_roc import PSDROC, ClassPSDROC


def plot_class_psd_roc(curve: ClassPSDROC, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the true positive rate of a class over its effective false positive rate, as steps."""
    axes = axes_or_new(axes)
    style = {"label": curve.label, **options}
    if curve.one_point:
        draw_point(axes, curve.efpr, curve.tpr, curve.scores, style)
    else:
        axes.step(curve.efpr, curve.tpr, where="post", **style)
    return label_axes(axes, "effective false positive rate", "true positive rate", (0, 1))


def plot_psd_roc(curve: PSDROC, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the PSD-ROC over all classes as steps, and those of the classes as thin lines."""
    axes = axes_or_new(axes)
    for class_curve in curve.per_class.values():
        plot_class_psd_roc(class_curve, axes, {"linewidth": 0.8, "alpha": 0.7})
    style = {"label": "all classes", "color": "black", "linewidth": 2, **options}
    if curve.one_point:
        draw_point(axes, curve.efpr, curve.etpr, curve.etpr, style)
    else:
        axes.step(curve.efpr, curve.etpr, where="post", **style)
    return label_axes(axes, "effective false positive rate", "true positive rate", (0, 1))


def plot_precision_recall(
    curve: PrecisionRecallCurve, axes: Axes | None, options: Mapping[str, Any]
) -> Axes:
    """Plot precision over recall."""
    axes = axes_or_new(axes)
    if curve.one_point:
        draw_point(axes, curve.recall, curve.precision, curve.scores, options)
    else:
        axes.plot(curve.recall, curve.precision, **options)
    axes.set_xlim(0, 1)
    return label_axes(axes, "recall", "precision", (0, 1.02))


def plot_roc(curve: ROCCurve, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the true positive rate over the false positive rate."""
    axes = axes_or_new(axes)
    if curve.one_point:
        draw_point(axes, curve.fpr, curve.tpr, curve.scores, options)
    else:
        axes.plot(curve.fpr, curve.tpr, **options)
    axes.set_xlim(0, 1)
    return label_axes(axes, "false positive rate", "true positive rate", (0, 1.02))


def plot_det(curve: DETCurve, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the miss rate over the false positive rate on logarithmic axes, without rates of 0."""
    axes = axes_or_new(axes)
    if curve.one_point:
        axes.loglog()
        draw_point(axes, curve.fpr, curve.fnr, curve.scores, options)
        return label_axes(axes, "false positive rate", "miss rate")
    positive = (curve.fpr > 0) & (curve.fnr > 0)
    axes.loglog(curve.fpr[positive], curve.fnr[positive], **options)
    return label_axes(axes, "false positive rate", "miss rate")


def plot_threshold_curve(curve: ThresholdCurve, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot a quantity over the threshold as steps: a value holds from its score down to the next."""
    axes = axes_or_new(axes)
    if curve.one_point:
        draw_point(axes, curve.scores, curve.values, curve.scores, options)
        return label_axes(axes, "threshold", "value")
    finite = np.isfinite(curve.scores)
    axes.step(curve.scores[finite], curve.values[finite], where="post", **options)
    return label_axes(axes, "threshold", "value")
