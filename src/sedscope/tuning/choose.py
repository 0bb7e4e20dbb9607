"""Choosing operating points: the best threshold of each class for an objective, under constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts, Counts
from ..counting.deltas import Deltas
from ..counting.tally import Tally, first_best_row, most_false_positives
from ..criteria.criterion import as_share
from ..data.arrays import FloatArray
from ..definitions import LARGEST_WEIGHT, optional_number, require_number
from ..errors import SedscopeError
from ..resampling.resampling import Resampling
from .false_alarm_bounds import FalseAlarmBounds, hours_without_false_alarms
from .operating_points import OperatingPoints

OBJECTIVES = ("fscore", "error_rate", "cost", "precision", "recall")


@dataclass(frozen=True)
class Objective:
    """One of the ``OBJECTIVES``, with its parameters."""

    name: str
    beta: float
    """The weight of recall in the F-score."""
    miss_cost: float
    false_alarm_cost: float

    def __post_init__(self) -> None:
        for weight in ("beta", "miss_cost", "false_alarm_cost"):
            require_number(self, weight, at_least=0, at_most=LARGEST_WEIGHT)

    def best_row(self, tally: Tally) -> int:
        """Return the first of the best operating points."""
        goodness, exact = self._goodness(tally), self._exact_goodness(tally)
        return int(np.argmax(goodness)) if exact is None else first_best_row(goodness, exact)

    def parameters(self) -> dict[str, float]:
        """Return the parameters that matter for this objective."""
        if self.name == "fscore":
            return {"beta": self.beta}
        if self.name == "cost":
            return {"miss_cost": self.miss_cost, "false_alarm_cost": self.false_alarm_cost}
        return {}

    def _goodness(self, tally: Tally) -> FloatArray:
        values: FloatArray
        if self.name == "fscore":
            values = tally.fscore(self.beta)
        elif self.name == "error_rate":
            values = -tally.error_rate
        elif self.name == "cost":
            values = -(self.miss_cost * tally.fn + self.false_alarm_cost * tally.fp)
        else:
            values = tally.precision if self.name == "precision" else tally.recall
        return values

    def _exact_goodness(self, tally: Tally) -> Callable[[int], Fraction] | None:
        """Return what computes the goodness of an operating point without rounding.

        It is None where rounding cannot make unequal operating points look equal, or the other way round.
        """
        if self.name == "fscore":
            return lambda row: tally.exact_fscore(row, self.beta)
        if self.name == "cost":
            of_miss, of_false_alarm = (
                Fraction(*as_share(cost)) for cost in (self.miss_cost, self.false_alarm_cost)
            )
            return lambda row: -tally.exact_cost(row, of_miss, of_false_alarm)
        return None


def choose(
    counts: Counts | Deltas,
    objective: str = "fscore",
    *,
    beta: float = 1.0,
    miss_cost: float = 1.0,
    false_alarm_cost: float = 1.0,
    min_precision: float | None = None,
    min_recall: float | None = None,
    max_false_alarms_per_hour: float | None = None,
    confidence: float | None = None,
    resampling: Resampling | None = None,
) -> OperatingPoints:
    """Choose the threshold of each class that is best for an objective and meets all constraints.

    Parameters
    ----------
    counts : Counts or Deltas
        The counts of the system at every threshold, or the deltas that they are added up from; see
        :func:`~sedscope.deltas`.
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
    confidence : float, optional
        Keep the limit on false alarms with this confidence, from 0.5 to 0.9999, on other recordings of
        the same kind: not only the rate of these clips but its upper bound must meet the limit. The
        bound is the exact Poisson limit. For the deltas of ten clips or more, it is the larger of that
        and the bound from resampling the clips.
    resampling : Resampling, optional
        How clips are resampled, e.g. in groups. Needs deltas.

    Returns
    -------
    OperatingPoints
        Classes for which no threshold meets the constraints are listed in ``unmet``. Their threshold is
        the best one regardless; where only the confidence is not reached, the best one that keeps the
        limit in these clips. Classes without references get no threshold.

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
    goal = Objective(objective, beta, miss_cost, false_alarm_cost)
    constraints = _Constraints(min_precision, min_recall, max_false_alarms_per_hour, confidence)
    if resampling is not None and confidence is None:
        raise SedscopeError(
            "resampling= only applies to a limit with confidence. Give confidence= as well."
        )
    deltas = counts if isinstance(counts, Deltas) else None
    counts = counts.counts() if isinstance(counts, Deltas) else counts
    if max_false_alarms_per_hour is not None and counts.criterion.measures_time:
        raise SedscopeError(
            "max_false_alarms_per_hour (--max-false-alarms-per-hour) limits the number of false alarms, but "
            f"{counts.criterion!r} measures how long they are. Use a criterion about events, such as Collar, "
            "or minimise the cost (objective='cost')."
        )
    bounds = None if confidence is None else FalseAlarmBounds(counts, confidence, deltas, resampling)
    thresholds: dict[str, float] = {}
    unmet: dict[str, str] = {}
    for label, of_class in counts.items():
        if not of_class.references:
            continue
        candidates, unmet_constraints = constraints.apply(of_class, counts.hours, bounds)
        if unmet_constraints:
            unmet[label] = " and ".join(unmet_constraints)
        best = goal.best_row(of_class.tally().rows(candidates))
        thresholds[label] = of_class.threshold(int(candidates[best]))
    provenance = _provenance(counts, objective, {**goal.parameters(), **vars(constraints)})
    if bounds is not None:
        provenance["false_alarms"] = bounds.about()
    return OperatingPoints(thresholds, provenance, unmet)


