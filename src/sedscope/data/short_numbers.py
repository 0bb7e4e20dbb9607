"""Numbers with few digits, for people to read and write."""

from __future__ import annotations

import math
from fractions import Fraction

_MOST_DECIMALS = 340  # a float has no digit beyond


def number_or_blank(number: float | None, form: str) -> str:
    """Format a number, e.g. as ``.4f``; None becomes an empty text, as in the cell of a table.

    >>> number_or_blank(0.46, ".4f"), number_or_blank(None, ".4f")
    ('0.4600', '')
    """
    return "" if number is None else f"{number:{form}}"


def shortest_between(low: float, high: float, near: float) -> float:
    """Return the number with the fewest decimals in ``[low, high)``; of several, the nearest to ``near``.

    ``near`` lies between them, and is returned if no shorter number does.

    >>> shortest_between(0.4599, 0.4651, 0.4625), shortest_between(0.05, 0.95, 0.5)
    (0.46, 0.5)
    >>> shortest_between(-math.inf, 0.0123, 0.0122), shortest_between(0.1, 0.3, 0.30000000000000004)
    (0.0, 0.2)
    """
    for decimals in range(_MOST_DECIMALS):
        scale = 10**decimals
        unit = round(Fraction(near) * scale)
        if not math.isinf(low):
            unit = max(unit, math.ceil(Fraction(low) * scale))
        if not math.isinf(high):
            unit = min(unit, math.ceil(Fraction(high) * scale) - 1)
        number = float(Fraction(unit, scale))
        if low <= number < high:
            return number
        if len(str(abs(unit))) > 17:
            break  # a float has no more digits
    return near
