"""Areas under curves, and the order of their points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._native import step_area
from ....errors import SedscopeError


def staircase_auc(y: NDArray[Any], x: NDArray[Any], max_x: float | None = None) -> float:
    """Return the area under steps: ``y[i]`` holds from ``x[i]`` on, up to ``max_x`` or the largest x.

    >>> staircase_auc(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]))
    2.0
    """
    order = np.argsort(x, kind="stable")
    end = float(x[order[-1]]) if max_x is None else float(max_x)
    inside = order[x[order] <= end]
    return step_area(np.asarray(x, np.float64)[inside], np.asarray(y, np.float64)[inside], end)


def linear_auc(y: NDArray[Any], x: NDArray[Any], max_x: float | None = None) -> float:
    """Return the area under straight lines between points, up to ``max_x`` or the largest x.

    >>> linear_auc(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]))
    3.5
    """
    order = np.lexsort((y, x))
    ordered_x, ordered_y = np.asarray(x, np.float64)[order], np.asarray(y, np.float64)[order]
    if max_x is not None:
        inside = int(np.searchsorted(ordered_x, max_x, side="right"))
        crossing = np.interp(max_x, ordered_x[inside - 1 :], ordered_y[inside - 1 :])
        ordered_x = np.append(ordered_x[:inside], max_x)
        ordered_y = np.append(ordered_y[:inside], crossing)
    return float(np.sum(np.diff(ordered_x) * (ordered_y[1:] + ordered_y[:-1]) / 2))


def get_curve_idx_for_threshold(scores: NDArray[Any], threshold: float) -> Any:
    """Return the index of a threshold's operating point: that of the lowest score above the threshold,
    or of the highest score if none is."""
    if not np.isscalar(threshold):
        raise SedscopeError(f"The threshold must be one number, not {threshold!r:.80}.")
    order = np.argsort(scores, kind="stable")
    rank = np.searchsorted(np.asarray(scores)[order], threshold, side="right")
    return order[min(int(rank), len(order) - 1)]


def xsort(y: NDArray[Any], x: NDArray[Any], *args: Any) -> tuple[Any, ...]:
    """Sort all columns by x, then y. Further columns may be nested in lists and dictionaries."""
    order = np.lexsort((y, x))

    def arrange(column: Any) -> Any:
        if np.isscalar(column):
            return column
        if isinstance(column, (list, tuple)):
            return [arrange(inner) for inner in column]
        if isinstance(column, dict):
            return {key: arrange(inner) for key, inner in column.items()}
        return column[order]

    return (y[order], x[order], *(arrange(column) for column in args))
