"""The plot of a metric: the curves of the classes and the one over all of them, for one system or several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SedscopeError, UnknownName, counted, listing, shortened, with_guesses
from ..evaluation.result import Evaluation
from ..metrics import Metric, MetricResult
from ..metrics.curves import FROCCurve
from ..metrics.names import metric_called, metric_name
from .axes import (
    CROWD,
    OVERALL,
    STYLES,
    add_legend,
    add_title,
    axes_or_new,
    close_figure,
    drawn_name,
    line_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..metrics import ClasswiseResult, PSDSResult
    from ..metrics.curves import Curve


_ALL = "all classes"
_MOST_BANDS = 3  # more bands would cover each other


def plot_result(
    result: PSDSResult | ClasswiseResult[Any],
    class_curves: Mapping[str, Curve | None],
    overall_curve: Callable[[], Curve | None],
    axes: Axes | None,
    per_class: bool,
    options: Mapping[str, Any],
) -> Axes:
    """Plot the curves of the classes and the one over all of them.

    New figures have a title and a legend; axes that are passed get a title if nothing is drawn there yet.
    ``options`` go to the overall curve.
    """
    name = result.name or metric_name(result.metric)
    shown = {label: curve for label, curve in class_curves.items() if curve is not None}
    if len(shown) > _MOST_BANDS:
        shown = {
            label: replace(curve, band=None) if isinstance(curve, FROCCurve) else curve
            for label, curve in shown.items()
        }
    if not shown:
        raise SedscopeError(_why_there_is_no_curve(name, result))
    overall = overall_curve()
    if overall is not None and not overall.one_point and all(c.one_point for c in shown.values()):
        overall = None  # between single operating points there is nothing to draw
    if not per_class and overall is None:
        label = next(iter(shown))
        raise SedscopeError(
            f"{name} has no curve over all classes. Plot that of a class, such as "
            f"result[{name!r}].per_class[{label!r}].plot()."
        )
    target = axes_or_new(axes)
    if not target.has_data():
        add_title(target, f"{name} = {value_text(result.value)}")
    entries: list[tuple[str, Line2D]] = []
    if per_class and (len(shown) > 1 or overall is None):
        crowded = len(shown) > STYLES
        for number, label in enumerate(class_curves):
            if label in shown:
                style = CROWD if crowded else line_style(number)
                shown[label].plot(target, label=drawn_name(label), **style)
                entries.append((drawn_name(label), target.lines[-1]))
        if crowded:
            entries = [(counted(len(shown), "class"), target.lines[-1])]
    if overall is not None:
        label = _ALL if len(shown) > 1 else next(iter(shown))
        overall.plot(target, **{"label": drawn_name(label), **OVERALL, **options})
        entries.append((str(target.lines[-1].get_label()), target.lines[-1]))
    if axes is None and entries[0][0] != _ALL:
        add_legend(target, entries)
    return target


def plot_parts(
    curves: Mapping[str, Curve | None],
    axes: Axes | None,
    options: Mapping[str, Any],
    title: tuple[str, float] | None = None,
) -> Axes:
    """Plot the curves of the parts of a mean, with a legend on new axes.

    ``title``: the name of the metric and its value, for axes on which nothing is drawn yet.
    """
    shown = {name: curve for name, curve in curves.items() if curve is not None}
    if not shown:
        raise SedscopeError("There is no curve to plot: there are no reference events.")
    target = axes_or_new(axes)
    if title is not None and not target.has_data():
        add_title(target, f"{title[0]} = {value_text(title[1])}")
    entries: list[tuple[str, Line2D]] = []
    for number, (name, curve) in enumerate(shown.items()):
        curve.plot(target, **{"label": drawn_name(name), **line_style(number), **options})
        entries.append((drawn_name(name), target.lines[-1]))
    if axes is None:
        add_legend(target, entries)
    return target


def _why_there_is_no_curve(name: str, result: PSDSResult | ClasswiseResult[Any]) -> str:
    values = [of_class.value for of_class in result.per_class.values()]
    if np.isnan(values).all() and not result.thresholds:
        return "There is no curve to plot: no class has reference events."
    return f"There is no curve to plot: the value of {name} belongs to one threshold."


def value_text(value: float) -> str:
    """Return a value with as many digits as a paper needs."""
    return "not defined" if np.isnan(value) else f"{value:.3f}"


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
        except UnknownName as error:
            raise UnknownName(f"{system}: {error}") from None
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
