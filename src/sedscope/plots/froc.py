"""The plot of recall over false alarms per hour (FROC)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .axes import axes_or_new, label_axes
from .points import draw_point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..metrics.curves import FROCCurve


_CURVE = "froc"  # how the lines of other classes or systems on the same axes are told from other lines


def plot_froc(
    curve: FROCCurve, axes: Axes | None, options: Mapping[str, Any], *, log: bool = True
) -> Axes:
    """Plot the best recall over false alarms per hour as steps.

    On a logarithmic axis, no false alarm is drawn at half a false alarm in all clips.
    """
    axes = axes_or_new(axes)
    least = 0.5 / curve.hours if log else 0.0
    per_hour = np.maximum(curve.per_hour, least)
    if curve.one_point:
        draw_point(axes, per_hour, curve.recall, curve.scores, options)
    else:
        # the last recall holds for all higher rates
        ends = np.append(per_hour, per_hour[-1]), np.append(curve.recall, curve.recall[-1])
        (line,) = axes.step(*ends, where="post", gid=_CURVE, **options)
        if curve.band is not None:
            rates = np.maximum(curve.band.per_hour, least)
            low, high, colour = curve.band.low, curve.band.high, line.get_color()
            axes.fill_between(rates, low, high, step="post", color=colour, alpha=0.15, linewidth=0)
    if log:
        axes.set_xscale("log")
    _run_to_the_edge(axes, least, log)
    axes.set_ylim(0, 1.02)
    return label_axes(axes, "false alarms per hour", "recall")


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
