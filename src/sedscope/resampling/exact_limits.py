"""Exact limits of shares and rates, where resamples do not differ: all detections are right, or none.

Five right detections of five are no proof of a precision of 1. The limits are those of Clopper and Pearson
for shares, and of Garwood for rates. They take events as independent. Those of one clip are not, so there
can be less in the clips than the limits say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, reduce
from operator import add
from typing import Any

from ..counting.tally import Tally
from ..metrics import ClasswiseResult
from ..metrics.classwise import Chance, ClasswiseMetric
from .intervals import Bootstrap, Interval

_NEGLIGIBLE = 1e-18  # a term this small beside the sum changes nothing


def with_exact_limits(result: ClasswiseResult[Any], bootstrap: Bootstrap, hours: float) -> Bootstrap:
    """Return intervals in which those without any width have exact limits, for metrics that have them."""
    confidence = bootstrap.resampling.confidence
    metric = result.metric
    if metric.criterion.measures_time:  # no number of events
        return bootstrap
    tallies = {label: of_class.tally for label, of_class in result.per_class.items()}
    per_class = {
        label: _exact(interval, metric, [tallies[label]], hours, confidence)
        for label, interval in bootstrap.per_class.items()
    }
    defined = [
        tally for label, tally in tallies.items() if not math.isnan(bootstrap.per_class[label].value)
    ]
    of_all = hours * len(defined) if metric.average == "macro" else hours
    overall = _exact(bootstrap, metric, defined, of_all, confidence)
    return replace(
        bootstrap, low=overall.low, high=overall.high, exact=overall.exact, per_class=per_class
    )


def _exact(
    interval: Interval,
    metric: ClasswiseMetric[Any],
    tallies: Iterable[Tally | None],
    hours: float,
    confidence: float,
) -> Interval:
    """Return an interval with exact limits, if it has no width. ``tallies``: of its classes together."""
    known = [tally for tally in tallies if tally is not None]
    if interval.low != interval.high or interval.value != interval.low or not known:
        return interval
    chance = metric.chance(reduce(add, known), hours)
    if chance is None:
        return interval
    low, high = limits_of(chance, confidence)
    if not low <= interval.value <= high:  # the average of classes is not that of all events together
        return interval
    return replace(interval, low=low, high=high, exact="Poisson" if chance.poisson else "binomial")


def limits_of(chance: Chance, confidence: float) -> tuple[float, float]:
    """Return the exact limits of a value, with half of the error on each side.

    >>> low, high = limits_of(Chance(5, 5), 0.95)
    >>> round(low, 4), high
    (0.4782, 1.0)
    >>> low, high = limits_of(Chance(0, 3.0, poisson=True), 0.95)  # no false alarms in three hours
    >>> low, round(high, 4)
    (0.0, 1.2296)
    """
    side = (1 + confidence) / 2
    if chance.poisson:
        low, high = poisson_lower_limit(chance.events, side), poisson_upper_limit(chance.events, side)
        ends = low / chance.trials, high / chance.trials
    else:
        trials = int(chance.trials)
        ends = (
            1 - _binomial_upper_limit(trials - chance.events, trials, side),
            _binomial_upper_limit(chance.events, trials, side),
        )
    low, high = sorted(map(chance.value, ends))
    return low, high


def _binomial_upper_limit(number: int, trials: int, confidence: float) -> float:
    """Return the share at which at most ``number`` successes have the probability 1 − confidence."""
    if number >= trials:
        return 1.0
    tail = 1 - confidence
    if number == 0:
        return float(1 - tail ** (1 / trials))
    low, high = number / trials, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        if binomial_at_most(number, trials, middle) > tail:
            low = middle
        else:
            high = middle
    return high


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


@lru_cache(100_000)
def binomial_at_most(number: int, trials: int, share: float) -> float:
    """Return the probability of at most ``number`` successes in some trials, each with probability ``share``.

    >>> round(binomial_at_most(0, 10, 0.2), 6), round(binomial_at_most(3, 20, 0.25), 6)
    (0.107374, 0.225156)
    """
    if number >= trials or share <= 0:
        return 1.0
    if share >= 1:
        return 0.0
    odds = share / (1 - share)
    nearest = min(number, math.floor(trials * share))  # the most probable term of the sum
    ways = math.lgamma(trials + 1) - math.lgamma(nearest + 1) - math.lgamma(trials - nearest + 1)
    largest = math.exp(ways + nearest * math.log(share) + (trials - nearest) * math.log1p(-share))
    total = term = largest
    for i in range(nearest, 0, -1):
        term *= i / (trials - i + 1) / odds
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    term = largest
    for i in range(nearest + 1, number + 1):
        term *= (trials - i + 1) / i * odds
        total += term
        if term <= _NEGLIGIBLE * total:
            break
    return min(1.0, total)
