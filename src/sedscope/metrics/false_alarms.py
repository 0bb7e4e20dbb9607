"""False alarms per hour or day, and metrics at the best operating point within a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts, Counts
from ..counting.tally import PRECISION, Tally, hours_per, most_false_positives
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..definitions import definition, require_number
from ..errors import SedscopeError, listing
from .classwise import Chance, ClassValue, ClasswiseMetric, ClasswiseResult, CurveType, OfFewest
from .curves import FROCCurve, froc_curve
from .metric import METRICS, RATE_OF_BEST, SHARE, Metric
from .thresholded import FixedThreshold, Threshold, operating_point


class Constrained(ClasswiseMetric[CurveType]):
    """The best value of one quantity among the operating points that meet a constraint."""

    has_thresholds: ClassVar[bool] = True
    bias_rate: ClassVar[float] = RATE_OF_BEST
    bounds: ClassVar[tuple[float, float] | None] = SHARE

    def _best_value(
        self, counts: ClassCounts, values: FloatArray, meets: NDArray[np.bool_]
    ) -> ClassValue[CurveType]:
        """Return the best of the values that meet the constraint, one for each operating point."""
        rows = np.flatnonzero(meets)
        if not len(rows):
            return ClassValue(0.0)
        row = int(rows[np.argmax(values[rows])])
        return ClassValue(float(values[row]), counts.threshold(row), counts.tally()[row])


@METRICS.register
@dataclass(frozen=True, repr=False)
class PrecisionAtRecall(Constrained[None]):
    """The best precision over all thresholds at which the recall is high enough; 0 if there is none.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    recall : float
        The smallest recall that is accepted.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.

    Examples
    --------
    >>> from sedscope import Collar
    >>> PrecisionAtRecall(Collar(), recall=0.8)
    PrecisionAtRecall(Collar(onset=0.2, offset=0.2, offset_rate=0.2), recall=0.8, average='macro')
    """

    criterion: Criterion
    recall: float
    average: str = "macro"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "recall", above=0, at_most=1)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        tally = counts.tally()
        return self._best_value(counts, tally.precision, tally.recall >= self.recall)

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        right = int(tally.tp if tally.right is None else tally.right)
        return Chance(right, int(tally.detected)) if tally.detected else None

    def of_tally(self, tally: Tally) -> float:
        """Return the precision, whether or not the constraint is met; 0 without detections, which never meet
        it."""
        return float(tally.precision) if tally.detected > 0 else 0.0


@METRICS.register
@dataclass(frozen=True, repr=False)
class RecallAtPrecision(Constrained[None]):
    """The best recall over all thresholds at which the precision is high enough; 0 if there is none.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    precision : float
        The smallest precision that is accepted.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.

    Examples
    --------
    >>> from sedscope import Collar
    >>> RecallAtPrecision(Collar(), precision=0.9)
    RecallAtPrecision(Collar(onset=0.2, offset=0.2, offset_rate=0.2), precision=0.9, average='macro')
    """

    criterion: Criterion
    precision: float
    average: str = "macro"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "precision", above=0, at_most=1)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        tally = counts.tally()
        return self._best_value(counts, tally.recall, tally.precision >= self.precision)

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return Chance(int(tally.tp), tally.references)

    def of_tally(self, tally: Tally) -> float:
        """Return the recall, whether or not the constraint is met."""
        return float(tally.recall)


@METRICS.register
@dataclass(frozen=True, repr=False)
class FalseAlarmRate(FixedThreshold):
    """False positives per hour or day of recording, at one threshold for all classes.

    Classes without reference events have a value, too: all their detections are false alarms.

    Parameters
    ----------
    criterion : Criterion
        What counts as found. For ``Segment`` and ``Clip``, false alarms are segments and clips.
    threshold : float or "points", default 0.5
        Frames with ``score > threshold`` are active. ``"points"``: at the operating points of the system.
    average : {"micro", "macro"}, default "micro"
        The value over all classes. ``micro``: the false alarms of all classes together, which is the sum
        of the classes' rates. ``macro``: the mean over all classes.
    per : {"hour", "day"}, default "hour"
        The unit of recording time.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2, 0.7], [0.9, 0.1]]}, classes=["Dog", "Cat"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 2})
    >>> rate = FalseAlarmRate(sed.Collar())
    >>> rate
    FalseAlarmRate(Collar(onset=0.2, offset=0.2, offset_rate=0.2), threshold=0.5, average='micro', per='hour')
    >>> result = sed.evaluate(scores, truth, rate)[rate]
    >>> result.value, result.per_class["Cat"].value
    (1800.0, 1800.0)
    """

    criterion: Criterion
    threshold: Threshold = 0.5
    average: str = "micro"
    per: str = "hour"

    averages: ClassVar[tuple[str, ...]] = ("micro", "macro")
    counts_false_alarms: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = False
    needs_references: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float] | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        hours_per(self.per)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        threshold, tally = operating_point(counts, self.threshold, self)
        return ClassValue(self._rate(tally, hours), threshold, tally)

    def of_all(self, counts: Counts) -> ClassValue[None]:
        # class by class, which needs no table of all thresholds
        tallies = [operating_point(table, self.threshold, self)[1] for table in counts.values()]
        common = None if isinstance(self.threshold, str) else self.threshold
        tally = reduce(add, tallies)
        return ClassValue(self._rate(tally, counts.hours), common, tally)

    def of_tally(self, tally: Tally) -> float:
        raise SedscopeError(f"{self} needs the duration of the clips, which a tally does not know.")

    def of_tallies(self, tallies: Mapping[str, Tally], counts: Counts) -> ClasswiseResult[None]:
        hours = counts.hours
        per_class: dict[str, ClassValue[None]] = {
            label: ClassValue(self._rate(tally, hours), tally=tally) for label, tally in tallies.items()
        }
        return ClasswiseResult(self, counts, per_class)

    def average_of(self, result: ClasswiseResult[Any], kind: str) -> float:
        """Average the values of the classes. ``micro`` adds up the false alarms of the result itself."""
        tallies = [value.tally for value in result.per_class.values() if value.tally is not None]
        if kind == "micro" and tallies:
            return self._rate(reduce(add, tallies), result.counts.hours)
        return super().average_of(result, kind)

    def chance(self, tally: Tally, hours: float) -> Chance:
        return Chance(int(tally.fp), hours / hours_per(self.per), poisson=True)

    def _rate(self, tally: Tally, hours: float) -> float:
        counted = replace(tally, fp=hours_per(self.per) * tally.fp)
        return float(counted.false_alarms_per_hour(hours))


@METRICS.register
@dataclass(frozen=True, repr=False)
class RecallAtFalseAlarms(Constrained[FROCCurve]):
    """The best recall over all thresholds with few enough false alarms; 0 if there is none.

    It is read off the curve of recall over false alarms per hour (FROC).

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    false_alarms : float
        The largest number of false positives per hour or day of recording that is accepted, for each class,
        or for all classes together with ``average="micro"``.
    per : {"hour", "day"}, default "hour"
        The unit of recording time.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.

    Examples
    --------
    >>> from sedscope import IoU
    >>> RecallAtFalseAlarms(IoU(0.5), 1, per="day")
    RecallAtFalseAlarms(IoU(threshold=0.5), false_alarms=1, per='day', average='macro')
    """

    criterion: Criterion
    false_alarms: float
    per: str = "hour"
    average: str = "macro"

    counts_false_alarms: ClassVar[bool] = True
    reads_froc: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "false_alarms", at_least=0)
        hours_per(self.per)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[FROCCurve]:
        tally = counts.tally()
        allowed = most_false_positives(self.false_alarms, hours, self.per)
        return self._best_value(counts, tally.recall, np.asarray(tally.fp) <= allowed)

    @property
    def of_fewest(self) -> OfFewest | None:
        if type(self) not in (RecallAtFalseAlarms, MissRateAtFalseAlarms):
            return None  # others may judge operating points differently

        def best(tp: IntArray, fp: IntArray, references: int, hours: float) -> float:
            found = tp[fp <= most_false_positives(self.false_alarms, hours, self.per)]
            return self.of_tally(Tally(int(found[-1]), 0, references)) if len(found) else 0.0

        return best

    @property
    def value_limit(self) -> float | None:
        if self.of_fewest is None:
            return None
        return self.false_alarms * (1 + PRECISION) / (3600 * hours_per(self.per))

    def curve_of(self, counts: ClassCounts, hours: float) -> FROCCurve:
        return froc_curve(counts, hours, self.per)

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return Chance(int(tally.tp), tally.references)

    def of_tally(self, tally: Tally) -> float:
        """Return the recall, whether or not the constraint is met."""
        return float(tally.recall)


@METRICS.register
@dataclass(frozen=True, repr=False)
class MissRateAtFalseAlarms(RecallAtFalseAlarms):
    """The smallest miss rate over all thresholds with few enough false alarms: 1 − recall.

    Parameters
    ----------
    criterion, false_alarms, per, average
        As for :class:`RecallAtFalseAlarms`.

    Examples
    --------
    >>> from sedscope import Alarm
    >>> MissRateAtFalseAlarms(Alarm(), 1, per="day")
    MissRateAtFalseAlarms(Alarm(cooldown=60, before=0, after=2), false_alarms=1, per='day', average='macro')
    """

    higher_is_better: ClassVar[bool] = False

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[FROCCurve]:
        best = super().of_class(counts, hours)
        return best if best.tally is None else replace(best, value=self.of_tally(best.tally))

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        return Chance(int(tally.fn), tally.references)

    def of_tally(self, tally: Tally) -> float:
        """Return the miss rate, whether or not the constraint is met."""
        return float(tally.miss_rate)


@dataclass(frozen=True, repr=False)
class AtFalseAlarms(ClasswiseMetric[None]):
    """A metric of one operating point, at the best threshold of each class within a number of false alarms.

    The best threshold has the highest recall; of several, the one with the fewest false alarms.
    A class that has only one operating point is measured there if it is within the limit. If no threshold
    is, the class is measured as one that is never detected. ``compare(at_false_alarms=)`` makes this metric.

    Attributes
    ----------
    metric : ClasswiseMetric
        The metric; its own threshold does not apply.
    limit : str
        Where the limit comes from, in words.
    most_false_positives : mapping of str to int
        The false positives that each class may have.
    """

    metric: ClasswiseMetric[Any]
    limit: str
    most_false_positives: Mapping[str, int] = field(compare=False)
    criterion: Criterion = field(init=False)
    average: str = field(init=False)

    has_thresholds: ClassVar[bool] = True
    bias_rate: ClassVar[float] = RATE_OF_BEST

    def __post_init__(self) -> None:
        object.__setattr__(self, "criterion", self.metric.criterion)
        object.__setattr__(self, "average", self.metric.average)
        object.__setattr__(self, "higher_is_better", self.metric.higher_is_better)

    def __repr__(self) -> str:
        criterion, threshold = repr(self.criterion), definition(self.metric.points_read)
        text = repr(self.metric).replace(f"{criterion}, threshold={threshold}", criterion, 1)
        return f"{text} at {self.limit}"

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        tally = counts.tally()
        row = best_row_within(
            tally, self.most_false_positives[counts.label], only_point=len(counts.scores) == 1
        )
        return ClassValue(self.of_tally(tally[row]), counts.threshold(row), tally[row])

    def of_tally(self, tally: Tally) -> float:
        return self.metric.of_tally(tally)


def best_row_within(tally: Tally, most_false_positives: int, *, only_point: bool) -> int:
    """Return the operating point with the highest recall within a number of false positives.

    ``only_point``: the system has no other than the last one, which is taken if it is within the limit.
    """
    tp, fp = np.asarray(tally.tp), np.asarray(tally.fp)
    if only_point:
        return len(tp) - 1 if fp[-1] <= most_false_positives else 0
    rows = np.flatnonzero(fp <= most_false_positives)  # never empty: the first has no detections
    rows = rows[tp[rows] == tp[rows].max()]
    return int(rows[np.argmin(fp[rows])])


def require_one_point(metrics: Iterable[Metric[Any]]) -> tuple[ClasswiseMetric[Any], ...]:
    """Return metrics that can be measured at any operating point of each class, and refuse others."""
    chosen = tuple(metrics)
    wrong = [repr(metric) for metric in chosen if isinstance(metric.points_read, str)]
    if wrong:
        raise SedscopeError(
            "A comparison at the same false alarms needs metrics at one threshold, such as Recall or FScore, "
            f"not {listing(wrong)}."
        )
    timed = [repr(metric) for metric in chosen if metric.criterion.measures_time]
    if timed:
        raise SedscopeError(
            "A comparison at the same false alarms needs a number of them, but time is measured by "
            f"{listing(timed)}. Use a criterion about events, such as Collar."
        )
    pooling = [repr(metric) for metric in chosen if metric.pools_classes]
    if pooling:
        raise SedscopeError(
            "A comparison at the same false alarms chooses a threshold for each class, so all classes cannot "
            f"be judged together at one: {listing(pooling)}. Use average='macro' or 'weighted'."
        )
    return tuple(metric for metric in chosen if isinstance(metric, ClasswiseMetric))
