"""The contract of a metric and of its result, all metrics, and what they need together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

from ..counting.counts import Counts
from ..counting.request import DeltaRequest
from ..counting.tally import Tally
from ..criteria import Criterion
from ..criteria.criterion import CRITERIA
from ..definitions import Defined, Registry
from ..errors import SedscopeError
from ..postprocessing import POSTPROCESSINGS, PostProcessing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .psds import PSDS


PointsRead: TypeAlias = float | Literal["all", "extremes", "points"]
"""The operating points of a class that a metric depends on: all of them; the one of a threshold; the only
one that the class has (``"points"``); or ``"extremes"``: of consecutive points with equally many true
positives, the first with the fewest false positives, and the last."""


class ClassResult(Protocol):
    """What a metric says about one class."""

    @property
    def value(self) -> float:
        """The metric for this class alone; NaN if it has no reference events."""

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve behind the value with matplotlib, on ``ax`` or on new axes."""


class MetricResult(Protocol):
    """What a metric says about a system."""

    @property
    def value(self) -> float:
        """The metric over all classes that have reference events."""

    @property
    def per_class(self) -> Mapping[str, ClassResult]:
        """The metric for each class alone."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The threshold of each class whose value belongs to one (active: ``score > threshold``)."""

    def __getitem__(self, label: str, /) -> ClassResult:
        """Return the result of a class."""

    def plot(self, ax: Axes | None = None, *, per_class: bool = True, **options: Any) -> Axes:
        """Draw the curves behind the values with matplotlib, on ``ax`` or on new axes."""


SHARE = (0.0, 1.0)
"""The bounds of metrics that are shares."""
RATE_OF_BEST = 3 / 4
"""The bias rate of metrics that take the best of many thresholds."""

Result = TypeVar("Result", bound=MetricResult, covariant=True)


