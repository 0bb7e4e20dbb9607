"""Metrics at one operating point per class: the one of a fixed threshold, or the best one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ..counting.counts import ClassCounts, Counts
from ..counting.tally import Tally, first_best_row
from ..criteria import Criterion
from ..criteria.criterion import as_share
from ..criteria.per_detection import PerDetection
from ..data.arrays import FloatArray
from ..definitions import LARGEST_WEIGHT, require_choice, require_number
from ..errors import SedscopeError
from .classwise import AVERAGES, Chance, ClassValue, ClasswiseMetric, CurveType
from .curves import (
    ThresholdCurve,
    fscore_name,
    mean_threshold_curve,
    operating_scores,
    require_all_points,
)
from .metric import METRICS, RATE_OF_BEST, SHARE, PointsRead

POINTS: Literal["points"] = "points"
"""The threshold of a metric that is measured at the operating point of each class."""
Threshold: TypeAlias = float | Literal["points"]


class FixedThreshold(ClasswiseMetric[None]):
    """A quantity at a fixed threshold.

    With ``threshold="points"`` it is measured at the operating point of each class. The counts must then
    have one operating point only.
    """

    threshold: Threshold

    has_thresholds: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float] | None] = SHARE

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.threshold, str):
            require_number(self, "threshold")
        elif self.threshold != POINTS:
            raise SedscopeError(f"threshold={self.threshold!r} must be a number or {POINTS!r}.")

    @property
    def points_read(self) -> PointsRead:
        """The one of the threshold."""
        return self.threshold

    def at_points(self) -> ClasswiseMetric[None]:
        same: Any = self  # a dataclass, as all metrics are
        return replace(same, threshold=POINTS)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        threshold, tally = operating_point(counts, self.threshold, self)
        return ClassValue(self.of_tally(tally), threshold, tally)

    def of_all(self, counts: Counts) -> ClassValue[None]:
        tables = list(counts.values())
        common = None if isinstance(self.threshold, str) else self.threshold
        if all(table.complete for table in tables):
            together = super().of_all(counts)
            return together if together.tally is None else replace(together, threshold=common)
        tally = reduce(add, [operating_point(table, self.threshold, self)[1] for table in tables])
        if not tally.references:
            return ClassValue(np.nan)
        return ClassValue(self.of_tally(tally), common, tally)


@dataclass(frozen=True, repr=False)
class Rate(FixedThreshold):
    """A quantity at a fixed threshold that has no other parameters."""

    criterion: Criterion
    threshold: Threshold = 0.5
    average: str = "macro"


def operating_point(
    counts: ClassCounts, threshold: Threshold, reader: object
) -> tuple[float | None, Tally]:
    """Return the threshold of a class, as far as it is known, and the counts there.

    With ``"points"``, that is the only operating point that the class has: the row of a chosen threshold,
    or the scores of 1 of a system that says no more than what it detects. ``reader``: the metric.
    """
    if not isinstance(threshold, str):
        return threshold, counts.tally_at(threshold)
    if counts.at_chosen_thresholds and len(counts.scores) == 1:
        return float(counts.scores[0]), counts.tally()[1]
    if counts.at_chosen_thresholds or (counts.scores != 1).any():
        raise SedscopeError(
            f"{reader!r} is measured at the operating point of each class, but {counts.label} has several: "
            "state the operating points of the system with `points=`."
        )
    return None, counts.tally()[len(counts.scores)]


class BestThreshold(ClasswiseMetric[ThresholdCurve]):
    """A quantity at the threshold where it is best."""

    averages: ClassVar[tuple[str, ...]] = (*AVERAGES, "micro_tuned")
    has_thresholds: ClassVar[bool] = True
    bias_rate: ClassVar[float] = RATE_OF_BEST
    bounds: ClassVar[tuple[float, float] | None] = SHARE

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[ThresholdCurve]:
        """Take the best value; of equally good points, the one with the highest threshold."""
        if counts.pairs is None:
            places, points = counts.cheapest_points()
        else:  # where substitutions count, fewer false positives need not be better
            places, points = np.arange(len(counts.scores) + 1), counts.tally()
        values = self.quantity(points)
        best = values.max() if self.higher_is_better else values.min()
        point = self.best_row(points, values)
        return ClassValue(float(best), counts.threshold(int(places[point])), points[point])

    def best_row(self, tally: Tally, values: FloatArray) -> int:
        """Return the first of the best operating points.

        Parameters
        ----------
        tally : Tally
            The operating points.
        values : array of float
            The quantity at each of them.

        Returns
        -------
        int
        """
        return int(np.argmax(values) if self.higher_is_better else np.argmin(values))

    def curve_of(self, counts: ClassCounts, hours: float) -> ThresholdCurve:
        require_all_points(counts)
        return ThresholdCurve(
            operating_scores(counts), self.quantity(counts.tally()), self.quantity_name
        )

    def mean_curve(self, curves: Sequence[ThresholdCurve], weights: Sequence[float]) -> ThresholdCurve:
        return mean_threshold_curve(curves, weights)

    @property
    @abstractmethod
    def quantity_name(self) -> str:
        """What should be best."""

    @abstractmethod
    def quantity(self, tally: Tally) -> Any:
        """Return what should be best.

        Parameters
        ----------
        tally : Tally
            The operating points.

        Returns
        -------
        array of float
            The value at each of them.
        """

    def of_tally(self, tally: Tally) -> float:
        return float(self.quantity(tally))


def _chance_of_fscore(tally: Tally, beta: float) -> Chance | None:
    """Return what F1 is a function of: the share of true positives in all references and detections."""
    if beta != 1 or tally.right is not None:
        return None
    together = int(tally.tp + tally.fp + tally.fn)
    return Chance(int(tally.tp), together, value=lambda share: 2 * share / (1 + share))


def _chance_of_errors(tally: Tally) -> Chance | None:
    """Return the rate of errors that are no substitutions. Without detections it is 1, by definition."""
    errors = int(tally.fn + tally.fp)
    by_chance = tally.pairs is None and tally.detected > 0
    return Chance(errors, tally.references, poisson=True) if by_chance else None


@METRICS.register
@dataclass(frozen=True, repr=False)
class FScore(FixedThreshold):
    """F-score at one threshold for all classes.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    threshold : float or "points", default 0.5
        Frames with ``score > threshold`` are active. ``"points"``: at the operating points of the system.
    beta : float, default 1.0
        The weight of recall.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.
    precision : {"references", "detections"}, optional
        What precision counts where several detections may find one reference: the references found, as the
        criterion does, or the right detections, as :class:`PerDetection` does, which the criterion then
        becomes.

    Examples
    --------
    >>> from sedscope import Collar
    >>> FScore(Collar())
    FScore(Collar(onset=0.2, offset=0.2, offset_rate=0.2), threshold=0.5, beta=1, average='macro')
    """

    criterion: Criterion
    threshold: Threshold = 0.5
    beta: float = 1.0
    average: str = "macro"
    precision: str | None = None

    def __post_init__(self) -> None:
        _take_precision(self)
        super().__post_init__()
        require_number(self, "beta", above=0, at_most=LARGEST_WEIGHT)

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return _chance_of_fscore(tally, self.beta)

    def of_tally(self, tally: Tally) -> float:
        return float(tally.fscore(self.beta))


@METRICS.register
@dataclass(frozen=True, repr=False)
class BestFScore(BestThreshold):
    """F-score at the best threshold of each class.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    beta : float, default 1.0
        The weight of recall.
    average : {"macro", "micro", "weighted", "micro_tuned"}, default "macro"
        How the classes are averaged. ``micro`` takes all classes together at the best *common*
        threshold, ``micro_tuned`` takes them together with each class at its own best threshold.
    precision : {"references", "detections"}, optional
        What precision counts where several detections may find one reference: the references found, as the
        criterion does, or the right detections, as :class:`PerDetection` does, which the criterion then
        becomes.

    Examples
    --------
    >>> from sedscope import Collar
    >>> BestFScore(Collar())
    BestFScore(Collar(onset=0.2, offset=0.2, offset_rate=0.2), beta=1, average='macro')
    """

    criterion: Criterion
    beta: float = 1.0
    average: str = "macro"
    precision: str | None = None

    def __post_init__(self) -> None:
        _take_precision(self)
        super().__post_init__()
        require_number(self, "beta", above=0, at_most=LARGEST_WEIGHT)

    @property
    def best_fscore_beta(self) -> float | None:
        defined_here = type(self) is BestFScore  # others may judge operating points differently
        if self.criterion.counts_right or not defined_here:
            return None
        return self.beta if self.average in ("macro", "weighted") else None

    @property
    def quantity_name(self) -> str:
        return fscore_name(self.beta)

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return _chance_of_fscore(tally, self.beta)

    def quantity(self, tally: Tally) -> Any:
        return tally.fscore(self.beta)

    def best_row(self, tally: Tally, values: FloatArray) -> int:
        return first_best_row(values, lambda row: tally.exact_fscore(row, self.beta))


class _WithSubstitutions(ClasswiseMetric[CurveType]):
    """An error rate. Over all classes together, a missed reference and a false detection that would be a
    pair but for their labels are one error: a substitution. Time has no pairs, and is added up."""

    higher_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float] | None] = None

    @property
    def any_label(self) -> bool:
        """Whether the metric counts substitutions."""
        return self.average == "micro" and not self.criterion.measures_time

    def of_all(self, counts: Counts) -> ClassValue[CurveType]:
        if self.criterion.measures_time:
            return super().of_all(counts)
        self._require_substitutions()
        if counts.any_label is None:
            raise SedscopeError(
                "The micro average of an error rate counts substitutions, which were not counted. Evaluate "
                f"scores with {type(self).__name__}({self.criterion!r}, …, average='micro')."
            )
        return super().of_all(counts)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.any_label:
            self._require_substitutions()

    def _require_substitutions(self) -> None:
        if not self.criterion.defines_substitutions:
            raise SedscopeError(
                "The micro average of an error rate counts substitutions, which are not defined for "
                f"{type(self.criterion).__name__}: it does not pair detections with references. Use the "
                "average 'macro' or 'weighted'."
            )


@METRICS.register
@dataclass(frozen=True, repr=False)
class ErrorRate(_WithSubstitutions[None], Rate):
    """Deletions and insertions per reference, at one threshold for all classes.

    It is 0 at best, and above 1 if there are more errors than references. With :class:`Time` it is the
    detection error rate of voice activity detection: the time of misses and false alarms, divided by the time
    of the references.

    Parameters
    ----------
    criterion, threshold
        As for :class:`FScore`.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged. ``micro`` also counts substitutions, each of which replaces one
        deletion and one insertion, but adds up the time of all classes.

    Examples
    --------
    >>> from sedscope import Segment
    >>> ErrorRate(Segment(1.0), average='micro')
    ErrorRate(Segment(length=1, aggregation='max'), threshold=0.5, average='micro')
    """

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return _chance_of_errors(tally)

    def of_tally(self, tally: Tally) -> float:
        return float(tally.error_rate)


@METRICS.register
@dataclass(frozen=True, repr=False)
class BestErrorRate(_WithSubstitutions[ThresholdCurve], BestThreshold):
    """The smallest error rate over all thresholds; see :class:`ErrorRate`.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged. For :class:`Time` also ``micro_tuned``, as for :class:`BestFScore`.

    Examples
    --------
    >>> from sedscope import Collar
    >>> BestErrorRate(Collar())
    BestErrorRate(Collar(onset=0.2, offset=0.2, offset_rate=0.2), average='macro')
    """

    criterion: Criterion
    average: str = "macro"

    @property
    def averages(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of error rates, or for time those of every quantity at the best threshold."""
        return BestThreshold.averages if self.criterion.measures_time else AVERAGES

    @property
    def quantity_name(self) -> str:
        return "error rate"

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return _chance_of_errors(tally)

    def quantity(self, tally: Tally) -> Any:
        return tally.error_rate


