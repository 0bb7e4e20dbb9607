"""The plot of a metric: the curves of the classes, and the one over all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SedscopeError, counted
from ..metrics.curves import FROCCurve
from ..metrics.names import metric_name
from .axes import add_legend, add_title, axes_or_new, drawn_name
from .styles import CROWD, OVERALL, STYLES, line_style

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
        shown = {label: _without_band(curve) for label, curve in shown.items()}
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


def _without_band(curve: Curve) -> Curve:
    return replace(curve, band=None) if isinstance(curve, FROCCurve) else curve


def _why_there_is_no_curve(name: str, result: PSDSResult | ClasswiseResult[Any]) -> str:
    values = [of_class.value for of_class in result.per_class.values()]
    if np.isnan(values).all() and not result.thresholds:
        return "There is no curve to plot: no class has reference events."
    return f"There is no curve to plot: the value of {name} belongs to one threshold."


def value_text(value: float) -> str:
    """Return a value with as many digits as a paper needs."""
    return "not defined" if np.isnan(value) else f"{value:.3f}"
