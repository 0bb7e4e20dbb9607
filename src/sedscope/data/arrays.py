"""Array types that every package shares, and hashes and exact means of numbers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from ..errors import SedscopeError

if TYPE_CHECKING:
    from hashlib import _Hash

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ScoreArray = NDArray[np.float32 | np.float64]


def refuse_masked(values: ArrayLike, name: str) -> None:
    """Refuse masked arrays, and lists of them, with missing values: conversion would lose the mask."""
    # who makes a masked array has loaded it; few do, and another thread may be loading it just now
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    if masked is None:
        return
    for part in values if isinstance(values, (list, tuple)) else (values,):
        if isinstance(part, masked) and np.any(part.mask):
            raise SedscopeError(f"Some {name} are missing (masked). Fill them first.")


def rounded_down(numbers: ScoreArray, dtype: np.dtype[Any]) -> ScoreArray:
    """Convert numbers to a type that may be narrower than theirs.

    Each becomes the largest value of the type that is not above it, so that the same scores of that
    type lie above either.
    """
    lowest: ScoreArray = np.full(len(numbers), -np.inf, dtype)
    with np.errstate(over="ignore"):
        narrow: ScoreArray = numbers.astype(dtype)
        return np.where(narrow > numbers, np.nextafter(narrow, lowest), narrow)


def sha256(content: bytes) -> _Hash:
    """Return the hash of some bytes, to which more can be added.

    >>> sha256(b"").hexdigest()[:8]
    'e3b0c442'
    """
    import hashlib

    return hashlib.sha256(content)


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
