"""Means that are rounded only once, so that they do not depend on the order of the numbers.

A plain sum of floats does: three times 0.7 is 2.0999999999999996, so the mean of three equal scores would be
lower than each of them, and a detection would break where more windows overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .arrays import FloatArray, ScoreArray


def group_means(rows: ScoreArray, groups: NDArray[np.integer[Any]], number: int) -> FloatArray:
    """Return the mean of the rows of each group, column by column.

    A mean of numbers of which one is infinite is infinite; if both infinities are among them, it is not a
    number. The mean of a group without rows is 0.

    Parameters
    ----------
    rows : array of float, shape (rows, columns)
        The numbers.
    groups : array of int, shape (rows,)
        The group of each row.
    number : int
        How many groups there are.

    Returns
    -------
    array of float64, shape (groups, columns)

    Examples
    --------
    >>> group_means(np.array([[0.7, 1.0], [0.7, 2.0], [0.7, 6.0]]), np.zeros(3, int), 2)
    array([[0.7, 3. ],
           [0. , 0. ]])
    """
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups, np.arange(number + 1), sorter=order).astype(np.int64, copy=False)
    return _native.group_means(np.ascontiguousarray(rows[order]), starts)
