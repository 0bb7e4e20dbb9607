"""A rising map from scores to scores, for one class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """A rising map of the scores of one class.

    Between two knots the map is linear in the rank of the score among all floating-point numbers. This
    separates small scores as well as large ones, and it reaches to infinity. Without knots, the map
    changes nothing.

    Parameters
    ----------
    knots : float64 array
        Scores, increasing.
    values : float64 array
        What each of these scores becomes, increasing.
    """

    knots: FloatArray
    values: FloatArray

    @classmethod
    def fit(cls, scores: FloatArray, weights: IntArray) -> ScoreMap:
        """Map each score to the share of the weight below it, plus half of the weight at it."""
        levels, numbers = np.unique(scores, return_inverse=True)
        mass = np.bincount(numbers, weights, minlength=len(levels))
        total = mass.sum()
        if total == 0:
            return cls(np.empty(0), np.empty(0))
        present = mass > 0
        knots, values = levels[present], ((np.cumsum(mass) - mass / 2) / total)[present]
        if knots[0] > -np.inf:
            knots, values = np.append(-np.inf, knots), np.append(0, values)
        if knots[-1] < np.inf:
            knots, values = np.append(knots, np.inf), np.append(values, 1)
        return cls(knots, values)._separate(levels[levels > -np.inf])

    def is_valid(self) -> bool:
        """Tell whether knots and values rise and have the right type and shape."""
        knots, values = self.knots, self.values
        if knots.dtype != np.float64 or values.dtype != np.float64 or knots.shape != values.shape:
            return False
        rising = bool(np.all(np.diff(knots) > 0) and np.all(np.diff(values) > 0))
        return knots.ndim == 1 and rising and len(knots) != 1

    def __call__(self, scores: FloatArray) -> FloatArray:
        if not len(self.knots):
            return scores
        segment = self._segments(scores)
        share = (_ranks(scores) - self._knot_ranks[segment]) / self._rank_steps[segment]
        low, high = self.values[segment], self.values[segment + 1]
        mapped = np.minimum(low + share * (high - low), high)
        mapped[scores == self.knots[segment + 1]] = self.values[-1]  # of the last knot
        mapped[scores == -np.inf] = -np.inf
        return mapped

    def _separate(self, levels: FloatArray) -> ScoreMap:
        """Add knots where rounding would make some of these rising scores equal."""
        rises = np.diff(self(levels)) > 0
        if rises.all():
            return self
        segments = self._segments(levels)
        knots, values = [self.knots], [self.values]
        for segment in np.union1d(segments[:-1][~rises], segments[1:][~rises]):
            low, high = self.knots[segment], self.knots[segment + 1]
            inside = levels[(levels > low) & (levels < high)]
            knots.append(inside)
            ends = self.values[segment : segment + 2]
            values.append(np.linspace(ends[0], ends[1], len(inside) + 2)[1:-1])
        all_knots = np.concatenate(knots)
        order = np.argsort(all_knots)
        return ScoreMap(all_knots[order], np.concatenate(values)[order])

    @cached_property
    def _knot_ranks(self) -> NDArray[np.uint64]:
        return _ranks(self.knots)

    @cached_property
    def _rank_steps(self) -> NDArray[np.uint64]:
        return self._knot_ranks[1:] - self._knot_ranks[:-1]

    def _segments(self, scores: FloatArray) -> NDArray[np.intp]:
        """Return the number of the knot below each score; for the last knot, that of the one before."""
        below = np.searchsorted(self.knots, scores, side="right") - 1
        return np.clip(below, 0, len(self.knots) - 2)


def _ranks(scores: FloatArray) -> NDArray[np.uint64]:
    """Return the rank of each score among all floating-point numbers."""
    bits = (scores + 0.0).view(np.uint64)  # turns -0.0 into 0.0
    sign = np.uint64(1 << 63)
    return np.where(bits & sign, ~bits, bits | sign)
