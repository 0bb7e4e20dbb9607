"""Plots of values: dots with intervals for groups, classes or systems; errors of clips; confusions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import SedscopeError, listing
from ..evaluation.group_results import GroupResults
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.names import metric_called
from ..resampling.intervals import Interval
from .axes import add_legend, add_title, axes_or_new, drawn_name, label_axes, line_style
from .plot import plot, value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..data.arrays import IntArray
    from ..metrics import MetricResult


_CELL = 0.24  # inches
_LETTER = 0.055  # inches, of the names of the classes
_SMALL = 6  # points


def plot_cross_trigger_matrix(
    matrix: IntArray, labels: Sequence[str], axes: Axes | None, options: Mapping[str, Any], *title: str
) -> Axes:
    """Plot a matrix of cross-triggers with its numbers: class detected × class present.

    True positives are on the diagonal, without shade. A new figure is as large as the names of the classes
    need.
    """
    names = [*map(drawn_name, labels)]
    width = _LETTER * max(map(len, names), default=0)
    cells = max(1.6, _CELL * len(labels))
    axes = axes_or_new(axes, (cells + width + 1.0, cells + 0.75 * width + 0.7))
    shades = np.where(np.eye(len(matrix), dtype=bool), 0, matrix)
    image = axes.imshow(shades, **{"cmap": "Blues", "vmin": 0, "vmax": max(1, shades.max()), **options})
    for (row, column), number in np.ndenumerate(matrix):
        dark = shades[row, column] > 0.6 * max(1, shades.max())
        colour = "white" if dark else "black" if number else "0.7"
        axes.text(
            column,
            row,
            str(number),
            ha="center",
            va="center",
            fontsize=_SMALL,
            color=colour,
            clip_on=True,
        )
    axes.set_xticks(range(len(labels)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(labels)), names)
    bar: Any = axes.figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label("cross-triggers", fontsize=axes.xaxis.label.get_fontsize())
    bar.ax.tick_params(labelsize=axes.yaxis.get_ticklabels()[0].get_fontsize())
    bar.ax.yaxis.get_major_locator().set_params(integer=True)
    add_title(axes, *title)
    return label_axes(axes, "class present", "class detected")


_ROW = 0.15  # inches
_MOST_NAMES = 80  # more names would overlap in a figure that fits on a page
_HIGHEST = 9.0  # inches
_SPREAD = 0.7  # of a row, in which the dots of several series lie

OVERALL = "overall"
"""The row of all classes."""


def plot_evaluation(
    result: Evaluation, metric: Metric[Any] | str | None, per_class: bool, axes: Axes | None
) -> Axes:
    """Draw the curves behind a metric, by default the first one; or its values if it has no curves."""
    chosen = next(iter(result)) if metric is None else metric_called(metric, result.names)
    of_metric: MetricResult = result[chosen]
    curves = [getattr(value, "curve", None) for value in of_metric.per_class.values()]
    if hasattr(of_metric, "parts") or any(curve is not None for curve in curves):
        return plot(result, chosen, per_class=per_class, ax=axes)
    interval: Any = result.intervals.get(chosen, of_metric)
    return plot_values(
        {"": rows_of(interval, result.classes if per_class else ())}, result.names[chosen], axes
    )


def rows_of(value: Any, classes: Iterable[str]) -> dict[str, tuple[float, float, float]]:
    """Return the value and the ends of the interval of each class, then of all of them.

    ``value``: an interval, or a result without one.
    """
    of_classes = {label: value.per_class[label] for label in classes if label in value.per_class}
    return {name: _numbers(of_row) for name, of_row in {**of_classes, OVERALL: value}.items()}


def _numbers(value: Any) -> tuple[float, float, float]:
    ends = (value.low, value.high) if isinstance(value, Interval) else (np.nan, np.nan)
    return (value.value, *ends)


def plot_values(
    series: Mapping[str, Mapping[str, tuple[float, float, float]]],
    name: str,
    axes: Axes | None,
    *,
    zero: bool = False,
) -> Axes:
    """Draw a row per class, and in it a dot with its interval for each series.

    ``series``: by name the rows, each with a value and the ends of its interval. ``name``: of the values.
    ``zero``: draw a line at 0, from which differences are seen.
    """
    rows = [*dict.fromkeys(row for of_series in series.values() for row in of_series if row != OVERALL)]
    rows.append(OVERALL)
    height = len(rows) * max(1.0, 0.6 * len(series))
    target = axes_or_new(axes, (3.4, min(_HIGHEST, 0.8 + _ROW * height)))
    if zero:
        target.axvline(0, color="0.7", linewidth=1.0, zorder=1)
    entries = []
    for number, (label, of_series) in enumerate(series.items()):
        shift = _SPREAD * ((number + 0.5) / len(series) - 0.5)
        places = np.array([rows.index(row) + shift for row in of_series])
        values, low, high = np.array([*of_series.values()]).T
        colour = line_style(number)["color"]
        if not np.isnan(low).all():
            target.hlines(places, low, high, color=colour, linewidth=1.0)
        target.plot(
            values, places, "o", color=colour, markersize=3.5 if len(rows) <= _MOST_NAMES else 2.0
        )
        entries.append((drawn_name(label), target.lines[-1]))
    if len(rows) > 1:
        target.axhline(len(rows) - 1.5, color="0.7", linewidth=0.6)
    _name_rows(target, rows)
    if axes is None and (len(series) > 1 or zero):
        add_legend(target, entries)
    return label_axes(target, name, "")


def plot_clip_errors(clips: Sequence[str], fp: IntArray, fn: IntArray, axes: Axes | None) -> Axes:
    """Draw a bar per clip: its false positives, and beside them its false negatives."""
    target = axes_or_new(axes, (3.4, min(_HIGHEST, 0.8 + _ROW * len(clips))))
    entries = []
    for number, (name, errors, left) in enumerate(
        [("false positives", fp, 0 * fp), ("false negatives", fn, fp)]
    ):
        bars = target.barh(
            range(len(clips)), errors, left=left, color=line_style(number)["color"], height=_SPREAD
        )
        entries.append((name, bars))
    _name_rows(target, clips)
    if axes is None:
        add_legend(target, entries)
    return label_axes(target, "errors", "")


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows from top to bottom, if there are not too many."""
    if len(names) <= _MOST_NAMES:
        axes.set_yticks(range(len(names)), [*map(drawn_name, names)])
    else:
        axes.set_yticks([])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.locator_params(axis="x", nbins=5)  # more labels would touch each other


