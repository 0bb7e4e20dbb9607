"""Metrics of queries: how well their answers hit the references; and when alarms come, read alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

import numpy as np

from ..counting.counts import ClassCounts
from ..counting.tally import Tally
from ..criteria import AlarmLatency, BestAnswers, Clip, Criterion, OfLength, QueryIoU
from ..criteria.alarm import quantile_rank
from ..criteria.criterion import as_share
from ..data.arrays import FloatArray
from ..definitions import require_number, require_whole
from ..errors import SedscopeError
from ..tabular import CurveTable
from .classwise import ClassValue, ClasswiseMetric, ClasswiseResult
from .curves import ThresholdCurve, operating_scores
from .metric import METRICS, SHARE, Metric, PointsRead, Result

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..results.frames import Column


Lengths = tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class QueryCurve(CurveTable):
    """The share of queries whose value is at least ``values[i]``."""

    _drawing: ClassVar[str] = "plot_query_curve"

    values: FloatArray
    """Falling."""
    shares: FloatArray
    quantity: str = "value of a query"
    """What the values are."""
    one_point: bool = False
    """Always False: the value of a query is not an operating point."""

    def _columns(self) -> dict[str, Column]:
        return {"value": self.values, "share": self.shares}


class QueryMetric(ClasswiseMetric[QueryCurve]):
    """Base of the metrics of queries. Their criterion gives each query a value."""

    reads_queries: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float] | None] = SHARE

    @property
    def quantity(self) -> str:
        """What the value of a query is."""
        return self.criterion.value_name

    @property
    def operating_criterion(self) -> Criterion:
        """A criterion that counts all answers by the same rule of a hit."""
        return self.criterion.counting_all(self.smallest_hit or 0.5)

    @property
    def smallest_hit(self) -> float | None:
        """The smallest value of a query that the metric counts as a hit; None if it counts none."""
        return None

    def curve_of(self, counts: ClassCounts, hours: float) -> QueryCurve:
        shares = counts.tp / counts.references
        return QueryCurve(counts.scores.astype(np.float64), shares, self.quantity)


def mean_value(counts: ClassCounts) -> float:
    """Return the mean value of the queries; those without detections have 0."""
    values = counts.scores.astype(np.float64)
    return float(np.sum(values * np.diff(counts.tp, prepend=0)) / counts.references)


class WithLengths(Metric[Result], Generic[Result]):
    """A metric with a parameter ``lengths``: it may count only references of some lengths."""

    lengths: Lengths | None

    def _only_lengths(self, criterion: Criterion) -> Criterion:
        """Return the criterion for references of these lengths alone."""
        if self.lengths is None:
            return criterion
        if not isinstance(self.lengths, tuple) or len(self.lengths) != 2:
            raise SedscopeError(
                f"lengths={self.lengths!r} must be two numbers of seconds, such as (0, 10)."
            )
        return OfLength(criterion, *self.lengths)

    def of_lengths(self, shortest: float, longest: float) -> Self:
        """Return the same metric for references of some lengths, if it has none yet."""
        if self.lengths is not None:
            raise SedscopeError(
                f"{self!r} counts only references of some lengths already. Leave out lengths=, or "
                "`by=By(lengths=…)`."
            )
        same: Any = self  # a dataclass, as all metrics are
        return cast("Self", replace(same, lengths=(shortest, longest)))


@METRICS.register
@dataclass(frozen=True, repr=False)
class QueryMean(QueryMetric):
    """The mean value of the queries: of the clips and classes with references.

    Parameters
    ----------
    criterion : QueryIoU, QueryPrecision, or BestAnswers or OfLength of one
        The value of a query.
    average : {"micro", "macro", "weighted"}, default "micro"
        ``micro``: the mean over all queries. ``macro``: the mean over the classes, each with the mean over
        its queries.

    Examples
    --------
    >>> from sedscope import IoU, QueryPrecision
    >>> QueryMean(QueryPrecision(IoU(0.5)))
    QueryMean(QueryPrecision(IoU(threshold=0.5)), average='micro')
    """

    criterion: Criterion
    average: str = "micro"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.criterion.latency_threshold is not None:
            raise SedscopeError(f"{self.criterion!r} times alarms. Use Latency instead of QueryMean.")

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[QueryCurve]:
        return ClassValue(mean_value(counts))


@METRICS.register
@dataclass(frozen=True, repr=False)
class MeanIoU(WithLengths[ClasswiseResult[QueryCurve]], QueryMetric):
    """The mean intersection over union of the first answers with the references that they hit best.

    The first answer of a clip and class is the event with the highest score; of equal scores, the one that
    the system lists first. Without an answer, the value is 0. The events must be kept as they are
    (``overlaps="keep"``).

    Parameters
    ----------
    average : {"micro", "macro", "weighted"}, default "micro"
        ``micro``: the mean over all clips and classes with references. ``macro``: the mean over the
        classes.
    lengths : tuple of float, optional
        Count only references that are longer than the first, and at most as long as the second, in
        seconds.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_events({"a": [(1, 3, "Dog", 0.9)], "b": []}, overlaps="keep")
    >>> references = {"a": [(1, 2, "Dog")], "b": [(1, 2, "Dog")]}
    >>> truth = sed.GroundTruth.from_dict(references, durations={"a": 9, "b": 9})
    >>> sed.evaluate(scores, truth, sed.MeanIoU())["mean_iou"].value
    0.25
    """

    average: str = "micro"
    lengths: Lengths | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "criterion", self._only_lengths(BestAnswers(QueryIoU(), 1)))
        super().__post_init__()

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[QueryCurve]:
        return ClassValue(mean_value(counts))


@METRICS.register
@dataclass(frozen=True, repr=False)
class RecallAt(WithLengths[ClasswiseResult[QueryCurve]], QueryMetric):
    """The share of queries of which one of the ``k`` best answers hits a reference.

    A query is a clip and class with references. Its best answers are the events with the highest scores;
    of equal scores, those that the system lists first. An answer hits a reference if their intersection
    over union is at least ``tiou``. The events must be kept as they are (``overlaps="keep"``).

    Parameters
    ----------
    k : int, default 1
        The number of answers that count.
    tiou : float, default 0.5
        The smallest intersection over union of a hit.
    average : {"micro", "macro", "weighted"}, default "micro"
        ``micro``: the share of all queries. ``macro``: the mean over the classes.
    lengths : tuple of float, optional
        Count only references that are longer than the first, and at most as long as the second, in
        seconds.

    Examples
    --------
    >>> import sedscope as sed
    >>> events = [(1, 3, "Dog", 0.9), (1, 2, "Dog", 0.8)]
    >>> scores = sed.Scores.from_events({"a": events}, overlaps="keep")
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 9})
    >>> result = sed.evaluate(scores, truth, [sed.RecallAt(1, 0.7), sed.RecallAt(5, 0.7)])
    >>> [of_metric.value for of_metric in result.values()]
    [0.0, 1.0]
    """

    k: int = 1
    tiou: float = 0.5
    average: str = "micro"
    lengths: Lengths | None = None

    def __post_init__(self) -> None:
        require_whole(self, "k", at_least=1)
        require_number(self, "tiou", above=0, at_most=1)
        object.__setattr__(self, "criterion", self._only_lengths(BestAnswers(QueryIoU(), self.k)))
        super().__post_init__()

    @property
    def smallest_hit(self) -> float:
        return self.tiou

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[QueryCurve]:
        hits = counts.tp[counts.scores >= self.tiou]
        return ClassValue(float(hits[-1] / counts.references) if len(hits) else 0.0)


@METRICS.register
@dataclass(frozen=True, repr=False)
class FalseAnswerRate(ClasswiseMetric[ThresholdCurve]):
    """The share of queries without references that are answered all the same.

    Such a query is a clip and class without references: it asks for what is not there. It is answered
    wrongly if an answer has a higher score than the threshold, however many there are. The curve has the
    share at every threshold. Without such queries there is no value (NaN).

    Parameters
    ----------
    threshold : float, default 0.5
        Answers with ``score > threshold`` count.
    average : {"micro", "macro"}, default "micro"
        ``micro``: the share of all queries without references. ``macro``: the mean over the classes that
        have such queries.

    Examples
    --------
    >>> import sedscope as sed
    >>> answers = {"a": [(1, 3, "Dog", 0.9)], "b": [(0, 2, "Dog", 0.7), (4, 6, "Dog", 0.8)], "c": []}
    >>> scores = sed.Scores.from_events(answers, overlaps="keep")
    >>> references = {"a": [(1, 3, "Dog")], "b": [], "c": []}
    >>> truth = sed.GroundTruth.from_dict(references, durations=dict.fromkeys(answers, 9))
    >>> result = sed.evaluate(scores, truth, FalseAnswerRate())["FalseAnswerRate()"]
    >>> result.value, result.per_class["Dog"].curve.scores.tolist()
    (0.5, [inf, 0.9, 0.8])
    """

    threshold: float = 0.5
    average: str = "micro"

    averages: ClassVar[tuple[str, ...]] = ("micro", "macro")
    needs_negatives: ClassVar[bool] = True
    needs_references: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False
    has_thresholds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "threshold")
        object.__setattr__(self, "criterion", Clip())
        super().__post_init__()

    @property
    def points_read(self) -> PointsRead:
        """All, of which the curve is made."""
        return "all"

    def of_lengths(self, shortest: float, longest: float) -> FalseAnswerRate:
        """Return the same metric: what is not there has no length."""
        return self

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[ThresholdCurve]:
        tally = counts.tally_at(self.threshold)
        return ClassValue(float(tally.fpr), self.threshold, tally)

    def curve_of(self, counts: ClassCounts, hours: float) -> ThresholdCurve:
        return ThresholdCurve(operating_scores(counts), counts.tally().fpr, "false-answer rate")


@METRICS.register
@dataclass(frozen=True, repr=False)
class Latency(ClasswiseMetric[None]):
    """A quantile of the time from the onset of a reference to its first alarm, at one threshold.

    It is the smallest latency, in seconds, that at least this share of the references that are found does not
    exceed. References that are not found have no latency, so read the share that is found beside it: it is
    the recall of the ``tally`` of each class. The latency is not defined (NaN) where none is found.

    Parameters
    ----------
    alarm : Alarm, or OfLength of one
        What raises alarms and finds references.
    quantile : float, default 0.9
        The share of the references that are found, above 0 and at most 1.
    threshold : float, default 0.5
        Frames with ``score > threshold`` are active. For a threshold per class, measure
        :func:`~sedscope.at_thresholds` of the scores.
    average : {"micro", "macro", "weighted"}, default "micro"
        ``micro``: the quantile over the references of all classes. ``macro``: the mean over the classes in
        which a reference is found.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(10, 20, "Siren"), (90, 95, "Siren")]}, durations={"a": 99})
    >>> system = sed.Scores.from_events({"a": [(11.5, 14, "Siren"), (40, 41, "Siren")]})
    >>> latency = sed.Latency(sed.Alarm(cooldown=20))
    >>> latency
    Latency(Alarm(cooldown=20, before=0, after=2), quantile=0.9, threshold=0.5, average='micro')
    >>> result = sed.evaluate(system, truth, latency)[latency]
    >>> result.value, result["Siren"].tally.recall
    (1.5, 0.5)
    """

    alarm: Criterion
    quantile: float = 0.9
    threshold: float = 0.5
    average: str = "micro"

    higher_is_better: ClassVar[bool] = False
    reads_queries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "quantile", above=0, at_most=1)
        object.__setattr__(self, "criterion", AlarmLatency(self.alarm, self.threshold))
        super().__post_init__()

    @property
    def operating_criterion(self) -> Criterion:
        """The one that raises the alarms."""
        return self.alarm

    def of_lengths(self, shortest: float, longest: float) -> Latency:
        return replace(self, alarm=OfLength(self.alarm, shortest, longest))

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        found = int(counts.tp[-1]) if len(counts.tp) else 0
        tally = Tally(found, 0, counts.references)
        if not found:
            return ClassValue(np.nan, tally=tally)
        row = np.searchsorted(counts.tp, quantile_rank(found, Fraction(*as_share(self.quantile))))
        return ClassValue(0.0 - float(counts.scores[row]), tally=tally)
