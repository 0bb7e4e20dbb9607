"""The axes of a plot: title, legend, colours and dashes, and the scale of DET curves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import erf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..escaping import latex, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from ..data.arrays import FloatArray


_COLOURS = (
    *("#0072b2", "#c64f00", "#00825f", "#a8568a", "#8a6a00", "#5d6166", "#7a4b2a", "#8d6df9", "#bb084b"),
    *("#5d9f2e", "#163bb8", "#f45593", "#304c03", "#808d96", "#560499", "#0a4475", "#bf841e", "#800a54"),
    *("#cb5dd3", "#7240c9"),
)
_DASHES = ("-", "--", ":", "-.")
_SAME_DASH = 10  # styles

STYLES = 40
"""How many styles differ. The first 20 differ in colour."""

OVERALL = {"color": "black", "linewidth": 2.0, "zorder": 1.9}
"""The style of all classes together: a broad line behind those of the classes."""

CROWD = {"color": "0.75", "linewidth": 0.5}
"""The style of each class where there are more classes than styles."""


def line_style(number: int, *, width: float = 1.0) -> dict[str, Any]:
    """Return the options of matplotlib for a class or a system."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _DASHES[number // _SAME_DASH % len(_DASHES)],
        "linewidth": width,
    }


def draw_point(
    axes: Axes, x: FloatArray, y: FloatArray, scores: FloatArray, options: Mapping[str, Any]
) -> None:
    """Draw the only operating point of a curve with detections: a line would promise others.

    ``scores``: of the vertices; the point is the last one above ``-inf``. A first vertex at ``inf`` is the
    one without detections, and not drawn.
    """
    point = np.flatnonzero(scores > -np.inf)[-1:]
    if not point.any() and np.isposinf(scores[:1]).all():
        point = point[:0]
    draw_points(axes, x[point], y[point], options)


def draw_points(axes: Axes, x: ArrayLike, y: ArrayLike, options: Mapping[str, Any]) -> None:
    """Draw points, and no line between them."""
    axes.plot(np.atleast_1d(x), np.atleast_1d(y), **{"marker": "o", **options, "linestyle": "none"})


_PERCENT = (0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.9)
_TICKS = np.array(_PERCENT) / 100
_QUANTILES = np.linspace(-6, 6, 4801)  # so fine that lines between them cannot be seen
_RATES = np.array([0.5 + erf(quantile / sqrt(2)) / 2 for quantile in _QUANTILES.tolist()])
_SMALLEST_LIMIT, _LARGEST_LIMIT = 0.0001, 0.999
_USUAL_LIMITS = (0.01, 0.6)


def probit(rates: FloatArray) -> FloatArray:
    """Return the normal quantiles of rates, at least −6 and at most 6."""
    return np.interp(rates, _RATES, _QUANTILES)


def normal_probability(quantiles: FloatArray) -> FloatArray:
    """Return the rates that belong to normal quantiles."""
    return np.interp(quantiles, _QUANTILES, _RATES)


def use_probit_axes(axes: Axes, x: FloatArray, y: FloatArray) -> None:
    """Scale both axes, and choose limits at which the curve, and those drawn before, can be seen.

    The upper limit is 60 %, or more for a curve that is nowhere below 60 % in both rates. The lower limit is
    the smallest rate above 0 on the part of the curve below the upper one.
    """
    low, high = _USUAL_LIMITS
    if not (np.maximum(x, y) <= high).any():
        high = _LARGEST_LIMIT
    inside = np.maximum(x, y) <= high
    rates = np.concatenate([x[inside], y[inside]])
    low = max(_SMALLEST_LIMIT, min(low, float(rates[rates > 0].min(initial=1))))
    if axes.get_xscale() == "function":
        before = axes.get_xlim()
        low, high = min(low, before[0]), max(high, before[1])
    ticks = _TICKS[(low <= _TICKS) & (high >= _TICKS)]
    names = [f"{100 * tick:g}" for tick in ticks]
    functions: Any = (probit, normal_probability)
    axes.set_xscale("function", functions=functions)
    axes.set_yscale("function", functions=functions)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, names)
        axis.set_ticks([], minor=True)
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)


COLUMN = (3.4, 2.6)
"""The size of a new figure without its legend, in inches: as wide as a column of a paper."""

_STYLE = {
    "font.size": 8.0,  # points, at the width of a column
    "axes.linewidth": 0.6,
    "figure.dpi": 150.0,
}
SMALL = 7.0  # points, of the numbers beside the axes and of legends
_MOST_COLUMNS = 4  # of a legend
_TRUETYPE = 42


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
    return _pyplot().figure(figsize=size, layout="constrained")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise SedscopeError(
            "Plots need matplotlib. Install it with: pip install 'sedscope[plot]'"
        ) from None
    # Publishers refuse the Type 3 fonts of matplotlib's default. They are chosen when a figure is saved.
    pyplot.rcParams.update({"pdf.fonttype": _TRUETYPE, "ps.fonttype": _TRUETYPE})
    return pyplot


def drawn_name(name: str) -> str:
    """Return a name as matplotlib draws it: no formula, and not hidden by a leading underscore."""
    from matplotlib import rcParams

    if rcParams["text.usetex"]:
        return latex(name)
    text = one_line(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _in_capitals(text: str) -> str:
    """Write PSDS1 as papers do, where the short name of the metric is psds1."""
    return re.sub(r"\bpsds(?=\d)", "PSDS", text)


def label_axes(axes: Axes, x: str, y: str, y_limits: tuple[float, float] | None = None) -> Axes:
    """Name both axes and return them. With limits of the second, the first starts at 0."""
    axes.set_xlabel(_in_capitals(drawn_name(x)))
    axes.set_ylabel(_in_capitals(drawn_name(y)))
    if y_limits:
        axes.set_ylim(*y_limits)
        axes.set_xlim(left=0)
    return axes


def add_title(axes: Axes, *lines: str) -> None:
    """Set the title, as large as the names of the axes."""
    title = _in_capitals("\n".join(map(drawn_name, lines)))
    axes.set_title(title, fontsize=axes.xaxis.label.get_fontsize())


def add_legend(axes: Axes, entries: Sequence[tuple[str, Line2D | BarContainer]]) -> None:
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
