"""Shares of a population of which some strata were reviewed more than others, with intervals.

The intervals are those of Wilson (1927), for strata: a total is inside if what was seen lies within some
standard deviations of it, where the deviation is that of the most likely shares with that total. So it does
not vanish where all answers are equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from ..data.arrays import FloatArray, IntArray

_ROUNDS = 40
_WIDEST = 12.0  # powers of ten of the multiplier
_ROUNDING = 1e-6
_DRAWS = 500
_GRID = 100
_LEAST_FREEDOM = 5


@dataclass(frozen=True, eq=False)
class Strata:
    """What was reviewed of each stratum: (… × strata) arrays.

    Attributes
    ----------
    sizes : array of int
        How many detections there are.
    reviewed : array of int
        How many of them were drawn and answered.
    right : array of int
        How many of these are right.
    """

    sizes: IntArray
    reviewed: IntArray
    right: IntArray

    @cached_property
    def shares(self) -> FloatArray:
        """The share of right answers; 0 without any."""
        return np.divide(
            self.right, self.reviewed, out=np.zeros(self.sizes.shape), where=self.reviewed > 0
        )

    @cached_property
    def answers(self) -> FloatArray:
        """As how many independent answers those of each stratum count; inf if all were reviewed.

        Without replacement, they vary less: the variance has the factor (N − n) / (N − 1).
        """
        left = self.sizes - self.reviewed
        many = np.full(self.sizes.shape, np.inf)
        return np.divide(
            self.reviewed * np.maximum(self.sizes - 1.0, 1.0), left, out=many, where=left > 0
        )

    def wrong(self) -> Strata:
        """Return the same strata with right and wrong exchanged."""
        return Strata(self.sizes, self.reviewed, self.reviewed - self.right)

    def known(self) -> Strata:
        """Return the same strata, those without an answer as if they were empty."""
        return Strata(np.where(self.reviewed > 0, self.sizes, 0), self.reviewed, self.right)

    def joined(self, other: Strata) -> Strata:
        """Return the strata of both."""
        pairs = ((self.sizes, other.sizes), (self.reviewed, other.reviewed), (self.right, other.right))
        return Strata(*(np.concatenate(pair, axis=-1) for pair in pairs))


def deviations_of(level: float, freedom: float = math.inf) -> float:
    """Return how many standard deviations hold a variable of Student's t distribution with a probability.

    It is a series in 1 / freedom, which has an error of 0.02 at 5 degrees of freedom.

    >>> round(deviations_of(0.95), 3), round(deviations_of(0.95, 20), 3)
    (1.96, 2.086)
    """
    z, v = NormalDist().inv_cdf((1 + level) / 2), max(freedom, _LEAST_FREEDOM)
    return z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)


def degrees_of_freedom(strata: Strata) -> float:
    """Return the number of answers beyond the first of each stratum that was not reviewed completely."""
    return float(np.maximum(strata.reviewed - 1, 0)[strata.reviewed < strata.sizes].sum())


def variances(strata: Strata, shares: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the variance of Σ weight · estimated share, where the shares are known."""
    terms = weights**2 * shares * (1 - shares)
    answers = strata.answers
    return np.divide(terms, answers, out=np.zeros(terms.shape), where=answers > 0).sum(-1)


