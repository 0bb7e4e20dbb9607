"""Compare two systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def mcnemar(reference: Sequence[Any], estimated_a: Sequence[Any], estimated_b: Sequence[Any]) -> float:
    """Return the statistic of McNemar's test with Edwards' correction for continuity.

    It follows a chi-squared distribution with one degree of freedom if both systems are equally good. It is
    not a p value.

    Parameters
    ----------
    reference : sequence
        The right label of each item.
    estimated_a, estimated_b : sequence
        The labels that two systems chose.

    Returns
    -------
    float
        0 if the systems are right on the same items.

    Examples
    --------
    >>> mcnemar([1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, 0])
    1.3333333333333333
    """
    if not len(reference) == len(estimated_a) == len(estimated_b):
        raise ValueError(
            "Input arrays needs to be same length, not "
            f"{len(reference)}, {len(estimated_a)} and {len(estimated_b)} items long."
        )
    right_a = np.array(estimated_a) == np.array(reference)
    right_b = np.array(estimated_b) == np.array(reference)
    only_a, only_b = float(np.sum(right_a & ~right_b)), float(np.sum(right_b & ~right_a))
    if only_a + only_b == 0:
        return 0
    return (abs(only_b - only_a) - 1) ** 2 / (only_a + only_b)
