"""The axes of a plot, with its title and its legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import SedscopeError
from ..escaping import latex, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

COLUMN = (3.4, 2.6)
"""The size of a new figure without its legend, in inches: as wide as a column of a paper."""

_STYLE = {
    "font.size": 8.0,  # points, at the width of a column
    "axes.linewidth": 0.6,
    "figure.dpi": 150.0,
}
SMALL = 7.0  # points, of the numbers beside the axes and of legends
_MOST_COLUMNS = 4  # of a legend


def axes_or_new(axes: Axes | None, size: tuple[float, float] = COLUMN) -> Axes:
    """Return the axes, or those of a new figure for None."""
    if axes is not None:
        return axes
    pyplot = _pyplot()
    with pyplot.rc_context(_STYLE):
        new: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
        interactive = pyplot.isinteractive()
    # The first figure loads the backend. That of a notebook turns on showing figures, which must stay on.
    pyplot.rcParams["interactive"] = interactive
    new.tick_params(labelsize=SMALL, width=0.6, length=2.5)
    return new


def close_figure(axes: Axes) -> None:
    """Forget a new figure that cannot be finished."""
    _pyplot().close(axes.figure)


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


def drawn_name(name: str) -> str:
    """Return a name as matplotlib draws it: no formula, and not hidden by a leading underscore."""
    from matplotlib import rcParams

    if rcParams["text.usetex"]:
        return latex(name)
    text = one_line(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def label_axes(axes: Axes, x: str, y: str, y_limits: tuple[float, float] | None = None) -> Axes:
    """Name both axes and return them. With limits of the second, the first starts at 0."""
    axes.set_xlabel(drawn_name(x))
    axes.set_ylabel(drawn_name(y))
    if y_limits:
        axes.set_ylim(*y_limits)
        axes.set_xlim(left=0)
    return axes


def add_title(axes: Axes, *lines: str) -> None:
    """Set the title, as large as the names of the axes."""
    title = "\n".join(map(drawn_name, lines))
    axes.set_title(title, fontsize=axes.xaxis.label.get_fontsize())


def add_legend(axes: Axes, entries: Sequence[tuple[str, Line2D]]) -> None:
    """Put the legend below the axes, in as many columns as fit, and make the figure larger by it.

    ``entries``: what is :func:`drawn_name` of each line.
    """
    figure: Any = axes.figure
    for columns in range(min(_MOST_COLUMNS, len(entries)), 0, -1):
        legend = figure.legend(
            [line for _, line in entries],
            [name for name, _ in entries],
            loc="outside lower center",
            ncols=columns,
            fontsize=SMALL,
            frameon=False,
            handlelength=2.4,
            columnspacing=1.2,
            labelspacing=0.3,
            borderaxespad=0.2,
        )
        box = legend.get_window_extent()
        if box.width <= figure.bbox.width or columns == 1:
            break
        legend.remove()
    width, height = figure.get_size_inches()
    figure.set_size_inches(max(width, box.width / figure.dpi), height + box.height / figure.dpi)
