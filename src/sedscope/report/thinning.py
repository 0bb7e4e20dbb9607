"""Curves without the vertices that nobody can see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import first_minimum_of_runs

WIDTH, HEIGHT = 2000, 1200
"""The picture, in pixels, in which no visible vertex is lost."""

Rows = NDArray[np.intp]


def visible_rows(x: NDArray[np.float64], y: NDArray[np.float64]) -> Rows:
    """The vertices of a curve in the unit square that can be seen in a picture of ``WIDTH × HEIGHT``.

    Of consecutive vertices in one column of pixels the first, the last, the highest and the lowest
    are kept, of consecutive ones in one pixel the first, and of those on a level or upright stretch the
    ends. So every pixel that holds a vertex is still passed through.

    >>> visible_rows(np.array([0, 0.00001, 0.5, 1]), np.array([0, 0.00001, 0.5, 1])).tolist()
    [0, 2, 3]
    """
    if len(x) < 3:
        return np.arange(len(x))
    column = np.floor(np.clip(np.nan_to_num(x), 0, 1) * WIDTH).astype(np.int64)
    row = np.floor(np.clip(np.nan_to_num(y), 0, 1) * HEIGHT).astype(np.int64)
    begins = np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))
    ends = np.append(begins[1:], len(x)) - 1
    lowest, highest = first_minimum_of_runs(column, row), first_minimum_of_runs(column, -row)
    rows = np.unique(np.concatenate([begins, ends, lowest, highest]))
    across, up = np.diff(column[rows]), np.diff(row[rows])
    rows = rows[np.concatenate([[True], (across != 0) | (up != 0)])]
    across, up = np.diff(column[rows]), np.diff(row[rows])
    level = (up[1:] == 0) & (up[:-1] == 0) & (across[1:] * across[:-1] > 0)
    upright = (across[1:] == 0) & (across[:-1] == 0) & (up[1:] * up[:-1] > 0)
    kept: Rows = rows[np.concatenate([[True], ~(level | upright), [True]])[: len(rows)]]
    return kept if kept[-1] == len(x) - 1 else np.append(kept, len(x) - 1)
