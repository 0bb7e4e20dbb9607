"""Curves of the probability that a detection is right, fitted to weighted answers: logistic and isotonic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import SedscopeError
from .arrays import FloatArray

_RIDGE = (
    0.01  # on the squared slope of standardised scores: it keeps the fit of separable answers finite
)
_ROUNDS = 100
_SMALLEST_STEP = 1e-9


@dataclass(frozen=True)
class LogisticFit:
    """The curve ``1 / (1 + exp(-(slope · score + intercept)))``.

    Parameters
    ----------
    slope : float
        At least 0, so that the curve never falls.
    intercept : float
        The log odds at a score of 0.
    """

    slope: float
    intercept: float

    def __call__(self, scores: ArrayLike) -> FloatArray:
        """Return the probability at each score."""
        return _logistic(self.slope * np.asarray(scores, np.float64) + self.intercept)


@dataclass(frozen=True, eq=False)
class IsotonicFit:
    """A curve that never falls: linear between its knots, constant beyond them.

    Parameters
    ----------
    scores : array of float
        The scores of the knots, rising.
    values : array of float
        The probability at each of them.
    """

    scores: FloatArray
    values: FloatArray

    def __call__(self, scores: ArrayLike) -> FloatArray:
        """Return the probability at each score."""
        return np.interp(np.asarray(scores, np.float64), self.scores, self.values)


def logistic_fit(scores: ArrayLike, correct: ArrayLike, weights: ArrayLike | None = None) -> LogisticFit:
    """Fit a logistic curve by weighted maximum likelihood.

    Parameters
    ----------
    scores : array of float
        The finite scores of at least one detection.
    correct : array of float
        1 for each detection that is right, 0 for those that are wrong, or a share between.
    weights : array of float, optional
        How many detections each stands for. 1 by default. The fit depends on their ratios and, if the answers
        are nearly separable, on their sum: a weak penalty keeps it finite then.

    Returns
    -------
    LogisticFit
        With slope 0 if the answers would make the curve fall.

    Examples
    --------
    >>> fit = logistic_fit([0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1])
    >>> fit([0, 0.5, 1]).round(2).tolist()
    [0.33, 0.5, 0.67]
    """
    x, y, w = _checked(scores, correct, weights)
    mean = float(np.average(x, weights=w))
    spread = float(np.sqrt(np.average((x - mean) ** 2, weights=w)))
    if spread > 1e-12 * max(1.0, abs(mean)):
        slope, intercept = _newton((x - mean) / spread, y, w)
        if slope > 0:
            return LogisticFit(slope / spread, intercept - slope * mean / spread)
    return LogisticFit(0.0, _newton(np.zeros(len(x)), y, w)[1])


def _newton(z: FloatArray, y: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Return slope and intercept of the highest penalised likelihood, by Newton's method."""

    def loss(at: FloatArray) -> float:
        logits = at[0] * z + at[1]
        return float(w @ (np.logaddexp(0, logits) - y * logits) + _RIDGE / 2 * (at @ at))

    at = np.zeros(2)
    current = loss(at)
    for _ in range(_ROUNDS):
        p = _logistic(at[0] * z + at[1])
        residual, curvature = w * (p - y), w * p * (1 - p)
        cross = curvature @ z
        gradient = np.array([residual @ z, residual.sum()]) + _RIDGE * at
        hessian = [[curvature @ z**2 + _RIDGE, cross], [cross, curvature.sum() + _RIDGE]]
        step = np.linalg.solve(hessian, gradient)
        while loss(at - step) > current and np.abs(step).max() > _SMALLEST_STEP:
            step /= 2
        if np.abs(step).max() <= _SMALLEST_STEP:
            break
        at = at - step
        current = loss(at)
    return float(at[0]), float(at[1])


def isotonic_fit(scores: ArrayLike, correct: ArrayLike, weights: ArrayLike | None = None) -> IsotonicFit:
    """Fit the curve that never falls and has the least weighted squares (pool adjacent violators).

    Parameters
    ----------
    scores, correct, weights
        As for :func:`logistic_fit`.

    Returns
    -------
    IsotonicFit

    Examples
    --------
    >>> fit = isotonic_fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> fit([1, 2, 3, 4]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    x, y, w = _checked(scores, correct, weights)
    knots, which = np.unique(x, return_inverse=True)
    mass = np.bincount(which, w)
    height = np.bincount(which, w * y) / mass
    starts = np.arange(len(knots))  # of the blocks that are pooled
    block_mass, block_height = mass, height
    # All neighbours that fall are pooled at once: in a falling run, the mean of the first ones
    # lies above the next one, so that pooling them one by one ends the same.
    while len(starts) > 1 and (falls := block_height[1:] < block_height[:-1]).any():
        firsts = np.flatnonzero(np.r_[True, ~falls])
        sums = np.add.reduceat(block_mass * block_height, firsts)
        block_mass = np.add.reduceat(block_mass, firsts)
        block_height = sums / block_mass
        starts = starts[firsts]
    ends = np.r_[starts[1:], len(knots)] - 1
    corners = np.unique(np.r_[starts, ends])
    values = np.repeat(block_height, ends - starts + 1)
    return IsotonicFit(knots[corners], np.clip(values[corners], 0, 1))


def _checked(
    scores: ArrayLike, correct: ArrayLike, weights: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    x, y = np.asarray(scores, np.float64), np.asarray(correct, np.float64)
    w = np.ones(len(x)) if weights is None else np.asarray(weights, np.float64)
    if not len(x) == len(y) == len(w) or not (w > 0).any():
        raise SedscopeError("A curve of probabilities needs as many scores as answers, at least one.")
    if not np.isfinite(x).all() or not ((y >= 0) & (y <= 1)).all() or not (w >= 0).all():
        raise SedscopeError(
            "A curve of probabilities needs finite scores, answers from 0 to 1 and weights from 0."
        )
    used = w > 0
    return x[used], y[used], w[used]


def _logistic(logits: FloatArray) -> FloatArray:
    """Return ``1 / (1 + exp(-logits))`` without overflow."""
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1 + small)
