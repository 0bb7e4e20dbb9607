"""Areas under curves, and their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import SedscopeError
from ....metrics.psd_roc import step_area


def staircase_auc(y: NDArray[Any], x: NDArray[Any], max_x: float | None = None) -> float:
    """The area under steps: ``y[i]`` holds from ``x[i]`` on, up to ``max_x`` or the largest x.

    >>> staircase_auc(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]))
    2.0
    """
    order = np.argsort(x, kind="stable")
    end = float(x[order[-1]]) if max_x is None else float(max_x)
    inside = order[x[order] <= end]
    return step_area(np.asarray(x, np.float64)[inside], np.asarray(y, np.float64)[inside], end)


def linear_auc(y: NDArray[Any], x: NDArray[Any], max_x: float | None = None) -> float:
    """The area under straight lines between points, up to ``max_x`` or the largest x.

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
    """Where a curve has the operating point of a threshold: the lowest score above it, or the highest
    one if none is."""
    if not np.isscalar(threshold):
        raise SedscopeError(f"the threshold must be one number, not {threshold!r:.80}")
    order = np.argsort(scores, kind="stable")
    place = np.searchsorted(np.asarray(scores)[order], threshold, side="right")
    return order[min(int(place), len(order) - 1)]


def xsort(y: NDArray[Any], x: NDArray[Any], *args: Any) -> tuple[Any, ...]:
    """All columns by rising x, then y; the further ones may be nested in lists and dictionaries."""
    order = np.lexsort((y, x))

    def arranged(column: Any) -> Any:
        if np.isscalar(column):
            return column
        if isinstance(column, (list, tuple)):
            return [arranged(one) for one in column]
        if isinstance(column, dict):
            return {key: arranged(one) for key, one in column.items()}
        return column[order]

    return (y[order], x[order], *(arranged(column) for column in args))
