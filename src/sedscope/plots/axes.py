"""The axes of a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SedscopeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(axes: Axes | None) -> Axes:
    """Return the axes, or new ones for None."""
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise SedscopeError(
            "Plots need matplotlib. Install it with: pip install 'sedscope[plot]'"
        ) from None
    new: Axes = pyplot.subplots()[1]
    return new


def label_axes(axes: Axes, x: str, y: str, y_limits: tuple[float, float] | None = None) -> Axes:
    """Name both axes and return them. With limits of the second, the first starts at 0."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if y_limits:
        axes.set_ylim(*y_limits)
        axes.set_xlim(left=0)
    return axes
