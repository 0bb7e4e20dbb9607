"""Static plots for papers, with matplotlib: axes in, axes out.

Every function draws on the axes that it is given, or on new ones, and returns them. matplotlib is
imported when a plot is asked for (``pip install sedscope[plot]``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SedscopeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..counting.counts import Counts
    from ..metrics.curves import DETCurve, PrecisionRecallCurve, ROCCurve, ThresholdCurve
    from ..metrics.psd_roc import PSDROC, ClassPSDROC


def new_axes(axes: Axes | None) -> Axes:
    """The given axes, or new ones."""
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise SedscopeError("plots need matplotlib: pip install 'sedscope[plot]'") from None
    made: Axes = pyplot.subplots()[1]
    return made


def plot_class_psd_roc(curve: ClassPSDROC, axes: Axes | None, options: dict[str, Any]) -> Axes:
    """True positive rate over effective false positive rate, in steps."""
    axes = new_axes(axes)
    axes.step(curve.efpr, curve.tpr, where="post", **{"label": curve.label, **options})
    return _labelled(axes, "effective false positive rate", "true positive rate", (0, 1))


def plot_psd_roc(curve: PSDROC, axes: Axes | None, options: dict[str, Any]) -> Axes:
    """The curve over all classes, in steps; those of the classes thin beside it."""
    axes = new_axes(axes)
    for of_class in curve.per_class.values():
        plot_class_psd_roc(of_class, axes, {"linewidth": 0.8, "alpha": 0.7})
    axes.step(
        curve.efpr,
        curve.etpr,
        where="post",
        **{"label": "all classes", "color": "black", "linewidth": 2, **options},
    )
    return _labelled(axes, "effective false positive rate", "true positive rate", (0, 1))


def plot_precision_recall(
    curve: PrecisionRecallCurve, axes: Axes | None, options: dict[str, Any]
) -> Axes:
    """Precision over recall."""
    axes = new_axes(axes)
    axes.plot(curve.recall, curve.precision, **options)
    axes.set_xlim(0, 1)
    return _labelled(axes, "recall", "precision", (0, 1.02))


def plot_roc(curve: ROCCurve, axes: Axes | None, options: dict[str, Any]) -> Axes:
    """True positive rate over false positive rate."""
    axes = new_axes(axes)
    axes.plot(curve.fpr, curve.tpr, **options)
    axes.set_xlim(0, 1)
    return _labelled(axes, "false positive rate", "true positive rate", (0, 1.02))


def plot_det(curve: DETCurve, axes: Axes | None, options: dict[str, Any]) -> Axes:
    """Misses over false alarms, both on logarithmic axes; rates of 0 are not drawn."""
    axes = new_axes(axes)
    shown = (curve.fpr > 0) & (curve.fnr > 0)
    axes.loglog(curve.fpr[shown], curve.fnr[shown], **options)
    return _labelled(axes, "false positive rate", "miss rate", None)


def plot_threshold_curve(curve: ThresholdCurve, axes: Axes | None, options: dict[str, Any]) -> Axes:
    """A quantity over the threshold, in steps: at a score and below it, down to the next."""
    axes = new_axes(axes)
    shown = np.isfinite(curve.scores)
    axes.step(curve.scores[shown], curve.values[shown], where="post", **options)
    return _labelled(axes, "threshold", "value", None)


def plot_cross_triggers(
    counts: Counts, threshold: float, axes: Axes | None, options: dict[str, Any]
) -> Axes:
    """The cross-trigger matrix at one threshold, with its numbers; the diagonal has true positives."""
    axes = new_axes(axes)
    matrix = counts.cross_trigger_matrix(threshold)
    shaded = np.where(np.eye(len(matrix), dtype=bool), 0, matrix)
    axes.imshow(shaded, **{"cmap": "Blues", **options})
    for (row, column), number in np.ndenumerate(matrix):
        dark = shaded[row, column] > 0.6 * max(1, shaded.max())
        colour = "white" if dark else "black"
        axes.text(column, row, str(number), ha="center", va="center", fontsize="small", color=colour)
    labels = list(counts)
    axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel("is")
    axes.set_ylabel("detected as")
    return axes


def _labelled(axes: Axes, x: str, y: str, limits: tuple[float, float] | None) -> Axes:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if limits:
        axes.set_ylim(*limits)
        axes.set_xlim(left=0)
    return axes