def plot_groups(
    result: Evaluation,
    metric: Metric[Any] | str,
    *,
    kind: Literal["clips", "classes", "lengths"] | None = None,
    sort: Literal["name", "value"] = "name",
    ax: Axes | None = None,
) -> Axes:
    """Draw the value of each group with matplotlib: a dot, and its interval if clips were resampled.

    A grey line is the value of all clips and classes; a dashed one is the average over the groups, if there
    is one. Of more than 80 groups, the names are left out.

    Parameters
    ----------
    result : Evaluation
        An evaluation with groups; see ``by`` of :func:`~sedscope.evaluate`.
    metric : Metric or str
        What to draw: a metric that was evaluated, its name or its definition.
    kind : {"clips", "classes", "lengths"}, optional
        Which groups to draw, if there are several kinds.
    sort : {"name", "value"}, default "name"
        The order of the groups, from top to bottom: as in tables, or the largest value first.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, a new figure as wide as a column of a paper.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(40, classes=2)
    >>> sites = {clip: f"site {number % 4}" for number, clip in enumerate(truth.clips)}
    >>> result = sed.evaluate(sed.simulate.scores(truth), truth, "collar_f1", by=sites)
    >>> axes = sed.plots.plot_groups(result, "collar_f1", sort="value")
    >>> axes.get_xlabel()
    'collar_f1'
    """
    results = _chosen(result, kind)
    if sort not in ("name", "value"):
        raise SedscopeError(f"sort={sort!r} is not valid. Choose 'name' or 'value'.")
    name = result.names[metric_called(metric if isinstance(metric, str) else repr(metric), result.names)]
    measured = {group: evaluation[name].value for group, evaluation in results.items()}
    groups = [*measured]
    if sort == "value":
        groups.sort(key=lambda group: -np.nan_to_num(measured[group], nan=-np.inf))
    places = np.arange(len(groups))
    axes = axes_or_new(ax, (3.4, min(_HIGHEST, 0.8 + _ROW * len(groups))))
    overall = result[name].value
    axes.axvline(overall, color="0.7", linewidth=1.0, zorder=1)
    style = line_style(0)
    ends = np.array([_interval_ends(results[group], name) for group in groups])
    if not np.isnan(ends).all():
        axes.hlines(places, *ends.T, color=style["color"], linewidth=1.0)
    values = [measured[group] for group in groups]
    size = 3.5 if len(groups) <= _MOST_NAMES else 2.0
    axes.plot(values, places, "o", color=style["color"], markersize=size)
    title = f"all: {value_text(overall)}"
    if results.averages:
        average = results.averages[name].value
        axes.axvline(average, color="black", linestyle="--", linewidth=1.0, zorder=1)
        title += f", {results.average_name()}: {value_text(average)}"
    add_title(axes, title)
    axes.title.set(x=1.0, horizontalalignment="right")  # names may leave little room for the axes
    _name_rows(axes, groups)
    return label_axes(axes, name, "" if len(groups) <= _MOST_NAMES else results.title())


def _interval_ends(evaluation: Evaluation, name: str) -> tuple[float, float]:
    """Return the ends of an interval, or NaN where there is none, as for a group of a single clip."""
    interval = evaluation.intervals.get(metric_called(name, evaluation.names))
    return (np.nan, np.nan) if interval is None else (interval.low, interval.high)


def _chosen(result: Evaluation, kind: str | None) -> GroupResults:
    """Return the groups to draw."""
    if not isinstance(result, Evaluation):
        raise SedscopeError(
            f"{type(result).__name__} is not an evaluation. Pass what evaluate() returns."
        )
    if not result.groups:
        raise SedscopeError("The evaluation has no groups. Evaluate with by=.")
    if kind is None and len(result.groups) > 1:
        choices = " or ".join(f"kind={name!r}" for name in result.groups)
        raise SedscopeError(f"There are several kinds of groups. Choose one with {choices}.")
    chosen = next(iter(result.groups)) if kind is None else kind
    if chosen not in result.groups:
        raise SedscopeError(
            f"kind={kind!r} is not valid. There are groups of {listing([*result.groups])}."
        )
    return result.groups[chosen]
