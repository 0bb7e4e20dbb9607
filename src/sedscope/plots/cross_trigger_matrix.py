"""The plot of the cross-trigger matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .axes import axes_or_new, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..counting.counts import Counts


def plot_cross_trigger_matrix(
    counts: Counts, threshold: float, axes: Axes | None, options: Mapping[str, Any]
) -> Axes:
    """Plot the cross-trigger matrix at one threshold, with its numbers.

    True positives are on the diagonal, without shade. Frames with ``score > threshold`` are active.
    """
    axes = axes_or_new(axes)
    matrix = counts.cross_trigger_matrix(threshold)
    shades = np.where(np.eye(len(matrix), dtype=bool), 0, matrix)
    axes.imshow(shades, **{"cmap": "Blues", **options})
    for (row, column), number in np.ndenumerate(matrix):
        dark = shades[row, column] > 0.6 * max(1, shades.max())
        colour = "white" if dark else "black"
        axes.text(column, row, str(number), ha="center", va="center", fontsize="small", color=colour)
    labels = list(counts)
    axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
    axes.set_yticks(range(len(labels)), labels)
    return label_axes(axes, "actual class", "detected class")