@dataclass(frozen=True)
class _Constraints:
    """What the operating point of each class must meet."""

    min_precision: float | None
    min_recall: float | None
    max_false_alarms_per_hour: float | None
    confidence: float | None
    """That the limit on false alarms holds in other recordings, too."""

    def __post_init__(self) -> None:
        optional_number(self, "min_precision", at_least=0, at_most=1)
        optional_number(self, "min_recall", at_least=0, at_most=1)
        optional_number(self, "max_false_alarms_per_hour", at_least=0)
        optional_number(self, "confidence", at_least=0.5, at_most=0.9999)
        if self.confidence is not None and self.max_false_alarms_per_hour is None:
            raise SedscopeError(
                "confidence= (--confidence) is that of a limit on false alarms. Give "
                "max_false_alarms_per_hour= (--max-false-alarms-per-hour) as well."
            )
        if self.confidence is not None and self.max_false_alarms_per_hour == 0:
            raise SedscopeError(
                "No recording is long enough to promise 0 false alarms per hour. Give a larger limit, or no "
                "confidence."
            )

    def apply(
        self, counts: ClassCounts, hours: float, bounds: FalseAlarmBounds | None
    ) -> tuple[NDArray[np.intp], list[str]]:
        """Return the rows of the tally to choose from, and the constraints that cannot be met, in words.

        ``hours``: the duration of all clips. ``bounds``: upper bounds of the false alarms, if the limit on
        them must hold with a confidence.
        """
        allowed = math.inf
        if self.max_false_alarms_per_hour is not None:
            allowed = most_false_positives(self.max_false_alarms_per_hour, hours)
        counts.require_rows("A choice of operating points")
        counts.require_reach("A choice of operating points", allowed)
        tally = counts.tally()
        others = {
            f"precision >= {self.min_precision}": _holds(tally.precision, self.min_precision),
            f"recall >= {self.min_recall}": _holds(tally.recall, self.min_recall),
        }
        met_here = np.asarray(tally.fp) <= allowed
        limit, limit_met = f"at most {self.max_false_alarms_per_hour} false alarms per hour", met_here
        if bounds is not None and self.max_false_alarms_per_hour is not None:
            limit += f" {_confidence_text(self.max_false_alarms_per_hour, bounds)}"
            limit_met = bounds.meet(counts.label, self.max_false_alarms_per_hour)
        constraints = {**others, limit: limit_met}
        rows = _rows_that_meet_all(constraints.values())
        if len(rows):
            return rows, []
        unmet = [constraint for constraint, met in constraints.items() if not met.all()]
        if bounds is not None:  # rather meet the limit in these clips alone than not at all
            rows = _rows_that_meet_all([*others.values(), met_here])
        if not len(rows):
            counts.require_reach("The best threshold regardless of the constraints")
            rows = np.arange(len(met_here))
        return rows, unmet


def _rows_that_meet_all(constraints: Iterable[NDArray[np.bool_]]) -> NDArray[np.intp]:
    return np.flatnonzero(np.all([*constraints], axis=0))


def _confidence_text(per_hour: float, bounds: FalseAlarmBounds) -> str:
    """Name the confidence of a limit, and the hours that it takes if there are too few."""
    sure = f"with {bounds.confidence * 100:g} % confidence"
    needed = hours_without_false_alarms(per_hour, bounds.confidence)
    if needed <= bounds.hours:
        return sure
    return (
        f"{sure} (even without any false alarm, that takes {math.ceil(100 * needed) / 100:g} hours of "
        f"recordings, but there are only {math.floor(100 * bounds.hours) / 100:g})"
    )


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
        "hours": f"{counts.hours:.4f}",
    }
