"""Numbers packed into text, and the vertices of a curve that a reader can see."""

from __future__ import annotations

import math
from base64 import b64encode

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..counting.tally import first_minimum_of_runs
from ..data.arrays import FloatArray

RESOLUTION = 100_000
"""The length of an axis in the units of :func:`pack_fractions`."""

_DIGITS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)


def pack(values: ArrayLike) -> str:
    """Pack whole numbers into text.

    Each number is written in base64 digits of five bits, and a sixth bit that says whether another
    digit follows. The first digit holds the sign and four bits, so a number from −15 to 15 takes one
    character.

    >>> pack([0, 1, -1, 15, 16, -1000])
    'ACDegBx+B'
    """
    return pack_rows(np.asarray(values)[np.newaxis])[0]


def pack_rows(table: ArrayLike) -> list[str]:
    """Pack each row of a table of whole numbers into text.

    >>> pack_rows([[0, 1, -1], [15, 16, -1000]])
    ['ACD', 'egBx+B']
    """
    numbers = np.asarray(table, np.int64)
    rest = (np.abs(numbers) << 1) | (numbers < 0)
    digits, present = [], []
    unfinished = np.ones(numbers.shape, bool)
    while unfinished.any():
        digit, rest = rest & 31, rest >> 5
        digits.append(digit | ((rest > 0) << 5))
        present.append(unfinished)
        unfinished = rest > 0
    if not digits:
        return [""] * len(numbers)
    kept = np.stack(present, axis=2)
    text = bytes(_DIGITS[np.stack(digits, axis=2)[kept]]).decode("ascii")
    ends = np.cumsum(np.count_nonzero(kept, axis=(1, 2))).tolist()
    return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def pack_steps(values: ArrayLike) -> str:
    """Pack whole numbers into text: the first one, then the step from each to the next.

    >>> pack_steps([5, 7, 7, 4]) == pack([5, 2, 0, -3])
    True
    """
    return pack(np.diff(np.asarray(values, np.int64), prepend=np.int64(0)))


def pack_fractions(fractions: FloatArray) -> str:
    """Pack positions along an axis, from 0 to 1, into text.

    >>> pack_fractions(np.array([0, 0.5, 1])) == pack_steps([0, 50_000, 100_000])
    True
    """
    return pack_steps(np.rint(fractions * RESOLUTION))


def pack_bytes(values: NDArray[np.uint8]) -> str:
    """Pack numbers from 0 to 255 into base64 text."""
    return b64encode(values.tobytes()).decode("ascii")


def rounded(value: float, digits: int = 6) -> float | None:
    """Return the number with that many significant digits; None if it is not finite.

    >>> rounded(0.123456789), rounded(float("nan"))
    (0.123457, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def short_between(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return numbers with few digits near the middle of each ``[low, high)``.

    >>> short_between(np.array([0.1, 0.123456]), np.array([0.9, 0.123499])).tolist()
    [0.5, 0.12348]
    """
    with np.errstate(all="ignore"):
        middle = low + (high - low) / 2
        middle = np.where((middle >= low) & (middle < high), middle, low)
        numbers: FloatArray = middle.copy()
        size = np.abs(middle)
        power = np.floor(np.log10(np.where(size > 0, size, 1)))
        missing = np.isfinite(middle) & (size > 0)
        for digits in range(1, 17):
            scale: FloatArray = 10.0 ** (digits - 1 - power)
            short = np.where(np.isfinite(scale), np.rint(middle * scale) / scale, np.nan)
            quarter = (high - low) / 4
            fits = missing & (short >= low + quarter) & (short < high - quarter)
            numbers[fits] = short[fits]
            missing &= ~fits
    return numbers


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
