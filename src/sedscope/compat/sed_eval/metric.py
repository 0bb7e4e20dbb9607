"""Metrics from counts, with sed_eval's formulas.

Rates are divided by the number of references plus ``eps``, so a false alarm without any reference is a rate
of 4.5e15 rather than a division by zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

EPSILON = float(np.spacing(1))


def precision(Ntp: float, Nsys: float, eps: float = EPSILON) -> float:
    """Return the share of detections that are right, NaN without detections."""
    return np.nan if Nsys == 0 else float(Ntp / float(Nsys))


def recall(Ntp: float, Nref: float, eps: float = EPSILON) -> float:
    """Return the share of references that are found, NaN without references."""
    return np.nan if Nref == 0 else float(Ntp / float(Nref))


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean of precision and recall, 0 if both are 0."""
    if precision == 0 and recall == 0:
        return 0.0
    return float((1 + beta**2) * precision * recall / ((beta**2) * precision + recall))


def sensitivity(Ntp: float, Nfn: float, eps: float = EPSILON) -> float:
    """Return the share of active segments that are found."""
    return float(Ntp / (Ntp + Nfn + eps))


def specificity(Ntn: float, Nfp: float, eps: float = EPSILON) -> float:
    """Return the share of inactive segments without a detection."""
    return float(Ntn / (Ntn + Nfp + eps))


def balanced_accuracy(sensitivity: float, specificity: float, factor: float = 0.5) -> float:
    """Return the mean of sensitivity and specificity; ``factor`` is the weight of the specificity."""
    return float(((1 - factor) * sensitivity) + (factor * specificity))


def accuracy(Ntp: float, Ntn: float, Nfp: float, Nfn: float, eps: float = EPSILON) -> float:
    """Return the share of right decisions."""
    return float((Ntp + Ntn) / (Ntp + Ntn + Nfn + Nfp + eps))


def accuracy_corr(Ncorr: float, N: float, eps: float = EPSILON) -> float:
    """Return the share of right items."""
    return float(Ncorr / (N + eps))


def accuracy2(Ntp: float, Nfp: float, Nfn: float, eps: float = EPSILON) -> float:
    """Return the share of true positives in all positives, as Dixon (2000) measures piano transcription."""
    return float(Ntp / (Ntp + Nfn + Nfp + eps))


def substitution_rate(Nref: float, Nsubstitutions: float, eps: float = EPSILON) -> float:
    """Return the substitutions per reference."""
    return float(Nsubstitutions / (Nref + eps))


def deletion_rate(Nref: float, Ndeletions: float, eps: float = EPSILON) -> float:
    """Return the deletions per reference."""
    return float(Ndeletions / (Nref + eps))


def insertion_rate(Nref: float, Ninsertions: float, eps: float = EPSILON) -> float:
    """Return the insertions per reference."""
    return float(Ninsertions / (Nref + eps))


def error_rate(
    substitution_rate_value: float = 0.0,
    deletion_rate_value: float = 0.0,
    insertion_rate_value: float = 0.0,
) -> float:
    """Return the sum of the three rates."""
    return float(substitution_rate_value + deletion_rate_value + insertion_rate_value)


def equal_error_rate(y_true: ArrayLike, y_score: ArrayLike, eps: float = EPSILON) -> float:
    """Return the error rate at which misses and false alarms are equally frequent.

    Parameters
    ----------
    y_true : array
        1 for positives, 0 or -1 for negatives.
    y_score : array
        The scores.
    eps : float
        Differences below it count as none.

    Returns
    -------
    float
        NaN without positives or without negatives.

    Examples
    --------
    >>> equal_error_rate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    0.5
    """
    positive = np.asarray(y_true) == 1
    if not positive.any() or positive.all():
        return np.nan
    false, true = _roc(positive, np.asarray(y_score, dtype=float))
    crossed = int(np.argmax(false + eps >= 1 - true))  # (1, 1) is always on this side
    (x, next_x), (y, next_y) = false[crossed - 1 : crossed + 1], true[crossed - 1 : crossed + 1]
    if abs(next_x - x) < eps:
        return float(x)
    slope = (next_y - y) / (next_x - x)
    return float((1 - (y - slope * x)) / (1 + slope))


def _roc(
    positive: NDArray[np.bool_], score: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the false and true positive rates from (0, 0) to (1, 1), without points on a straight line."""
    order = np.argsort(-score, kind="stable")
    true = np.cumsum(positive[order])
    false = np.arange(1, len(order) + 1) - true
    last = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)  # of each distinct score
    true, false = true[last], false[last]
    if len(true) > 2:
        bends = np.concatenate([[True], (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0), [True]])
        true, false = true[bends], false[bends]
    true, false = np.append(0, true), np.append(0, false)
    return false / false[-1], true / true[-1]
