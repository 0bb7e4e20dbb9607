"""The p values of differences: definition, correction, text, and how many resamples they need."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..counting.tally import PRECISION
from ..data.arrays import FloatArray

FEWEST_RESAMPLES = 1000
"""The number of resamples of a comparison, if no more are needed."""


def p_value(value: float, resampled: FloatArray) -> float:
    """Return twice the share of resamples that are not on the same side of 0 as the difference itself.

    The set as it is counts as one resample more, so the result is never 0.

    >>> p_value(0.2, np.full(39, 0.1)), p_value(0.2, np.array([0.1, 0.3, -0.1]))
    (0.05, 1.0)
    """
    defined = resampled[np.isfinite(resampled)]
    if not len(defined) or np.isnan(value):
        return np.nan
    elsewhere = int(np.count_nonzero(defined <= 0 if value > 0 else defined >= 0))
    return 1.0 if value == 0 else min(1.0, 2 * (1 + elsewhere) / (1 + len(defined)))


def smallest_p(resampled: FloatArray) -> float:
    """Return the smallest p value that the resamples allow."""
    return 2 / (1 + int(np.count_nonzero(np.isfinite(resampled))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number (Holm): the smallest times n, the next times n − 1, …

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    order = np.argsort(p_values)  # NaN last
    corrected = np.full(len(p_values), np.nan)
    defined = int(np.count_nonzero(~np.isnan(p_values)))
    largest = 0.0
    for rank, i in enumerate(order[:defined]):
        largest = max(largest, min(1.0, (defined - rank) * p_values[i]))
        corrected[i] = largest
    return [float(p) for p in corrected]


def level_of(confidence: float) -> float:
    """Return the largest p value that is significant.

    >>> level_of(0.95), level_of(0.9)
    (0.05, 0.1)
    """
    return round(1 - confidence, 12) or 1 - confidence


def is_significant(p: float, level: float) -> bool:
    """Return whether a p value is at most the level, as far as the precision of floats goes."""
    return p <= level * (1 + PRECISION)


def resamples_needed(pairs: int, confidence: float) -> int:
    """Return how many resamples allow a p value that is significant after the correction for all pairs.

    >>> resamples_needed(1, 0.95), resamples_needed(276, 0.95)
    (39, 11039)
    """
    return math.ceil(2 * pairs / level_of(confidence) * (1 - PRECISION)) - 1


def automatic_resamples(pairs: int, confidence: float, most: int) -> int:
    """Return how many resamples to draw: as many thousands as are needed, at most ``most`` beyond the first.

    >>> [automatic_resamples(pairs, 0.95, most=10**6) for pairs in (1, 25, 45, 276)]
    [1000, 1000, 2000, 12000]
    """
    thousands = math.ceil(resamples_needed(pairs, confidence) / 1000) * 1000
    return max(FEWEST_RESAMPLES, min(thousands, most))


def p_text(p: float, level: float, *, at_most: bool) -> str:
    """Return a p value as all tables show it.

    It has three decimals, or as many as show on which side of the level it is. ``at_most``: no resample
    is on the other side of 0, so the p value may be smaller; it is rounded up.

    >>> p_text(2 / 1001, 0.05, at_most=True), p_text(0.0312, 0.05, at_most=False)
    ('≤ 0.002', '0.031')
    >>> p_text(0.0504, 0.05, at_most=False), p_text(0.0004, 0.05, at_most=False)
    ('0.0504', '< 0.001')
    """
    if np.isnan(p):
        return "nan"
    if p < 0.001 and not at_most:
        return "< 0.001"
    for digits in range(3, 18):
        scale = 10**digits
        # rounding up leaves out the error of the floats, e.g. of 2 / 1000
        shown = math.ceil(p * scale * (1 - PRECISION)) / scale if at_most else round(p, digits)
        if is_significant(shown, level) == is_significant(p, level):
            break
    return f"{'≤ ' if at_most else ''}{shown:.{digits}f}"