class Metric(Defined, ABC, Generic[Result]):
    """Base of all metrics. A metric is a frozen dataclass whose ``repr`` is its full definition.

    It reads its value off the counts of its criterion. Everything else that other packages need to know
    about it is an attribute or a method here, with a default that fits most metrics.
    """

    criterion: Criterion
    """What the metric counts."""

    higher_is_better: ClassVar[bool] = True
    """Whether a larger value is a better one."""
    has_thresholds: ClassVar[bool] = False
    """Whether the value of a class belongs to one threshold."""
    reads_froc: ClassVar[bool] = False
    """Whether the values are read off curves of recall over false alarms per hour."""
    bias_rate: ClassVar[float] = 1.0
    """The power of the number of clips with which the bias of the value falls, if they are many: 1 for smooth
    metrics, 3/4 for those that take the best of many thresholds."""
    bounds: ClassVar[tuple[float, float] | None] = None
    """Between which all values lie, for metrics where this is known."""
    needs_references: ClassVar[bool] = True
    """Whether the metric has no value for a class without reference events."""

    @abstractmethod
    def measure(self, counts: Counts) -> Result:
        """Read the metric off the counts of its criterion.

        Parameters
        ----------
        counts : Counts
            The counts of the metric's criterion.

        Returns
        -------
        Result
            The value over all classes and for each class, with the curves behind them.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> sed.FScore(sed.Collar()).measure(counts).value
        1.0
        """

    @property
    def false_positive_limit(self) -> float | None:
        """False positives per second beyond which the metric reads nothing; None if there is no limit."""
        return None

    @property
    def operating_criterion(self) -> Criterion:
        """The criterion by which a report counts events at thresholds: that of the metric, unless it values
        queries and so has no thresholds."""
        return self.criterion

    @property
    def any_label(self) -> bool:
        """Whether the metric needs the number of pairs regardless of label."""
        return False

    @property
    def variants(self) -> tuple[PostProcessing, ...]:
        """The post-processings whose counts the metric needs."""
        return ()

    @property
    def parts(self) -> tuple[Metric[Any], ...]:
        """The metrics that the value is the mean of, each with its own criterion; most have only
        themselves. The criterion of a metric with several parts is that of the first."""
        return (self,)

    def of_parts(self, results: Sequence[Any]) -> Result:
        """Return the result of the metric from those of its parts.

        Parameters
        ----------
        results : sequence of results
            The result of each part, in order.

        Returns
        -------
        Result
        """
        (result,) = results
        return cast(Result, result)

    def of_lengths(self, shortest: float, longest: float) -> Metric[Any]:
        """Return the same metric for references of some lengths; see :class:`~sedscope.OfLength`.

        Parameters
        ----------
        shortest : float
            References must be longer than this, in seconds.
        longest : float
            References must be at most this long, in seconds.

        Returns
        -------
        Metric

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Recall(sed.IoU(0.5)).of_lengths(1, 5).criterion
        OfLength(IoU(threshold=0.5), shortest=1, longest=5)
        """
        from ..criteria.restricted import OfLength

        same = cast(Any, self)  # a dataclass, as all metrics are
        return cast(Metric[Any], replace(same, criterion=OfLength(self.criterion, shortest, longest)))

    @property
    def points_read(self) -> PointsRead:
        """The operating points of a class that the value depends on."""
        return "all"

    @property
    def pools_classes(self) -> bool:
        """Whether the value judges all classes together, at one threshold."""
        return False

    def per_class_metric(self) -> Metric[Any]:
        """Return the same metric with an average that measures each class by itself.

        Returns
        -------
        Metric

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.FScore(sed.Clip(), average="micro").per_class_metric()
        FScore(Clip(aggregation='max'), threshold=0.5, beta=1, average='macro')
        """
        return self

    def at_points(self) -> Metric[Any] | None:
        """Return the same metric at the operating points of a system.

        Returns
        -------
        Metric or None
            None for a metric that is not measured at one threshold.

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.FScore(sed.Clip()).at_points()
        FScore(Clip(aggregation='max'), threshold='points', beta=1, average='macro')
        """
        return None

    @property
    def psd_roc(self) -> PSDS | None:
        """The metric itself, if its value is the area under a PSD-ROC; None for other metrics."""
        return None

    @property
    def best_fscore_beta(self) -> float | None:
        """The beta of the F-score whose largest value is that of a class; None for other metrics, and where
        the average depends on more than the values of the classes."""
        return None

    def of_tally(self, tally: Tally) -> float:
        """Return the metric at one operating point, for metrics that have thresholds.

        Parameters
        ----------
        tally : Tally
            The counts at the operating point.

        Returns
        -------
        float

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> sed.FScore(sed.Collar()).of_tally(counts["Dog"].tally_at(0.5))
        1.0
        """
        reason = "does not belong to one threshold per class"
        if self.has_thresholds:
            reason = "does not define of_tally, its value at any one threshold"
        raise SedscopeError(f"{self} {reason}.")

    def of_tallies(self, tallies: Mapping[str, Tally], counts: Counts) -> Result:
        """Return the metric of classes at one operating point each, for metrics that have thresholds.

        ``counts``: of the same references, for the averages that need them.

        Parameters
        ----------
        tallies : mapping of str to Tally
            The operating point of each class.
        counts : Counts
            Counts of the same references, for the averages that need them.

        Returns
        -------
        Result

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> sed.FScore(sed.Collar()).of_tallies({"Dog": counts["Dog"].tally_at(0.5)}, counts).value
        1.0
        """
        raise SedscopeError(f"{self} does not belong to one threshold per class.")

    def tuning_note(self) -> str | None:
        """Return what a user who tunes the classes for this metric should know.

        Returns
        -------
        str or None
        """
        return None


METRICS: Registry[Metric[Any]] = Registry(
    "metric", Metric, uses=(CRITERIA, POSTPROCESSINGS), package=__package__
)


def delta_requests(metrics: Iterable[Metric[Any]]) -> dict[Criterion, DeltaRequest]:
    """Return, for each criterion of the metrics, the request that covers all metrics of it."""
    requests: dict[Criterion, DeltaRequest] = {}
    for metric in parts_of(metrics):
        request = DeltaRequest(metric.false_positive_limit, metric.any_label, metric.variants)
        others = requests.get(metric.criterion)
        requests[metric.criterion] = request if others is None else others | request
    return requests


def parts_of(metrics: Iterable[Metric[Any]]) -> list[Metric[Any]]:
    """Return the parts of all metrics: each of them reads one criterion."""
    return [part for metric in metrics for part in metric.parts]
