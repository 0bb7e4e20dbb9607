"""The plot of the cross-trigger matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .axes import add_title, axes_or_new, drawn_name, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..data.arrays import IntArray

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
