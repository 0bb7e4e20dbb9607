"""Numbers written short: differences of whole numbers, decimals with as few digits as will do."""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def differences(values: ArrayLike) -> list[int]:
    """Whole numbers as the first one and the steps from each to the next.

    >>> differences([5, 7, 7, 4])
    [5, 2, 0, -3]
    """
    steps: list[int] = np.diff(np.asarray(values, np.int64), prepend=np.int64(0)).tolist()
    return steps


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
