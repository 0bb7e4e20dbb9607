"""Shares of a length, such as "at least 0.7 of it", as exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

Share: TypeAlias = tuple[int, int]
"""Numerator and denominator."""

_SMALLEST, _LARGEST = 2.0**-62, 2**53  # smaller and larger shares act as 0 and as this


@lru_cache(maxsize=256)
def as_share(number: float) -> Share:
    """Return the simplest fraction that is the same number in double precision.

    It is what a person means who writes the number as a decimal or computes it as a quotient. A product
    with a whole number is then exact.

    >>> as_share(0.7), as_share(1 / 6), as_share(2)
    ((7, 10), (1, 6), (2, 1))
    """
    value = min(float(number), float(_LARGEST))
    if value < _SMALLEST:
        return 0, 1
    if value.is_integer():
        return int(value), 1
    below, above = (Fraction(math.nextafter(value, end)) for end in (0.0, math.inf))
    simplest = _simplest_between((below + Fraction(value)) / 2, (Fraction(value) + above) / 2)
    return simplest.numerator, simplest.denominator


def optional_share(number: float | None) -> Share | None:
    """Return :func:`as_share` of a number, and None for None."""
    return None if number is None else as_share(number)


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator between two others."""
    whole = math.floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        return whole + Fraction(1, math.floor(1 / (high - whole)) + 1)
    return whole + 1 / _simplest_between(1 / (high - whole), 1 / (low - whole))
