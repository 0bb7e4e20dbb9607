"""The axes of a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import SedscopeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


def axes_or_new(axes: Axes | None) -> Axes:
    """Return the axes, or new ones for None."""
    if axes is not None:
        return axes
    new: Axes = _pyplot().subplots()[1]
    return new


def figure_or_new(figure: Figure | SubFigure | None, size: tuple[float, float]) -> Figure | SubFigure:
    """Return the figure, or a new one of this size in inches for None."""
    if figure is not None:
        return figure
    new: Figure = _pyplot().figure(figsize=size, layout="constrained")
    return new


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise SedscopeError(
            "Plots need matplotlib. Install it with: pip install 'sedscope[plot]'"
        ) from None
    return pyplot


def label_axes(axes: Axes, x: str, y: str, y_limits: tuple[float, float] | None = None) -> Axes:
    """Name both axes and return them. With limits of the second, the first starts at 0."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if y_limits:
        axes.set_ylim(*y_limits)
        axes.set_xlim(left=0)
    return axes
