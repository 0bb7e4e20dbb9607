"""Which differences exceed chance: p values of differences that were resampled together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..counting.tally import PRECISION
from ..data.arrays import FloatArray

_ROUNDING = 1e-9  # more than rounding errors, as a share of a statistic


class PValue(NamedTuple):
    """The two-sided p value of a difference."""

    alone: float
    corrected: float
    """For the number of differences that are judged together."""
    least: float
    """The smallest p value that so many resamples allow."""


def step_down(values: Sequence[float], noise: Callable[[int], FloatArray]) -> list[PValue]:
    """Return the p values of differences whose noise was measured together.

    The statistic of a difference is its distance from 0 in standard deviations of its noise. Its p value is
    the share of draws in which the noise is at least as large. The corrected p value asks this of the
    largest noise of all differences that are not larger (the step-down procedure for the maximum of
    Westfall and Young, 1993). Because the draws are the same, differences that go together count less than
    if they were independent. The set as it is counts as one draw more, so the result is never 0. Draws in
    which a difference is not defined are left out.

    Parameters
    ----------
    values : sequence of float
        The differences.
    noise : callable
        Returns the noise of a difference, by its place, in each draw: how far it is from the difference in
        resamples, or from 0 where the systems are swapped at random.

    Returns
    -------
    list of PValue
        NaN for a difference that is not defined.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.1, 999)
    >>> step_down([0.25], lambda _: noise)[0].corrected
    0.014
    >>> alike = step_down([0.25, 0.1, 0.05], lambda _: noise)
    >>> [p.corrected for p in alike]  # as if there were one
    [0.014, 0.317, 0.612]
    """
    statistics = np.full(len(values), np.nan)
    p_values = np.full((len(values), 3), np.nan)
    for i, value in enumerate(values):
        standardised = _standardised(value, noise(i))
        if standardised is not None:
            statistics[i], distances = standardised
            p_values[i, 0] = _share_beyond(distances, statistics[i])
            p_values[i, 2] = 1 / (1 + np.count_nonzero(distances >= 0))
    largest: FloatArray | None = None
    order = np.argsort(statistics, kind="stable")[: np.count_nonzero(~np.isnan(statistics))]
    for i in order.tolist():  # the smallest first
        standardised = _standardised(values[i], noise(i))
        assert standardised is not None
        largest = standardised[1] if largest is None else np.maximum(largest, standardised[1])
        p_values[i, 1] = max(p_values[i, 0], _share_beyond(largest, statistics[i]))
    p_values[order, 1] = np.maximum.accumulate(p_values[order[::-1], 1])[::-1]
    return [PValue(*row) for row in p_values.tolist()]


def _standardised(value: float, noise: FloatArray) -> tuple[float, FloatArray] | None:
    """Return a difference and its noise in standard deviations of the noise.

    Draws in which it is not defined are at -inf. None if there is nothing to compare.
    """
    defined = np.isfinite(noise)
    if not np.isfinite(value) or not defined.any():
        return None
    deviation = float(np.sqrt(np.mean(noise[defined] ** 2)))
    distances = np.full(len(noise), -np.inf)
    if deviation <= _ROUNDING * abs(value):  # the same in all draws
        distances[defined] = 0.0
        return (math.inf if value else 0.0), distances
    distances[defined] = np.abs(noise[defined]) / deviation
    return abs(value) / deviation, distances


def _share_beyond(distances: FloatArray, statistic: float) -> float:
    """Return the share of resamples that are as far as the statistic, the set itself being one of them."""
    beyond = np.count_nonzero(distances >= statistic * (1 - _ROUNDING))
    return float((1 + beyond) / (1 + np.count_nonzero(distances >= 0)))


def level_of(confidence: float) -> float:
    """Return the largest p value that is significant.

    >>> level_of(0.95), level_of(0.9)
    (0.05, 0.1)
    """
    return round(1 - confidence, 12) or 1 - confidence


def is_significant(p: float, level: float) -> bool:
    """Return whether a p value is at most the level, as far as the precision of floats goes."""
    return p <= level * (1 + PRECISION)


def resamples_needed(confidence: float) -> int:
    """Return how many resamples allow a p value that is significant.

    >>> resamples_needed(0.95), resamples_needed(0.999)
    (19, 999)
    """
    return math.ceil(1 / level_of(confidence) * (1 - PRECISION)) - 1


def p_text(p: float, level: float, *, at_most: bool) -> str:
    """Return a p value as all tables show it.

    It has three decimals, or as many as show on which side of the level it is. ``at_most``: it is the
    smallest that the resamples allow, so more of them may make it smaller; it is rounded up.

    >>> p_text(1 / 1001, 0.05, at_most=True), p_text(0.0312, 0.05, at_most=False)
    ('≤ 0.001', '0.031')
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
