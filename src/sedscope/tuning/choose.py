"""Choosing operating points: the best threshold of each class for an objective, under constraints."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import Counts
from ..counting.tally import Tally, best_row, most_false_positives
from ..definitions import LARGEST_WEIGHT
from ..errors import SedscopeError
from .operating_points import OperatingPoints

OBJECTIVES = ("fscore", "error_rate", "cost", "precision", "recall")


def choose(
    counts: Counts,
    objective: str = "fscore",
    *,
    beta: float = 1.0,
    miss_cost: float = 1.0,
    false_alarm_cost: float = 1.0,
    min_precision: float | None = None,
    min_recall: float | None = None,
    max_false_alarms_per_hour: float | None = None,
) -> OperatingPoints:
    """Choose the threshold of each class that is best for an objective and meets all constraints.

    Parameters
    ----------
    counts : Counts
        The counts of the system at every threshold; see :func:`~sedscope.deltas`.
    objective : {"fscore", "error_rate", "cost", "precision", "recall"}, default "fscore"
        What should be best: the largest F-score, precision or recall, or the smallest error rate or cost.
    beta : float, default 1.0
        The weight of recall in the F-score.
    miss_cost, false_alarm_cost : float, default 1.0
        The cost of a missed reference and of a false positive.
    min_precision, min_recall : float, optional
        The smallest precision and recall that are accepted.
    max_false_alarms_per_hour : float, optional
        The largest number of false positives per hour and class that is accepted.

    Returns
    -------
    OperatingPoints
        Classes for which no threshold meets the constraints are listed in ``unmet``. Classes without
        references get no threshold.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
    >>> round(choose(counts).thresholds["Dog"], 2)
    0.65
    """
    if objective not in OBJECTIVES:
        names = " or ".join(map(repr, OBJECTIVES))
        raise SedscopeError(f"objective={objective!r} is not valid. Choose {names}.")
    _require_between_zero_and(
        LARGEST_WEIGHT,
        beta=beta,
        miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost,
    )
    _require_between_zero_and(sys.float_info.max, max_false_alarms_per_hour=max_false_alarms_per_hour)
    _require_between_zero_and(1, min_precision=min_precision, min_recall=min_recall)
    allowed = (
        math.inf
        if max_false_alarms_per_hour is None
        else most_false_positives(max_false_alarms_per_hour, counts.duration / 3600)
    )
    thresholds: dict[str, float] = {}
    unmet: dict[str, str] = {}
    for label, of_class in counts.items():
        if not of_class.references:
            continue
        of_class.require_rows("A choice of operating points")
        of_class.require_reach("A choice of operating points", allowed)
        tally = of_class.tally()
        goodness = _goodness(tally, objective, beta, miss_cost, false_alarm_cost)
        constraints = {
            f"precision >= {min_precision}": _holds(tally.precision, min_precision),
            f"recall >= {min_recall}": _holds(tally.recall, min_recall),
            f"at most {max_false_alarms_per_hour} false alarms per hour": np.asarray(tally.fp)
            <= allowed,
        }
        met = np.all(list(constraints.values()), axis=0)
        if not met.any():
            of_class.require_reach("The best threshold regardless of the constraints")
            unmet[label] = " and ".join(
                constraint for constraint, holds in constraints.items() if not holds.all()
            )
        rows = np.flatnonzero(met if met.any() else ~met)
        exact = _exact_goodness(tally.rows(rows), objective, beta, miss_cost, false_alarm_cost)
        best = int(np.argmax(goodness[rows])) if exact is None else best_row(goodness[rows], exact)
        thresholds[label] = of_class.threshold(int(rows[best]))
    parameters = {
        "beta": beta if objective == "fscore" else None,
        "miss_cost": miss_cost if objective == "cost" else None,
        "false_alarm_cost": false_alarm_cost if objective == "cost" else None,
        "min_precision": min_precision,
        "min_recall": min_recall,
        "max_false_alarms_per_hour": max_false_alarms_per_hour,
    }
    return OperatingPoints(thresholds, _provenance(counts, objective, parameters), unmet)


def _goodness(
    tally: Tally, objective: str, beta: float, miss_cost: float, false_alarm_cost: float
) -> Any:
    if objective == "fscore":
        return tally.fscore(beta)
    if objective == "error_rate":
        return -tally.error_rate
    if objective == "cost":
        return -(miss_cost * tally.fn + false_alarm_cost * tally.fp)
    return tally.precision if objective == "precision" else tally.recall


def _exact_goodness(
    tally: Tally, objective: str, beta: float, miss_cost: float, false_alarm_cost: float
) -> Callable[[int], Fraction] | None:
    """Return what computes the goodness of an operating point without rounding; None if that does not
    round anything that matters."""
    if objective == "fscore":
        return lambda row: tally.exact_fscore(row, beta)
    if objective == "cost":
        of_miss, of_false_alarm = (Fraction(str(cost)) for cost in (miss_cost, false_alarm_cost))
        fn, fp = np.asarray(tally.fn), np.asarray(tally.fp)
        return lambda row: -of_miss * int(fn[row]) - of_false_alarm * int(fp[row])
    return None


def _holds(values: NDArray[Any], least: float | None) -> NDArray[np.bool_]:
    return np.ones(len(values), bool) if least is None else values >= least


def _provenance(
    counts: Counts, objective: str, parameters: Mapping[str, float | None]
) -> dict[str, str]:
    from .. import __version__

    settings = ", ".join(f"{name}={value}" for name, value in parameters.items() if value is not None)
    return {
        "sedscope": __version__,
        "criterion": repr(counts.criterion),
        "objective": f"{objective} ({settings})" if settings else objective,
        "clips": str(counts.clips),
        "hours": f"{counts.duration / 3600:.4f}",
    }


def _require_between_zero_and(largest: float, **parameters: float | None) -> None:
    for name, value in parameters.items():
        is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 <= value <= largest):
            raise SedscopeError(f"{name}={value!r:.50} must be a number from 0 to {largest:g}.")
