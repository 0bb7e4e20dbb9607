"""The plot of a metric, for one system or several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import SedscopeError, listing, shortened, with_guesses
from ..evaluation.result import Evaluation
from ..metrics import Metric, MetricResult
from ..metrics.names import UnknownMetric, metric_called
from .axes import add_legend, add_title, axes_or_new, close_figure, drawn_name
from .results import value_text
from .styles import line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


def plot(
    results: Evaluation | Iterable[Evaluation] | Mapping[str, Evaluation],
    metric: Metric[Any] | str,
    *,
    label: str | None = None,
    per_class: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the curves behind a metric with matplotlib: of one system, or of several over each other.

    One system has the curves of its classes and the one over all classes, as with
    ``result["psds1"].plot()``. Several systems have one curve each, with their values in the legend.

    Parameters
    ----------
    results : Evaluation, iterable of Evaluation, or mapping of str to Evaluation
        The system, or several systems, perhaps with their names. ``Comparison.evaluations`` is such a
        mapping.
    metric : Metric or str
        What to draw: a metric that was evaluated, its name or its definition.
    label : str, optional
        Draw only this class.
    per_class : bool, default True
        Whether to draw the classes of a single system as well. False draws the overall curve alone.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, a new figure as wide as a column of a paper, with a legend below.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(20, classes=2)
    >>> a, b = (sed.evaluate(sed.simulate.scores(truth, quality=q), truth, "psds1") for q in (0.8, 0.6))
    >>> axes = sed.plot({"ours": a, "baseline": b}, "psds1")
    >>> axes.get_xlabel()
    'effective false positives per hour'
    """
    systems = _named(results)
    measured, name = _common_metric(systems, metric)
    if len(systems) == 1 and label is None:
        (evaluation,) = systems.values()
        result: MetricResult = evaluation[measured]
        axes = result.plot(ax, per_class=per_class)
        add_title(axes, f"{name} = {value_text(result.value)}")
        return axes
    if label is not None:
        _require_class(systems, measured, label)
    axes = axes_or_new(ax)
    try:
        entries = [
            _plot_system(system, evaluation[measured], label, axes, line_style(number, width=1.4))
            for number, (system, evaluation) in enumerate(systems.items())
        ]
    except SedscopeError:
        if ax is None:
            close_figure(axes)
        raise
    add_title(axes, name if label is None else f"{name}, {label}")
    if ax is None:
        add_legend(axes, entries)
    return axes


def _plot_system(
    system: str, result: MetricResult, label: str | None, axes: Axes, style: Mapping[str, Any]
) -> tuple[str, Line2D]:
    """Plot the curve of a system, or of one of its classes, and return its entry in the legend."""
    if label is None:
        entry = drawn_name(f"{system} ({value_text(result.value)})")
        result.plot(axes, per_class=False, label=entry, **style)
    else:
        of_class = result.per_class[label]
        entry = drawn_name(f"{system} ({value_text(of_class.value)})")
        of_class.plot(axes, label=entry, **style)
    return entry, axes.lines[-1]


def _named(results: Any) -> dict[str, Evaluation]:
    """Return the systems by name. Those without names are numbered."""
    systems: Mapping[Any, Any]
    if isinstance(results, Evaluation):
        systems = {"system": results}
    elif isinstance(results, Mapping):
        systems = results
    elif isinstance(results, Iterable):
        systems = {f"system {number}": result for number, result in enumerate(results, 1)}
    else:
        raise SedscopeError(
            f"{type(results).__name__} is not an evaluation. Pass what evaluate() returns, or several."
        )
    for name, result in systems.items():
        if not isinstance(result, Evaluation):
            raise SedscopeError(
                f"{name} is not an evaluation but {type(result).__name__}. Pass what evaluate() returns."
            )
    if not systems:
        raise SedscopeError("There is no system to plot. Pass at least one evaluation.")
    return {str(name): evaluation for name, evaluation in systems.items()}


def _common_metric(
    systems: Mapping[str, Evaluation], metric: Metric[Any] | str
) -> tuple[Metric[Any], str]:
    """Return the metric that all systems have, and its name in the first of them."""
    text = metric if isinstance(metric, str) else repr(metric)
    metrics = {}
    for system, evaluation in systems.items():
        try:
            metrics[system] = metric_called(text, evaluation.names)
        except UnknownMetric as error:
            raise UnknownMetric(f"{system}: {error}") from None
    first, *others = metrics.values()
    if any(other != first for other in others):
        definitions = [f"{system}: {measured!r}" for system, measured in metrics.items()]
        raise SedscopeError(
            f"{shortened(text)} is not the same metric in all systems. {listing(definitions)}."
        )
    return first, next(iter(systems.values())).names[first]


def _require_class(systems: Mapping[str, Evaluation], metric: Metric[Any], label: str) -> None:
    for system, evaluation in systems.items():
        per_class = evaluation[metric].per_class
        if label not in per_class:
            (guess,) = with_guesses([label], per_class)
            raise SedscopeError(f"{system} has no class {guess}.")
        if math.isnan(per_class[label].value):
            raise SedscopeError(
                f"{system}: there is no curve of {label}, which has no reference events."
            )
