"""Choosing operating points: the best threshold of each class for an objective, under constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts, Counts
from ..counting.deltas import Deltas
from ..counting.tally import Tally, first_best_row, hours_per, most_false_positives, rate_text
from ..criteria.criterion import as_share
from ..data.arrays import FloatArray
from ..definitions import LARGEST_WEIGHT, optional_number, require_number
from ..errors import SedscopeError
from .allocation import Frontier, allocate
from .guarantees import Guarantees, hours_without_false_alarms, promised_thresholds
from .operating_points import OperatingPoints
from .tune import Folds, fold_clips

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
    objective: str | None = None,
    *,
    beta: float = 1.0,
    miss_cost: float = 1.0,
    false_alarm_cost: float = 1.0,
    min_precision: float | None = None,
    min_recall: float | None = None,
    max_false_alarms: float | None = None,
    per: str = "hour",
    total: bool = False,
    confidence: float | None = None,
    groups: Mapping[str, Hashable] | None = None,
) -> OperatingPoints:
    """Choose the threshold of each class that is best for an objective and meets all constraints.

    Parameters
    ----------
    counts : Counts or Deltas
        The counts of the system at every threshold, or the deltas that they are added up from; see
        :func:`~sedscope.deltas`.
    objective : {"fscore", "error_rate", "cost", "precision", "recall"}, optional
        What should be best: the largest F-score, precision or recall, or the smallest error rate or cost.
        By default the F-score; with ``total`` it is the mean recall of all classes.
    beta : float, default 1.0
        The weight of recall in the F-score.
    miss_cost, false_alarm_cost : float, default 1.0
        The cost of a missed reference and of a false positive.
    min_precision, min_recall : float, optional
        The smallest precision and recall of each class that are accepted.
    max_false_alarms : float, optional
        The largest number of false positives per hour or day that is accepted, for each class.
    per : {"hour", "day"}, default "hour"
        The unit of recording time of ``max_false_alarms``.
    total : bool, default False
        Let ``max_false_alarms`` limit all classes together. The mean recall is the best that is possible.
    confidence : float, optional
        Keep the constraints with this confidence, from 0.5 to 0.9999, on other recordings of the same kind,
        although the thresholds were searched for. With deltas, the limits take into account that the
        events of a clip depend on each other. A limit for all classes together needs deltas.
    groups : mapping of clip to group, optional
        Clips that depend on each other, such as those of a recording site. Needs deltas and a confidence.

    Returns
    -------
    OperatingPoints
        Classes for which no threshold meets the constraints are listed in ``unmet``. Their threshold is
        the best one regardless; where only the confidence is not reached, the best one that meets the
        constraints in these clips. Classes without references get no threshold.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
    >>> round(choose(counts).thresholds["Dog"], 2)
    0.65
    """
    objective = objective or ("recall" if total else "fscore")
    if objective not in OBJECTIVES:
        names = " or ".join(map(repr, OBJECTIVES))
        raise SedscopeError(f"objective={objective!r} is not valid. Choose {names}.")
    goal = Objective(objective, beta, miss_cost, false_alarm_cost)
    constraints = Constraints(min_precision, min_recall, max_false_alarms, per, total, confidence)
    if total and objective != "recall":
        raise SedscopeError(
            f"`total=` looks for the best mean recall, not for {objective!r}. Leave out the objective."
        )
    if groups is not None and confidence is None:
        raise SedscopeError(
            "`groups=` only applies to constraints with confidence. Give `confidence=` as well."
        )
    deltas = counts if isinstance(counts, Deltas) else None
    counts = counts.counts() if isinstance(counts, Deltas) else counts
    constraints.check(counts)
    guarantees = None if confidence is None else Guarantees(counts, confidence, deltas, groups)
    thresholds: dict[str, float] = {}
    unmet: dict[str, str] = {}
    candidates: dict[str, NDArray[np.intp]] = {}
    for label, of_class in counts.items():
        if not of_class.references:
            continue
        candidates[label], unmet_constraints = constraints.apply(of_class, counts.hours, guarantees)
        if unmet_constraints:
            unmet[label] = " and ".join(unmet_constraints)
    if total:
        assert max_false_alarms is not None
        thresholds, met = _together(counts, candidates, constraints, deltas, groups)
        if not met:
            unmet |= {
                label: constraints.limit_text(guarantees) for label in candidates if label not in unmet
            }
    else:
        for label, rows in candidates.items():
            best = goal.best_row(counts[label].tally().rows(rows))
            thresholds[label] = counts[label].threshold(int(rows[best]))
    settings = {name: value for name, value in vars(constraints).items() if value not in (None, False)}
    if max_false_alarms is None:
        del settings["per"]
    provenance = _provenance(counts, objective, {**goal.parameters(), **settings})
    if guarantees is not None:
        provenance["guarantee"] = guarantees.about(total, unmet)
    return OperatingPoints(thresholds, provenance, unmet)


def cross_fitted(
    deltas: Deltas,
    folds: Folds,
    chosen: Callable[[Deltas, Mapping[str, Hashable] | None], OperatingPoints],
) -> dict[str, Tally]:
    """Return the counts of each class on clips that its threshold was not chosen on, added up.

    ``chosen``: chooses thresholds on some clips, with the groups that they belong to.
    """
    tallies: dict[str, list[Tally]] = {}
    for held_out in fold_clips(deltas.clips, folds)[1:]:
        thresholds = chosen(deltas.of_clips(~held_out), folds.groups).thresholds
        for label, counts in deltas.of_clips(held_out).counts().items():
            tallies.setdefault(label, []).append(counts.tally_at(thresholds.get(label, math.inf)))
    return {label: reduce(add, of_folds) for label, of_folds in tallies.items()}


@dataclass(frozen=True)
class Constraints:
    """What the operating point of each class, or those of all classes together, must meet."""

    min_precision: float | None
    min_recall: float | None
    max_false_alarms: float | None
    per: str
    total: bool
    """The limit on false alarms is for all classes together."""
    confidence: float | None
    """That the constraints hold in other recordings, too."""

    def __post_init__(self) -> None:
        optional_number(self, "min_precision", at_least=0, at_most=1)
        optional_number(self, "min_recall", at_least=0, at_most=1)
        optional_number(self, "max_false_alarms", at_least=0)
        optional_number(self, "confidence", at_least=0.5, at_most=0.9999)
        hours_per(self.per)
        if self.total and self.max_false_alarms is None:
            raise SedscopeError(
                "`total=` is for a limit on false alarms. Give `max_false_alarms=` as well."
            )
        if self.confidence is not None and not self._number():
            raise SedscopeError(
                "`confidence=` is that of a constraint. Give `min_precision=`, `min_recall=` or "
                "`max_false_alarms=` as well."
            )
        if self.confidence is not None and self.max_false_alarms == 0:
            raise SedscopeError(
                "No recording is long enough to promise 0 false alarms. Give a larger limit, or no "
                "confidence."
            )

    def _number(self) -> int:
        values = (self.min_precision, self.min_recall, self.max_false_alarms)
        return sum(value is not None for value in values)

    @property
    def level(self) -> float:
        """The probability with which one of the constraints may be broken: each has its share."""
        return 1.0 if self.confidence is None else (1 - self.confidence) / self._number()

    @property
    def per_hour(self) -> float:
        """The limit on false alarms per hour."""
        return math.inf if self.max_false_alarms is None else self.max_false_alarms / hours_per(self.per)

    def check(self, counts: Counts) -> None:
        """Refuse what counts of a criterion cannot tell."""
        if not counts.criterion.measures_time:
            return
        advice = "Use a criterion about events, such as Collar, or minimise the cost (objective='cost')."
        if self.max_false_alarms is not None:
            raise SedscopeError(
                "`max_false_alarms=` limits the number of false alarms, but "
                f"{counts.criterion!r} measures how long they are. {advice}"
            )
        if self.confidence is not None:
            raise SedscopeError(
                f"`confidence=` needs events to count, but {counts.criterion!r} measures time. {advice}"
            )

    def most_false_positives(self, hours: float) -> float:
        """Return how many false positives the limit allows in some hours."""
        if self.max_false_alarms is None:
            return math.inf
        return most_false_positives(self.max_false_alarms, hours, self.per)

    def limit_text(self, guarantees: Guarantees | None) -> str:
        """Describe the limit on false alarms, and the hours that it takes if there are too few."""
        of_all = " of all classes together" if self.total else ""
        text = f"at most {rate_text(self.max_false_alarms or 0, self.per)}{of_all}"
        if guarantees is None:
            return text
        text += f" {_confidence_text(guarantees)}"
        needed = hours_without_false_alarms(self.per_hour, 1 - self.level, self.total)
        if needed <= guarantees.hours:
            return text
        return (
            f"{text} (even without any false alarm, that takes {math.ceil(100 * needed) / 100:g} hours of "
            f"recordings, but there are only {math.floor(100 * guarantees.hours) / 100:g})"
        )

    def apply(
        self, counts: ClassCounts, hours: float, guarantees: Guarantees | None
    ) -> tuple[NDArray[np.intp], list[str]]:
        """Return the rows of the tally to choose from, and the constraints that cannot be met, in words.

        ``hours``: the duration of all clips. ``guarantees``: if the constraints must hold with a confidence.
        """
        allowed = self.most_false_positives(hours)
        counts.require_rows("A choice of operating points")
        counts.require_reach("A choice of operating points", allowed)
        tally = counts.tally()
        in_clips: dict[str, NDArray[np.bool_]] = {}
        surely: dict[str, NDArray[np.bool_]] = {}
        sure = "" if guarantees is None else f" {_confidence_text(guarantees)}"
        if self.min_precision is not None:
            name = f"precision >= {self.min_precision}{sure}"
            in_clips[name] = tally.precision >= self.min_precision
            if guarantees is not None:
                surely[name] = guarantees.precision_above(counts.label, self.min_precision, self.level)
        if self.min_recall is not None:
            name = f"recall >= {self.min_recall}{sure}"
            in_clips[name] = tally.recall >= self.min_recall
            if guarantees is not None:
                surely[name] = guarantees.recall_above(counts.label, self.min_recall, self.level)
        if self.max_false_alarms is not None:
            name = self.limit_text(guarantees)
            in_clips[name] = np.asarray(tally.fp) <= allowed
            if guarantees is not None and not self.total:
                surely[name] = guarantees.rate_below(counts.label, self.per_hour, self.level)
        every_row = np.ones(len(np.asarray(tally.fp)), bool)
        needed = in_clips if guarantees is None else surely
        rows = _rows_that_meet_all([every_row, *needed.values()])
        if len(rows):
            return rows, []
        unmet = [constraint for constraint, met in needed.items() if not met.all()]
        rows = _rows_that_meet_all(in_clips.values())  # rather in these clips alone than not at all
        if not len(rows):
            counts.require_reach("The best threshold regardless of the constraints")
            rows = np.flatnonzero(every_row)
        return rows, unmet


def _together(
    counts: Counts,
    candidates: Mapping[str, NDArray[np.intp]],
    constraints: Constraints,
    deltas: Deltas | None,
    groups: Mapping[str, Hashable] | None,
) -> tuple[dict[str, float], bool]:
    """Return thresholds whose false alarms together keep the limit, with the best mean recall.

    The other value says whether they do. If not, they are the best that keep it in these clips, if any does.
    """
    if constraints.confidence is not None:
        if deltas is None:
            raise SedscopeError(
                "A limit for all classes together with confidence needs deltas, which know the clips. Counts "
                "do not."
            )
        promised = promised_thresholds(
            deltas, counts, candidates, constraints.per_hour, constraints.level, groups
        )
        if promised is not None:
            return promised, True
    frontiers = {
        label: Frontier(counts[label].tally().rows(rows), rows) for label, rows in candidates.items()
    }
    rows = allocate(frontiers, int(constraints.most_false_positives(counts.hours)))
    met = rows is not None and constraints.confidence is None
    if rows is None:
        rows = {label: int(part.rows[0]) for label, part in frontiers.items()}
    return {label: counts[label].threshold(row) for label, row in rows.items()}, met


def _rows_that_meet_all(constraints: Iterable[NDArray[np.bool_]]) -> NDArray[np.intp]:
    return np.flatnonzero(np.all([*constraints], axis=0))


def _confidence_text(guarantees: Guarantees) -> str:
    return f"with {guarantees.confidence * 100:g} % confidence"


def _provenance(counts: Counts, objective: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    from .. import __version__

    settings = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return {
        "sedscope": __version__,
        "criterion": repr(counts.criterion),
        "objective": f"{objective} ({settings})" if settings else objective,
        "clips": str(counts.clips),
        "hours": f"{counts.hours:.4f}",
    }
