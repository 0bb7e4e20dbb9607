"""Numbers written short: differences of whole numbers, decimals with as few digits as will do."""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DIGITS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)


def whole_numbers(values: ArrayLike) -> str:
    """Whole numbers as text, those from −15 to 15 in one character: in base64 digits, of which the
    first holds the sign and four bits, each other one five bits, and all tell whether one follows.

    >>> whole_numbers([0, 1, -1, 15, 16, -1000])
    'ACDegBx+B'
    """
    return rows_of_whole_numbers(np.asarray(values)[np.newaxis])[0]


def rows_of_whole_numbers(table: ArrayLike) -> list[str]:
    """The same for each row of a table.

    >>> rows_of_whole_numbers([[0, 1, -1], [15, 16, -1000]])
    ['ACD', 'egBx+B']
    """
    numbers = np.asarray(table, np.int64)
    rest = (np.abs(numbers) << 1) | (numbers < 0)
    digits, there = [], []
    present = np.ones(numbers.shape, bool)
    while present.any():
        digit, rest = rest & 31, rest >> 5
        digits.append(digit | ((rest > 0) << 5))
        there.append(present)
        present = rest > 0
    if not digits:
        return [""] * len(numbers)
    kept = np.stack(there, axis=2)
    text = bytes(_DIGITS[np.stack(digits, axis=2)[kept]]).decode("ascii")
    ends = np.cumsum(np.count_nonzero(kept, axis=(1, 2))).tolist()
    return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def differences(values: ArrayLike) -> str:
    """Whole numbers as the first one and the steps from each to the next, as text.

    >>> differences([5, 7, 7, 4]) == whole_numbers([5, 2, 0, -3])
    True
    """
    return whole_numbers(np.diff(np.asarray(values, np.int64), prepend=np.int64(0)))


def octets(values: NDArray[np.uint8]) -> str:
    """Numbers from 0 to 255 as base64 text."""
    return b64encode(values.tobytes()).decode("ascii")


def rounded(value: float, digits: int = 6) -> float | None:
    """A number with so many significant digits; None if it is not finite.

    >>> rounded(0.123456789), rounded(float("nan"))
    (0.123457, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def decimals(values: ArrayLike, digits: int = 6) -> list[float | None]:
    """The same for many numbers."""
    return [rounded(value, digits) for value in np.asarray(values, np.float64).tolist()]


def number(value: float) -> float | str:
    """A number for JSON, which knows no infinity.

    >>> number(0.5), number(float("-inf"))
    (0.5, '-inf')
    """
    return value if math.isfinite(value) else "inf" if value > 0 else "-inf"


def short_between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers with few digits near the middle of each ``[low, high)``.

    >>> short_between(np.array([0.1, 0.123456]), np.array([0.9, 0.123499])).tolist()
    [0.5, 0.12348]
    """
    with np.errstate(all="ignore"):
        middle = low + (high - low) / 2
        middle = np.where((middle >= low) & (middle < high), middle, low)
        found: NDArray[np.float64] = middle.copy()
        size = np.abs(middle)
        power = np.floor(np.log10(np.where(size > 0, size, 1)))
        missing = np.isfinite(middle) & (size > 0)
        for digits in range(1, 17):
            scale: Any = 10.0 ** (digits - 1 - power)
            short = np.where(np.isfinite(scale), np.rint(middle * scale) / scale, np.nan)
            quarter = (high - low) / 4
            fits = missing & (short >= low + quarter) & (short < high - quarter)
            found[fits] = short[fits]
            missing &= ~fits
    return found
