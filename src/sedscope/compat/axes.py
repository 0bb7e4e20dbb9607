"""Plots into existing axes or into a new figure. They need matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..errors import SedscopeError


def draw_on_axes(
    draw: Callable[[Any], None], axes: Any, filename: str | Path | None, figsize: tuple[float, float]
) -> None:
    """Draw into ``axes``, or show a new figure. With ``filename``, save the figure there."""
    try:
        from matplotlib import pyplot
        from matplotlib.axes import Axes
    except ImportError:
        raise SedscopeError("Plots need matplotlib. Install it with: pip install matplotlib") from None

    if axes is not None and not isinstance(axes, Axes):
        raise SedscopeError(f"axes must be matplotlib axes, not {type(axes).__name__}.")
    target: Any = pyplot.figure(figsize=figsize).add_subplot() if axes is None else axes
    draw(target)
    if filename:
        target.figure.savefig(filename)
    if axes is None:
        pyplot.show()


def draw_psd_roc(
    etpr: Any, efpr: Any, max_efpr: float, unit: str, title: str, borders: Iterable[Any], axes: Any
) -> None:
    """Draw a PSD-ROC, the area under it, and curves that bound it."""
    axes.vlines(max_efpr, ymin=0, ymax=1, linestyles="dashed")
    axes.step(efpr, etpr, "b-", label="PSD-ROC", where="post")
    for border in borders:
        axes.step(efpr, border, "b--", where="post")
    axes.fill_between(efpr, etpr, label="AUC", alpha=0.3, color="tab:blue", step="post")
    axes.set(xlim=(0, max_efpr), ylim=(0, 1), xlabel=f"eFPR per {unit}", ylabel="eTPR", title=title)
    axes.legend()
    axes.grid()
