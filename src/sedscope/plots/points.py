"""Curves of a single operating point, which are drawn as a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..data.arrays import FloatArray


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
