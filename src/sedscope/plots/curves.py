"""Plots of curves: PSD-ROC, precision over recall, ROC, DET, FROC, and quantities over the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting.tally import hours_per
from ..data.arrays import FloatArray
from .axes import (
    add_legend,
    axes_or_new,
    draw_point,
    draw_points,
    drawn_name,
    label_axes,
    use_probit_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..diagnosis import AlarmLatencies, ClassLatencies
    from ..metrics.calibration import Reliability
    from ..metrics.curves import DETCurve, FROCCurve, PrecisionRecallCurve, ROCCurve, ThresholdCurve
    from ..metrics.psds import PSDROC, ClassPSDROC
    from ..metrics.queries import QueryCurve


_RATES = (0, 1.02)
_HIGHEST_ERROR_RATE = 2.0  # beyond are thresholds that nobody uses


def plot_class_psd_roc(curve: ClassPSDROC, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the true positive ratio of a class over its effective false positive rate, as steps."""
    style = {"label": drawn_name(curve.label), **options}
    return _plot_psd_roc_steps(curve, curve.tpr, curve.scores, axes, style)


def plot_psd_roc(curve: PSDROC, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the PSD-ROC over all classes as steps."""
    return _plot_psd_roc_steps(curve, curve.etpr, curve.etpr, axes, options)


def _plot_psd_roc_steps(
    curve: PSDROC | ClassPSDROC,
    ratios: FloatArray,
    scores: FloatArray,
    axes: Axes | None,
    options: Mapping[str, Any],
) -> Axes:
    """Plot steps from 0 to the end of the curve, which is flat after its last vertex.

    ``scores``: of the vertices, for a curve of one point; the overall curve has none.
    """
    axes = axes_or_new(axes)
    end = curve.max_efpr if np.isfinite(curve.max_efpr) else curve.efpr[-1]
    if curve.one_point:
        draw_point(axes, curve.efpr, ratios, scores, options)
    else:
        axes.step(np.append(curve.efpr, end), np.append(ratios, ratios[-1]), where="post", **options)
    if end > 0:
        axes.set_xlim(0, end)
    return label_axes(axes, f"effective false positives per {curve.unit}", "true positive ratio", _RATES)


def plot_precision_recall(
    curve: PrecisionRecallCurve, axes: Axes | None, options: Mapping[str, Any]
) -> Axes:
    """Plot precision over recall."""
    axes = axes_or_new(axes)
    if curve.mean_point is not None:
        draw_points(axes, *curve.mean_point, options)
    elif curve.one_point:
        draw_point(axes, curve.recall, curve.precision, curve.scores, options)
    else:
        # a mean curve has no operating points to draw lines between: it is a step function
        drawstyle = "steps-pre" if np.isnan(curve.scores).all() else "default"
        axes.plot(curve.recall, curve.precision, **{"drawstyle": drawstyle, **options})
    axes.set_xlim(*_RATES)
    return label_axes(axes, "recall", "precision", _RATES)


def plot_roc(curve: ROCCurve, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the true positive rate over the false positive rate."""
    axes = axes_or_new(axes)
    if curve.mean_point is not None:
        draw_points(axes, *curve.mean_point, options)
    elif curve.one_point:
        draw_point(axes, curve.fpr, curve.tpr, curve.scores, options)
    else:
        axes.plot(curve.fpr, curve.tpr, **options)
    axes.set_xlim(0, 1)
    return label_axes(axes, "false positive rate", "true positive rate", _RATES)


def plot_det(curve: DETCurve, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the miss rate over the false positive rate on probit axes.

    Where a rate is 0 or 1 the curve leaves the picture.
    """
    axes = axes_or_new(axes)
    use_probit_axes(axes, curve.fpr, curve.fnr)
    if curve.one_point:
        draw_point(axes, curve.fpr, curve.fnr, curve.scores, options)
    else:
        axes.plot(curve.fpr, curve.fnr, **options)
    return label_axes(axes, "false positive rate (%)", "miss rate (%)")


def plot_query_curve(curve: QueryCurve, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the share of queries that reach a value, from 0 to 1, as steps."""
    axes = axes_or_new(axes)
    last = curve.shares[-1:] if len(curve.shares) else np.zeros(1)
    values = np.concatenate([[1.0], curve.values, [0.0]])
    axes.step(values, np.concatenate([[0.0], curve.shares, last]), where="post", **options)
    axes.set_xlim(0, 1)
    return label_axes(axes, curve.quantity, "share of queries", _RATES)


def plot_reliability(curve: Reliability, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the share of right items over their mean score, with the diagonal of perfect calibration."""
    axes = axes_or_new(axes)
    if not axes.lines:
        axes.axline((0, 0), slope=1, color="0.7", linewidth=0.8, linestyle=":")
    axes.plot(curve.confidence, curve.share, **{"marker": "o", "markersize": 2.5, **options})
    axes.set_xlim(0, 1)
    return label_axes(axes, "score", "share that is right", _RATES)


def plot_latencies(latencies: ClassLatencies, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot the share of all references that have an alarm some time after their onset, as steps."""
    axes = axes_or_new(axes)
    times = latencies.latencies
    shares = np.arange(len(times) + 1) / max(latencies.references, 1)
    before, after = (min(times[0], 0), max(times[-1], 0)) if len(times) else (0, 0)
    margin = 0.05 * (after - before)
    axes.step(
        np.array([before - margin, *times, after + margin]),
        np.append(shares, shares[-1]),
        where="post",
        **options,
    )
    axes.set_ylim(*_RATES)
    return label_axes(axes, "seconds since the onset", "share of references with an alarm")


def plot_all_latencies(latencies: AlarmLatencies, axes: Axes | None, per_class: bool) -> Axes:
    """Plot the classes that have references, and all of them together. New axes get a legend."""
    drawn = axes_or_new(axes)
    chosen = [each for each in latencies.per_class.values() if per_class and each.references]
    for each in chosen:
        plot_latencies(each, drawn, {"label": drawn_name(each.label), "linewidth": 0.8})
    plot_latencies(latencies.overall, drawn, {"label": "all classes", "color": "black"})
    if axes is None:
        add_legend(drawn, [(str(line.get_label()), line) for line in drawn.get_lines()])
    return drawn


def plot_threshold_curve(curve: ThresholdCurve, axes: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Plot a quantity over the threshold as steps: a value holds from its score down to the next.

    For scores between 0 and 1, the curve runs from 0 to 1.
    """
    axes = axes_or_new(axes)
    if curve.one_point:
        draw_point(axes, curve.scores, curve.values, curve.scores, options)
        return label_axes(axes, "threshold", curve.quantity)
    finite = np.isfinite(curve.scores)
    scores, values = curve.scores[finite], curve.values[finite]
    if ((scores >= 0) & (scores <= 1)).all():
        ends = [1.0, 0.0]
        axes.set_xlim(0, 1)
    else:
        ends = [scores[0], scores[-1]]
    scores = np.concatenate([ends[:1], scores, ends[1:]])
    values = np.concatenate([curve.values[:1], values, curve.values[-1:]])
    axes.step(scores, values, where="post", **options)
    name = axes.get_ylabel()
    beside_classes = curve.quantity == f"mean {name}"
    label_axes(axes, "threshold", name if beside_classes else curve.quantity)
    highest = _HIGHEST_ERROR_RATE if values.max() > 1 else 1.02
    axes.set_ylim(0, max(highest, axes.get_ylim()[1] if len(axes.lines) > 1 else 0))
    return axes


_CURVE = "froc"  # how the lines of other classes or systems on the same axes are told from other lines


def plot_froc(
    curve: FROCCurve,
    axes: Axes | None,
    options: Mapping[str, Any],
    *,
    log: bool = True,
    per: str = "hour",
) -> Axes:
    """Plot the best recall over false alarms per hour or day as steps, with a ring where it is always on.

    On a logarithmic axis, no false alarm is drawn at half a false alarm in all clips.
    """
    axes = axes_or_new(axes)
    scale = hours_per(per)
    least = scale * 0.5 / curve.hours if log else 0.0
    shown = np.maximum(scale * curve.per_hour, least)
    if curve.one_point:
        draw_point(axes, shown, curve.recall, curve.scores, options)
    else:
        # the last recall holds for all higher rates
        ends = np.append(shown, shown[-1]), np.append(curve.recall, curve.recall[-1])
        ring: dict[str, Any] = {}
        if curve.always_on is not None:
            ring = {"marker": "o", "markevery": [curve.always_on], "markerfacecolor": "none"}
        (line,) = axes.step(*ends, where="post", gid=_CURVE, **{**ring, **options})
        if curve.band is not None:
            rates = np.maximum(scale * curve.band.per_hour, least)
            low, high, colour = curve.band.low, curve.band.high, line.get_color()
            axes.fill_between(rates, low, high, step="post", color=colour, alpha=0.15, linewidth=0)
    if log:
        axes.set_xscale("log")
    _run_to_the_edge(axes, least, log)
    axes.set_ylim(0, 1.02)
    return label_axes(axes, f"false alarms per {per}", "recall")


def _run_to_the_edge(axes: Axes, left: float, log: bool) -> None:
    """Let all curves run to one right edge, beyond the last step of each."""
    lines = [(line, np.array(line.get_xdata(), np.float64)) for line in axes.lines]
    steps = [x[-2] if line.get_gid() == _CURVE else x[-1] for line, x in lines if len(x)]
    last = max([left, *steps])
    right = (2 * last if log else 1.05 * last) or 1.0
    for line, x in lines:
        if line.get_gid() == _CURVE:
            x[-1] = right
            line.set_xdata(x)
    axes.set_xlim(left, right)
