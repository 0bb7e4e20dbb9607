"""Metrics that are one number per class, averaged over classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, cast

import numpy as np

from ..counting.counts import ClassCounts, Counts
from ..counting.tally import Tally
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..definitions import require_choice
from ..errors import SedscopeError
from ..tabular import ResultTable
from .metric import Metric, PointsRead

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .curves import Curve

AVERAGES = ("macro", "micro", "weighted")

OfFewest: TypeAlias = Callable[[IntArray, IntArray, int, float], float]
"""Computes the value of a class from rising numbers of true positives, from 0 on, and the fewest false
positives at each. The other two are the number of references and the hours of all clips."""

CurveType = TypeVar("CurveType", bound="Curve | None", covariant=True)


@dataclass(frozen=True)
class Chance:
    """What a value at one operating point is a share or a rate of."""

    events: int
    trials: float
    """How many there could have been; of a rate, the hours or days."""
    poisson: bool = False
    """Whether it is a rate, of which there can be any number."""
    value: Callable[[float], float] = float
    """The value, from the share or rate; it rises or falls with it."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassValue(Generic[CurveType]):
    """A metric of one class, or of all classes together."""

    value: float
    threshold: float | None = None
    """The threshold that the value belongs to, if it belongs to one (active: ``score > threshold``)."""
    tally: Tally | None = None
    """The counts at that threshold."""
    make_curve: Callable[[], CurveType] | None = None

    @cached_property
    def curve(self) -> CurveType | None:
        """The curve that the value is read off; None if there is none."""
        return None if self.make_curve is None else self.make_curve()

    def __repr__(self) -> str:
        threshold = "" if self.threshold is None else f" at threshold {self.threshold:.4g}"
        return f"<ClassValue: {self.value:.4f}{threshold}>"

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve with matplotlib, on ``ax`` or on new axes, and return the axes."""
        if self.curve is None:
            without_references = np.isnan(self.value) and self.tally is None
            reason = (
                "the class has no reference events"
                if without_references
                else "the value belongs to one threshold"
            )
            raise SedscopeError(f"There is no curve to plot: {reason}.")
        return self.curve.plot(ax, **options)


@dataclass(frozen=True, eq=False, repr=False)
class ClasswiseResult(ResultTable[ClassValue[CurveType]], Generic[CurveType]):
    """A metric of all classes, and its averages."""

    metric: ClasswiseMetric[CurveType]
    counts: Counts
    per_class: Mapping[str, ClassValue[CurveType]]
    name: str | None = None
    """The name of the metric in the evaluation, for titles."""

    @property
    def value(self) -> float:
        """The average that the metric asks for."""
        return self.average(self.metric.average)

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold of each class whose value belongs to one (active: ``score > threshold``)."""
        return {
            label: class_value.threshold
            for label, class_value in self.per_class.items()
            if class_value.threshold is not None
        }

    def average(self, kind: str) -> float:
        """Average the values of the classes.

        Parameters
        ----------
        kind : {"macro", "weighted", "micro", "micro_tuned"}
            ``macro``: the mean over the classes for which the metric is defined. ``weighted``: the mean
            weighted by the number of references. ``micro``: all classes together, at one threshold.
            ``micro_tuned``, for metrics that choose thresholds: all classes together, each at its own
            threshold.

        Returns
        -------
        float
            NaN if the metric is not defined for any class.
        """
        return self.metric.average_of(self, kind)

    def plot(self, ax: Axes | None = None, *, per_class: bool = True, **options: Any) -> Axes:
        """Draw the curves of the classes that have references, and the curve over all of them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure with a title and a legend.
        per_class : bool, default True
            Whether to draw the curves of the classes. False draws the overall curve alone.
        **options
            Options of matplotlib for the overall curve, such as ``label`` or ``color``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ..plots.plot import plot_result

        curves = {label: class_value.curve for label, class_value in self.per_class.items()}
        return plot_result(self, curves, self.overall_curve, ax, per_class, options)

    def overall_curve(self) -> CurveType | None:
        """Return the curve over all classes; None if there is none.

        For the average ``micro`` it is the curve of all classes together, otherwise the (weighted) mean of
        the curves of the classes; see ``metrics/curves.py``.

        Returns
        -------
        curve or None
        """
        return self.metric.overall_curve_of(self)

    def pooled(self) -> ClassValue[CurveType]:
        """Return the metric of all classes together, at one threshold."""
        return self.metric.of_all(self.counts)


class ClasswiseMetric(Metric[ClasswiseResult[CurveType]], Generic[CurveType]):
    """Base of the metrics that are one number per class.

    Subclasses are frozen dataclasses with a ``criterion`` and an ``average``. They define
    :meth:`of_class` and, if the value is read off a curve, :meth:`curve_of`.
    """

    average: str

    averages: ClassVar[tuple[str, ...]] = AVERAGES
    """The averages to choose from."""
    needs_negatives: ClassVar[bool] = False
    """Whether the metric needs true negatives, which only segments, clips and time have."""
    counts_false_alarms: ClassVar[bool] = False
    """Whether the metric needs a number of false alarms, so that the criterion must not measure time."""
    reads_queries: ClassVar[bool] = False
    """Whether the metric reads the values of queries, not counts of events or segments."""

    @abstractmethod
    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[Any]:
        """Measure one class, which has references. ``hours``: the duration of all clips.

        Parameters
        ----------
        counts : ClassCounts
            The counts of the class.
        hours : float
            The duration of all clips.

        Returns
        -------
        ClassValue
        """

    def chance(self, tally: Tally, hours: float) -> Chance | None:
        """Return what the value at an operating point is a share or a rate of, for exact limits.

        Parameters
        ----------
        tally : Tally
            The counts at the operating point.
        hours : float
            The duration of all clips.

        Returns
        -------
        Chance or None
            None for a metric without exact limits.
        """
        return None

    def curve_of(self, counts: ClassCounts, hours: float) -> CurveType:
        """Return the curve that the value of a class is read off; None if there is none.

        Parameters
        ----------
        counts : ClassCounts
            The counts of the class.
        hours : float
            The duration of all clips.

        Returns
        -------
        curve or None
        """
        return cast(CurveType, None)

    def mean_curve(self, curves: Sequence[CurveType], weights: Sequence[float]) -> CurveType | None:
        """Return the weighted mean of the curves of some classes; None if it has no meaning.

        Parameters
        ----------
        curves : sequence of curves
            The curves of the classes.
        weights : sequence of float
            The weight of each of them.

        Returns
        -------
        curve or None
        """
        return None

    def overall_curve_of(self, result: ClasswiseResult[CurveType]) -> CurveType | None:
        """Return the curve over all classes; see :meth:`ClasswiseResult.overall_curve`.

        Parameters
        ----------
        result : ClasswiseResult
            The values of the classes.

        Returns
        -------
        curve or None
        """
        if self.average == "micro":
            return self.of_all(result.counts).curve
        labels = [label for label, of_class in result.per_class.items() if not np.isnan(of_class.value)]
        curves = [curve for label in labels if (curve := result.per_class[label].curve) is not None]
        if self.average not in AVERAGES or not curves:
            return None
        references = result.counts.references
        weights = [references[label] if self.average == "weighted" else 1 for label in labels]
        return self.mean_curve(curves, weights)

    @property
    def points_read(self) -> PointsRead:
        """The extremes: of equally many true positives, the fewest false positives are best. All points
        where classes are taken together, or right detections are counted, because that can happen at any
        threshold."""
        return "all" if self.pools_classes or self.criterion.counts_right else "extremes"

    @property
    def of_fewest(self) -> OfFewest | None:
        """What computes the value of a class from the fewest false positives at each number of true
        positives; None for metrics that depend on more."""
        return None

    @property
    def value_limit(self) -> float | None:
        """False positives per second beyond which the value of a class, though perhaps not its curve, reads
        nothing; None if there is no limit."""
        return None

    @property
    def pools_classes(self) -> bool:
        """Whether the average judges all classes together."""
        return self.average == "micro"

    def per_class_metric(self) -> ClasswiseMetric[CurveType]:
        """Return the same metric with the average ``macro``."""
        same = cast(Any, self)  # a dataclass, as all metrics are
        return cast(ClasswiseMetric[CurveType], replace(same, average="macro"))

    def measure(self, counts: Counts) -> ClasswiseResult[CurveType]:
        """Read the metric off the counts."""
        return ClasswiseResult(self, counts, counts.of_each_class(partial(self._class_value, counts)))

    def _class_value(self, counts: Counts, label: str) -> ClassValue[CurveType]:
        if not self._is_defined_for(counts.references[label]):
            return ClassValue(np.nan)
        of_class = counts[label]
        self._require_points(of_class, counts.duration)
        # looks the counts up again when the curve is asked for, so as not to hold them
        make_curve = partial(self._class_curve, counts, label)
        return replace(self.of_class(of_class, counts.hours), make_curve=make_curve)

    def _class_curve(self, counts: Counts, label: str) -> CurveType:
        return self.curve_of(counts[label], counts.hours)

    def of_all(self, counts: Counts) -> ClassValue[CurveType]:
        """Measure all classes together, at one threshold.

        Parameters
        ----------
        counts : Counts
            The counts of the metric's criterion.

        Returns
        -------
        ClassValue

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> sed.BestFScore(sed.Collar()).of_all(counts).value
        1.0
        """
        pooled = counts.pooled()
        if not self._is_defined_for(pooled.references):
            return ClassValue(np.nan)
        self._require_points(pooled, counts.duration)
        hours = counts.hours
        class_value = self.of_class(pooled, hours)
        return replace(class_value, make_curve=partial(self.curve_of, pooled, hours))

    def _require_points(self, counts: ClassCounts, duration: float) -> None:
        """Refuse counts that lack operating points which the metric reads."""
        # the counts themselves refuse single thresholds
        if not np.isneginf(counts.floor) and self.points_read in ("all", "extremes"):
            limit = self.false_positive_limit
            counts.require_reach(repr(self), np.inf if limit is None else limit * duration)

    def of_tallies(self, tallies: Mapping[str, Tally], counts: Counts) -> ClasswiseResult[CurveType]:
        per_class: dict[str, ClassValue[CurveType]] = {
            label: ClassValue(self.of_tally(tally) if tally.references else np.nan, tally=tally)
            for label, tally in tallies.items()
        }
        return ClasswiseResult(self, counts, per_class)

    def average_of(self, result: ClasswiseResult[Any], kind: str) -> float:
        """Average the values of the classes; see :meth:`~sedscope.metrics.ClasswiseResult.average`.

        Parameters
        ----------
        result : ClasswiseResult
            The values of the classes.
        kind : str
            The average.

        Returns
        -------
        float
        """
        kinds = dict.fromkeys((*AVERAGES, *self.averages))
        if kind not in kinds:
            raise SedscopeError(
                f"average {kind!r} is not valid. Choose {' or '.join(map(repr, kinds))}."
            )
        if kind == "micro":
            return self.of_all(result.counts).value
        references = result.counts.references
        labels = [label for label in sorted(result.per_class) if self._is_defined_for(references[label])]
        if not labels:
            return np.nan
        if kind == "micro_tuned":
            tallies = [result.per_class[label].tally for label in labels]
            return self.of_tally(reduce(add, [tally for tally in tallies if tally is not None]))
        values = np.array([result.per_class[label].value for label in labels])
        return mean_over_classes(values, np.array([references[label] for label in labels]), kind)

    def _is_defined_for(self, references: int) -> bool:
        """Return whether the metric has a value for a class with this many references."""
        return bool(references) or not self.needs_references

    def __post_init__(self) -> None:
        """Refuse a criterion or an average that the metric is not defined for."""
        name = type(self).__name__
        if not isinstance(self.criterion, Criterion):
            raise SedscopeError(f"{name} needs a criterion, not {self.criterion!r}.")
        if self.reads_queries and not self.criterion.values_queries:
            raise SedscopeError(
                f"{name} needs a criterion that gives each query a value, QueryIoU or QueryPrecision, not "
                f"{self.criterion!r}."
            )
        if self.criterion.values_queries and not self.reads_queries:
            raise SedscopeError(
                f"{self.criterion!r} gives each query a value and counts no false positives, so there is no "
                f"{name} of it. Use QueryMean, MeanIoU or RecallAt."
            )
        if self.needs_negatives and not self.criterion.counts_negatives:
            raise SedscopeError(
                f"{name} needs true negatives, which exist for segments, clips and time, not for events. Use "
                f"Segment, Clip or Time instead of {self.criterion!r}."
            )
        if self.counts_false_alarms and self.criterion.measures_time:
            raise SedscopeError(
                f"{name} counts false alarms, but {self.criterion!r} measures how long they are. Use a "
                "criterion about events, such as Collar, or a metric of time, such as DetectionCost."
            )
        require_choice(self, "average", self.averages)


def mean_over_classes(values: FloatArray, references: IntArray, kind: str) -> float:
    """Return the mean of the values that are defined: ``"macro"``, or ``"weighted"`` by the references.

    The order of the classes decides the last bits: it must be that of their names.
    """
    defined = ~np.isnan(values)
    if kind == "weighted":
        defined &= references > 0
    if not defined.any():
        return np.nan
    weights = references[defined] if kind == "weighted" else None
    return float(np.average(values[defined], weights=weights))
