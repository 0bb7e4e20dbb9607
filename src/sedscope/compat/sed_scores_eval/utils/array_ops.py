"""Running extremes, and the first index where a condition holds."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import SedscopeError

_CRITERIA = {"geq": operator.ge, "gt": operator.gt, "leq": operator.le, "lt": operator.lt}


def cummin(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the smallest value so far, and the indices of new smallest values.

    >>> values, places = cummin(np.array([3, 4, 1, 2, 0]))
    >>> values.tolist(), places.tolist()
    ([3, 3, 1, 1, 0], [0, 2, 4])
    """
    smallest, where = cummax(-np.asarray(array))
    return -smallest, where


def cummax(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the largest value so far, and the indices of new largest values."""
    largest = np.maximum.accumulate(np.asarray(array))
    return largest, np.flatnonzero(np.append(True, largest[1:] > largest[:-1]))


def get_first_index_where(array: NDArray[Any], criterion: str, value: Any, *, axis: int = 0) -> Any:
    """Return the first index where the array is ``geq``, ``gt``, ``leq`` or ``lt`` a value, or the
    length of the axis if there is none.

    >>> int(get_first_index_where(np.array([1, 2, 3, 4]), "gt", 2))
    2
    """
    if criterion not in _CRITERIA:
        raise SedscopeError(
            f"criterion {criterion!r} is not valid. Choose {' or '.join(map(repr, _CRITERIA))}."
        )
    holds = _CRITERIA[criterion](np.asarray(array), value)
    return np.where(holds.any(axis=axis), holds.argmax(axis=axis), holds.shape[axis])[()]
