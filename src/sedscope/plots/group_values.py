"""The plot of groups: the value of each as a dot with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import SedscopeError, listing
from ..evaluation.group_results import GroupResults
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.names import metric_called
from .axes import add_title, axes_or_new, drawn_name, label_axes, line_style
from .plot import value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.15  # inches
_MOST_NAMES = 80  # more names would overlap in a figure that fits on a page
_HIGHEST = 9.0  # inches


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
    if len(groups) <= _MOST_NAMES:
        axes.set_yticks(places, [*map(drawn_name, groups)])
    else:
        axes.set_yticks([])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.locator_params(axis="x", nbins=5)  # more labels would touch each other
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
