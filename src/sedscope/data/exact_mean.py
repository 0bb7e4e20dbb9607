"""Means whose rounding does not depend on the order of the numbers.

A plain sum of floats does: three times 0.7 is 2.0999999999999996, so the mean of three equal scores would be
lower than each of them, and a detection would break where more windows overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray, IntArray

_SPLIT = 2.0**27 + 1  # halves the 53 bits of a float64
_ROWS = 4096  # that are divided at a time


class ExactMean:
    """The mean of numbers that come one after the other, for each entry of an array.

    Twice as many digits as a float64 has are kept until the mean is rounded. A mean of numbers of which one
    is infinite is infinite; if both infinities are among them, it is not a number.

    >>> mean = ExactMean((1, 2))
    >>> for score in (0.7, 0.7, 0.7):
    ...     mean.add(np.s_[:, 0], np.array([score]))
    >>> mean.values(np.array([[3, 0]]))
    array([[0.7, 0. ]])
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._total: FloatArray = np.zeros(shape)
        self._error: FloatArray = np.zeros(shape)

    def add(self, where: Any, numbers: NDArray[Any]) -> None:
        """Add a number to each of some entries. ``where``: an index of the array, no entry twice."""
        with np.errstate(invalid="ignore", over="ignore"):  # infinite numbers leave no error
            before = self._total[where]
            after = before + numbers
            added = after - before
            self._error[where] += (before - (after - added)) + (numbers - added)
        self._total[where] = after

    def values(self, counts: IntArray) -> FloatArray:
        """Return the means. No more numbers can be added.

        ``counts``: how many numbers each entry has, as an array that can be broadcast. Where it is 0, so is
        the mean.
        """
        counts = np.broadcast_to(counts, self._total.shape)
        for start in range(0, len(counts), _ROWS):
            rows = np.s_[start : start + _ROWS]
            self._total[rows] = _quotient(self._total[rows], self._error[rows], counts[rows])
        return self._total


def _quotient(total: FloatArray, error: FloatArray, counts: IntArray) -> FloatArray:
    """Divide a sum, and what its rounding left out, by whole numbers."""
    divisor = np.maximum(counts, 1).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        quotient = total / divisor
        product, left_out = _product(quotient, divisor)
        rounded = quotient + ((total - product) - left_out + error) / divisor
    return np.where(np.isfinite(rounded), rounded, quotient)


def _product(numbers: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a product and what its rounding left out (Dekker)."""
    product = numbers * others
    high, other_high = _high(numbers), _high(others)
    low, other_low = numbers - high, others - other_high
    error = ((high * other_high - product) + high * other_low + low * other_high) + low * other_low
    return product, error


def _high(numbers: FloatArray) -> FloatArray:
    """Return the first half of the bits of each number."""
    shifted = _SPLIT * numbers
    return shifted - (shifted - numbers)