def lower_shares(strata: Strata, multiplier: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the most likely shares with a smaller total, by the multiplier of Lagrange.

    They maximise Σ log likelihood − multiplier · Σ weight · share. A multiplier of 0 gives those that were
    seen.
    """
    answers, seen = strata.answers, strata.shares
    pull = np.divide(
        multiplier[..., None] * weights, answers, out=np.zeros(answers.shape), where=answers > 0
    )
    root = np.sqrt(np.maximum((1 + pull) ** 2 - 4 * pull * seen, 0))
    shares: FloatArray = np.minimum(2 * seen / (1 + pull + root), 1)
    return shares


def lowest_totals(strata: Strata, deviations: float, weights: FloatArray | None = None) -> FloatArray:
    """Return the lower limit of Σ weight · share. Strata without an answer count as wrong.

    Without weights, these are the sizes of the strata, and the limits whole numbers of right detections.
    """
    known = strata.known()
    by_size = weights is None
    weights = (
        known.sizes.astype(np.float64) if weights is None else np.where(strata.reviewed > 0, weights, 0)
    )
    seen = (weights * known.shares).sum(-1)
    low, high = np.full(seen.shape, -_WIDEST), np.full(seen.shape, _WIDEST)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        shares = lower_shares(known, 10**middle, weights)
        distance = seen - (weights * shares).sum(-1)
        inside = distance <= deviations * np.sqrt(variances(known, shares, weights)) + 1e-12 * seen
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    totals = (weights * lower_shares(known, 10**low, weights)).sum(-1)
    if not by_size:
        return totals
    return np.maximum(np.ceil(totals - _ROUNDING), known.right.sum(-1))


def total_limits(
    strata: Strata, deviations: float, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper limit of Σ weight · share."""
    of_all = (strata.sizes if weights is None else weights).sum(-1)
    upper = of_all - lowest_totals(strata.wrong(), deviations, weights)
    return lowest_totals(strata, deviations, weights), upper


def odds_limits(
    above: tuple[FloatArray, FloatArray, FloatArray], below: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the ratio of two independent totals, each a value with its limits.

    They follow from the limits of both (MOVER: Donner and Zou, 2012); where that has no solution, they are
    the ratio of the limits, which is wider.
    """

    def limit(
        sign: int, a: FloatArray, a_end: FloatArray, b: FloatArray, b_end: FloatArray
    ) -> FloatArray:
        inner = (a * b) ** 2 - a_end * b_end * (2 * a - a_end) * (2 * b - b_end)
        bottom = b_end * (2 * b - b_end)
        solved = (bottom > 0) & (inner >= 0)
        top = np.where(solved, a * b + sign * np.sqrt(np.maximum(inner, 0)), a_end)
        bottom = np.where(solved, bottom, b_end)
        ratio = np.divide(top, bottom, out=np.full(top.shape, np.inf), where=bottom > 0)
        return np.where(a_end > 0, np.maximum(ratio, 0), 0)

    (a, a_low, a_high), (b, b_low, b_high) = above, below
    return limit(-1, a, a_low, b, b_high), limit(1, a, a_high, b, b_low)


def evidence(strata: Strata, share: float) -> tuple[FloatArray, FloatArray]:
    """Return as how many independent answers all of them count for a test of a share, and how many are wrong.

    Both follow from the variance at the most likely shares that have this one on average. Strata without an
    answer count as wrong. There are no answers where so low a share was seen.
    """
    known = strata.known()
    everything = strata.sizes.sum(-1)
    weights = known.sizes / np.maximum(everything, 1)[..., None]
    seen = (weights * known.shares).sum(-1)
    low, high = np.full(seen.shape, -_WIDEST), np.full(seen.shape, _WIDEST)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        above = (weights * lower_shares(known, 10**middle, weights)).sum(-1) > share
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    variance = variances(known, lower_shares(known, 10**high, weights), weights)
    numbers = np.divide(
        share * (1 - share), variance, out=np.full(seen.shape, np.inf), where=variance > 0
    )
    numbers = np.where(seen > share, numbers, 0.0)
    wrong = np.where(np.isfinite(numbers), numbers, 0.0) * (1 - seen)
    return numbers, wrong


def simultaneous_deviations(
    sizes: IntArray, reviewed: IntArray, chances: FloatArray, level: float, seed: int = 0
) -> float:
    """Return how many standard deviations hold the precision at all thresholds together.

    Populations and reviews are drawn like the one at hand. ``chances``: the probability of each detection
    to be right, the highest score first.
    """
    rng = np.random.default_rng(seed)
    number = len(chances)
    ends = np.unique(np.r_[np.cumsum(sizes), np.geomspace(1, number, _GRID).astype(np.int64)])
    ends = ends[ends > 0]
    starts = np.r_[0, ends[:-1]]
    groups = ends - starts
    means = np.clip(np.add.reduceat(chances, starts) / groups, 0, 1)
    right = rng.binomial(groups, means, (_DRAWS, len(groups)))
    home = np.searchsorted(np.cumsum(sizes), ends, side="left")
    largest = np.zeros(_DRAWS)
    seen_before, true_before, variance_before = np.zeros((3, _DRAWS))
    for stratum, drawn in enumerate(reviewed.tolist()):
        own = home == stratum
        if not own.any():
            continue
        drawn_groups = rng.multivariate_hypergeometric(groups[own], drawn, size=_DRAWS)
        right_drawn = rng.hypergeometric(right[:, own], groups[own] - right[:, own], drawn_groups)
        pieces = Strata(
            np.broadcast_to(np.cumsum(groups[own]), drawn_groups.shape)[..., None],
            np.cumsum(drawn_groups, 1)[..., None],
            np.cumsum(right_drawn, 1)[..., None],
        )
        true = np.cumsum(right[:, own], 1)
        weights = pieces.sizes.astype(np.float64)
        share = true[..., None] / weights
        seen = np.where(pieces.reviewed[..., 0] > 0, (weights * pieces.shares)[..., 0], true)
        variance = variances(pieces, share, weights)
        distance = np.abs(seen_before[:, None] + seen - true_before[:, None] - true)
        deviation = np.sqrt(variance_before[:, None] + variance)
        ratio = np.divide(distance, deviation, out=np.zeros(true.shape), where=deviation > 0)
        largest = np.maximum(largest, ratio.max(1))
        seen_before, true_before = seen_before + seen[:, -1], true_before + true[:, -1]
        variance_before = variance_before + variance[:, -1]
    return max(deviations_of(level), float(np.quantile(largest, level)))