@METRICS.register
@dataclass(frozen=True, repr=False)
class Precision(Rate):
    """The share of detections that are true, at one threshold for all classes.

    It is not defined (NaN) for a class without detections, which averages leave out. Curves and
    constraints take its precision as 1.

    Parameters
    ----------
    criterion, threshold, average
        As for :class:`FScore`.

    Examples
    --------
    >>> from sedscope import Collar
    >>> Precision(Collar())
    Precision(Collar(onset=0.2, offset=0.2, offset_rate=0.2), threshold=0.5, average='macro')
    """

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        right = int(tally.tp if tally.right is None else tally.right)
        return Chance(right, int(tally.detected)) if tally.detected else None

    def of_tally(self, tally: Tally) -> float:
        return float(tally.precision) if tally.detected > 0 else np.nan


@METRICS.register
@dataclass(frozen=True, repr=False)
class DetectionPrecision(Precision):
    """The share of detections that are right, at one threshold for all classes.

    It differs from :class:`Precision` where several detections may find one reference: that counts the
    references found, this counts the detections (see :class:`PerDetection`).

    Parameters
    ----------
    criterion, threshold, average
        As for :class:`FScore`.

    Examples
    --------
    >>> from sedscope import Intersection
    >>> DetectionPrecision(Intersection(0.1, 0.1))
    DetectionPrecision(PerDetection(Intersection(dtc=0.1, gtc=0.1)), threshold=0.5, average='macro')
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "criterion", per_detection(self.criterion))
        super().__post_init__()


def per_detection(criterion: Any) -> Any:
    """Return the criterion under which precision is the share of detections that are right."""
    is_other = isinstance(criterion, Criterion) and not criterion.counts_right
    return PerDetection(criterion) if is_other else criterion


def _take_precision(metric: Any) -> None:
    """Put what precision counts into the criterion of an F-score."""
    if metric.precision is not None:
        require_choice(metric, "precision", ("references", "detections"))
        if metric.precision == "detections":
            object.__setattr__(metric, "criterion", per_detection(metric.criterion))
        object.__setattr__(metric, "precision", None)


@METRICS.register
@dataclass(frozen=True, repr=False)
class Recall(Rate):
    """The share of references that are found (sensitivity), at one threshold for all classes.

    Parameters
    ----------
    criterion, threshold, average
        As for :class:`FScore`.

    Examples
    --------
    >>> from sedscope import Collar
    >>> Recall(Collar(), threshold=0.3)
    Recall(Collar(onset=0.2, offset=0.2, offset_rate=0.2), threshold=0.3, average='macro')
    """

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return Chance(int(tally.tp), tally.references)

    def of_tally(self, tally: Tally) -> float:
        return float(tally.recall)


@METRICS.register
@dataclass(frozen=True, repr=False)
class MissRate(Rate):
    """The share of references that are missed, at one threshold for all classes.

    Parameters
    ----------
    criterion, threshold, average
        As for :class:`FScore`.

    Examples
    --------
    >>> from sedscope import Alarm
    >>> MissRate(Alarm(), threshold="points")
    MissRate(Alarm(cooldown=60, before=0, after=2), threshold='points', average='macro')
    """

    higher_is_better: ClassVar[bool] = False

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return Chance(int(tally.fn), tally.references)

    def of_tally(self, tally: Tally) -> float:
        return float(tally.miss_rate)


@METRICS.register
@dataclass(frozen=True, repr=False)
class Specificity(Rate):
    """The share of segments, of clips or of time without the class in which it is not detected.

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    threshold, average
        As for :class:`FScore`.

    Examples
    --------
    >>> from sedscope import Clip
    >>> Specificity(Clip())
    Specificity(Clip(aggregation='max'), threshold=0.5, average='macro')
    """

    needs_negatives: ClassVar[bool] = True

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return Chance(int(tally.negatives - tally.fp), int(tally.negatives)) if tally.negatives else None

    def of_tally(self, tally: Tally) -> float:
        return float(tally.specificity)


@METRICS.register
@dataclass(frozen=True, repr=False)
class Accuracy(Rate):
    """The share of segments, of clips or of time that is judged correctly, at one threshold for all classes.

    Where a class is seldom active, a system that never detects it is nearly always right; see
    :class:`BalancedAccuracy`.

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    threshold, average
        As for :class:`FScore`.

    Examples
    --------
    >>> from sedscope import Time
    >>> Accuracy(Time())
    Accuracy(Time(collar=0), threshold=0.5, average='macro')
    """

    needs_negatives: ClassVar[bool] = True

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        wrong = int(tally.fn + tally.fp)
        trials = int(tally.references + tally.negatives)
        return Chance(trials - wrong, trials)

    def of_tally(self, tally: Tally) -> float:
        return float(tally.accuracy)


@METRICS.register
@dataclass(frozen=True, repr=False)
class BalancedAccuracy(Rate):
    """The mean of sensitivity and specificity, of segments, of clips or of time.

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    threshold, average
        As for :class:`FScore`.

    Examples
    --------
    >>> from sedscope import Clip
    >>> BalancedAccuracy(Clip())
    BalancedAccuracy(Clip(aggregation='max'), threshold=0.5, average='macro')
    """

    needs_negatives: ClassVar[bool] = True

    def of_tally(self, tally: Tally) -> float:
        return float(tally.balanced_accuracy)


class _WithCosts(ClasswiseMetric[CurveType]):
    """A detection cost."""

    miss_cost: float
    false_alarm_cost: float

    higher_is_better: ClassVar[bool] = False
    needs_negatives: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float] | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "miss_cost", at_least=0, at_most=LARGEST_WEIGHT)
        require_number(self, "false_alarm_cost", at_least=0, at_most=LARGEST_WEIGHT)

    def quantity(self, tally: Tally) -> Any:
        """Return the weighted sum of the miss rate and the false positive rate."""
        return self.miss_cost * tally.miss_rate + self.false_alarm_cost * tally.fpr

    def of_tally(self, tally: Tally) -> float:
        return float(self.quantity(tally))


@METRICS.register
@dataclass(frozen=True, repr=False)
class DetectionCost(_WithCosts[None], FixedThreshold):
    """A weighted sum of the miss rate and the false positive rate, at one threshold for all classes.

    With :class:`Time` and the default weights it is the detection cost function of NIST's speech activity
    detection (OpenSAT): 0.75 · P(miss) + 0.25 · P(false alarm).

    Parameters
    ----------
    criterion : Criterion
        ``Segment``, ``Clip`` or ``Time``: the metric needs true negatives.
    threshold, average
        As for :class:`FScore`.
    miss_cost : float, default 0.75
        The weight of the miss rate, the share of the references that is not found.
    false_alarm_cost : float, default 0.25
        The weight of the false positive rate, the share of the rest that is detected.

    Examples
    --------
    >>> from sedscope import Time
    >>> DetectionCost(Time())
    DetectionCost(Time(collar=0), threshold=0.5, miss_cost=0.75, false_alarm_cost=0.25, average='macro')
    """

    criterion: Criterion
    threshold: Threshold = 0.5
    miss_cost: float = 0.75
    false_alarm_cost: float = 0.25
    average: str = "macro"


@METRICS.register
@dataclass(frozen=True, repr=False)
class BestDetectionCost(_WithCosts[ThresholdCurve], BestThreshold):
    """The smallest detection cost over all thresholds; see :class:`DetectionCost`.

    Parameters
    ----------
    criterion, miss_cost, false_alarm_cost
        As for :class:`DetectionCost`.
    average : {"macro", "micro", "weighted", "micro_tuned"}, default "macro"
        How the classes are averaged, as for :class:`BestFScore`.

    Examples
    --------
    >>> from sedscope import Time
    >>> BestDetectionCost(Time())
    BestDetectionCost(Time(collar=0), miss_cost=0.75, false_alarm_cost=0.25, average='macro')
    """

    criterion: Criterion
    miss_cost: float = 0.75
    false_alarm_cost: float = 0.25
    average: str = "macro"

    @property
    def quantity_name(self) -> str:
        return "detection cost"

    def best_row(self, tally: Tally, values: FloatArray) -> int:
        of_miss, of_false_alarm = (
            Fraction(*as_share(weight)) / max(1, number)
            for weight, number in (
                (self.miss_cost, tally.references),
                (self.false_alarm_cost, tally.negatives),
            )
        )
        return first_best_row(-values, lambda row: -tally.exact_cost(row, of_miss, of_false_alarm))
