"""A check of curves for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

_DECIMALS = 6


def assert_roc_geq_roc_ref(
    roc: tuple[Any, ...],
    roc_ref: tuple[Any, ...],
    class_name: str = "",
    upper_bound: float | None = None,
) -> None:
    """Assert that a step curve lies nowhere below a reference curve, and less than ``upper_bound`` above.

    Curves begin with true positive rates and false positive rates. They are compared at the false
    positive rates of the reference, rounded to six decimals.

    >>> assert_roc_geq_roc_ref(([0.5, 1.0], [0.0, 1.0]), ([0.4, 0.9], [0.5, 1.0]))
    """
    tpr, fpr = (np.asarray(rates, np.float64) for rates in roc[:2])
    tpr_ref, fpr_ref = (np.asarray(rates, np.float64) for rates in roc_ref[:2])
    order = np.argsort(fpr, kind="stable")
    before = np.searchsorted(np.round(fpr[order], _DECIMALS), np.round(fpr_ref, _DECIMALS), side="right")
    reached = np.concatenate([[0.0], tpr[order]])[before]
    above = reached - tpr_ref
    if not (above >= 0).all():
        raise AssertionError(
            f"The curve {class_name} is below the reference at {np.count_nonzero(~(above >= 0))} of "
            f"{len(above)} points, by up to {-np.min(above):g}."
        )
    if upper_bound is not None and not (above < upper_bound).all():
        raise AssertionError(
            f"The curve {class_name} is above the reference by up to {np.max(above):g}, which is not "
            f"below {upper_bound:g}."
        )
