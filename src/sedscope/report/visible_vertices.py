"""The vertices of a curve that a reader can see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..counting.tally import first_minimum_of_runs
from ..data.arrays import FloatArray

WIDTH, HEIGHT = 2000, 1200
"""The size of the picture, in pixels, in which no visible vertex is lost."""


def visible_vertices(x: FloatArray, y: FloatArray) -> NDArray[np.intp]:
    """Return the vertices of a curve in the unit square that are visible at ``WIDTH × HEIGHT`` pixels.

    Among consecutive vertices in one column of pixels, the first, the last, the highest and the lowest
    are kept; in one pixel, the first; on a horizontal or vertical stretch, the ends. So the curve still
    passes through every pixel that holds a vertex.

    >>> visible_vertices(np.array([0, 0.00001, 0.5, 1]), np.array([0, 0.00001, 0.5, 1])).tolist()
    [0, 2, 3]
    """
    if len(x) < 3:
        return np.arange(len(x))
    column = np.floor(np.clip(np.nan_to_num(x), 0, 1) * WIDTH).astype(np.int64)
    row = np.floor(np.clip(np.nan_to_num(y), 0, 1) * HEIGHT).astype(np.int64)
    begins = np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))
    ends = np.append(begins[1:], len(x)) - 1
    lowest, highest = first_minimum_of_runs(column, row), first_minimum_of_runs(column, -row)
    kept = np.unique(np.concatenate([begins, ends, lowest, highest]))
    across, up = np.diff(column[kept]), np.diff(row[kept])
    kept = kept[np.concatenate([[True], (across != 0) | (up != 0)])]
    across, up = np.diff(column[kept]), np.diff(row[kept])
    horizontal = (up[1:] == 0) & (up[:-1] == 0) & (across[1:] * across[:-1] > 0)
    vertical = (across[1:] == 0) & (across[:-1] == 0) & (up[1:] * up[:-1] > 0)
    kept = kept[np.concatenate([[True], ~(horizontal | vertical), [True]])[: len(kept)]]
    return kept if kept[-1] == len(x) - 1 else np.append(kept, len(x) - 1)
