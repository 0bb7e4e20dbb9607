"""Exact limits of a Poisson rate: what a number of events in some time says about other times."""

from __future__ import annotations

import math

_NEGLIGIBLE = 1e-18  # a term this small beside the sum changes nothing
_PRECISION = 1e-11  # more than rounding changes a probability, as a share of it


def poisson_at_most(number: int, mean: float) -> float:
    """Return the probability of at most ``number`` events, where ``mean`` are expected.

    >>> round(poisson_at_most(0, 3.0), 6), round(poisson_at_most(2, 3.0), 6)
    (0.049787, 0.42319)
    """
    if number < 0:
        return 0.0
    if mean == 0:
        return 1.0
    nearest = min(number, math.floor(mean))  # the most probable term of the sum
    largest = math.exp(nearest * math.log(mean) - mean - math.lgamma(nearest + 1))
    total = term = largest
    for i in range(nearest, 0, -1):
        term *= i / mean
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    term = largest
    for i in range(nearest + 1, number + 1):
        term *= mean / i
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    return min(1.0, total)


def poisson_upper_limit(number: int, confidence: float) -> float:
    """Return the exact upper limit of the mean of a Poisson distribution, after ``number`` events.

    It is the mean at which so few events have the probability 1 − confidence: half the quantile of the
    chi-square distribution with 2 (number + 1) degrees of freedom (Garwood, 1936).

    >>> round(poisson_upper_limit(0, 0.95), 4), round(poisson_upper_limit(10, 0.95), 4)
    (2.9957, 16.9622)
    """
    tail = 1 - confidence
    if number == 0:
        return -math.log(tail)
    low, high = 0.0, number + 1.0
    while poisson_at_most(number, high) > tail:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if poisson_at_most(number, middle) > tail:
            low = middle
        else:
            high = middle
    return high


def poisson_lower_limit(number: int, confidence: float) -> float:
    """Return the exact lower limit of the mean of a Poisson distribution, after ``number`` events.

    It is the mean at which so many events have the probability 1 − confidence.

    >>> poisson_lower_limit(0, 0.95), round(poisson_lower_limit(10, 0.95), 4)
    (0.0, 5.4254)
    """
    return poisson_upper_limit(number - 1, 1 - confidence) if number else 0.0


def most_events_below(mean: float, confidence: float) -> int:
    """Return the largest number of events whose upper limit is at most ``mean``; -1 if there is none.

    >>> [most_events_below(mean, 0.95) for mean in (2.99, 3, 4.8, 17)]
    [-1, 0, 1, 10]
    """
    tail = (1 - confidence) * (1 + _PRECISION)

    def too_many(number: int) -> bool:
        return poisson_at_most(number, mean) > tail

    if too_many(0):
        return -1
    low, high = 0, 1
    while not too_many(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if too_many(middle) else (middle, high)
    return low
