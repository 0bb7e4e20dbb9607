"""Metrics that are the mean of others, each with a criterion of its own: average precision at several
tolerances, as detectors and retrieval systems are judged.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ..counting.counts import Counts
from ..criteria import BestAnswers, Criterion, IoU, Onset, QueryPrecision
from ..data.arrays import FloatArray
from ..data.times import LONGEST_SECONDS
from ..definitions import require_choice, require_whole
from ..errors import SedscopeError
from ..postprocessing.sweeps import expand_sweep
from ..tabular import ResultTable
from .classwise import ClassValue, ClasswiseMetric, ClasswiseResult
from .curve_areas import AveragePrecision
from .metric import METRICS, SHARE, Metric, PointsRead
from .queries import Lengths, QueryMean, WithLengths

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values = TypeVar("Values", float, FloatArray)


def mean_of_parts(values: Sequence[Values]) -> Values:
    """Return the mean of the values of all parts. They are added in order, so numbers and arrays have the
    same bits."""
    return reduce(add, values) / len(values)


@dataclass(frozen=True, eq=False, repr=False)
class ClassMean:
    """The mean of metrics of one class."""

    value: float
    parts: Mapping[str, ClassValue[Any]]
    """The value of each part, by its name."""

    def __repr__(self) -> str:
        return f"<ClassMean: {self.value:.4f}>"

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve of each part with matplotlib, on ``ax`` or on new axes, and return the axes."""
        from ..plots.plot import plot_parts

        return plot_parts({name: part.curve for name, part in self.parts.items()}, ax, options)


@dataclass(frozen=True, eq=False, repr=False)
class MeanResult(ResultTable[ClassMean]):
    """The mean of metrics, over all classes and for each class."""

    metric: MeanOfParts
    parts: Mapping[str, ClasswiseResult[Any]]
    """The result of each part, by its name."""
    name: str | None = None
    """The name of the metric in the evaluation, for titles."""

    @property
    def value(self) -> float:
        """The mean of the values of the parts."""
        return mean_of_parts([part.value for part in self.parts.values()])

    @cached_property
    def per_class(self) -> dict[str, ClassMean]:
        """The mean for each class alone."""
        results = [*self.parts.values()]
        return {
            label: ClassMean(
                mean_of_parts([part.per_class[label].value for part in results]),
                {name: part.per_class[label] for name, part in self.parts.items()},
            )
            for label in results[0].per_class
        }

    @property
    def thresholds(self) -> Mapping[str, float]:
        """Empty: the value is read off all thresholds."""
        return {}

    def plot(self, ax: Axes | None = None, *, per_class: bool = True, **options: Any) -> Axes:
        """Draw the curve of each part over all classes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure with a title and a legend.
        per_class : bool, default True
            Has no effect: curves of classes are drawn by ``per_class[label].plot()``.
        **options
            Options of matplotlib for all curves.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ..plots.plot import plot_parts

        curves = {name: part.overall_curve() for name, part in self.parts.items()}
        return plot_parts(curves, ax, options, title=(self.name or repr(self.metric), self.value))


class MeanOfParts(Metric[MeanResult]):
    """Base of the metrics that are the mean of others, with the same classes.

    Subclasses define :meth:`named_parts`.
    """

    bounds: ClassVar[tuple[float, float] | None] = SHARE

    @abstractmethod
    def named_parts(self) -> Mapping[str, ClasswiseMetric[Any]]:
        """Return the metrics that the value is the mean of, by a short name.

        Returns
        -------
        mapping of str to ClasswiseMetric
        """

    @property
    def parts(self) -> tuple[ClasswiseMetric[Any], ...]:
        """The metrics that the value is the mean of."""
        return tuple(self.named_parts().values())

    @property
    def operating_criterion(self) -> Criterion:
        return self.parts[0].operating_criterion

    @property
    def points_read(self) -> PointsRead:
        """Those of the first part; the others read as many."""
        return self.parts[0].points_read

    def of_parts(self, results: Sequence[Any]) -> MeanResult:
        return MeanResult(self, dict(zip(self.named_parts(), results, strict=True)))

    def measure(self, counts: Counts) -> MeanResult:
        """Read a mean of one part off its counts. Several parts have counts of their own."""
        if len(self.parts) > 1:
            raise SedscopeError(
                f"{self!r} is the mean of {len(self.parts)} metrics, and each needs counts of its own. "
                "Measure it with sedscope.evaluate or sedscope.evaluate_deltas."
            )
        return self.of_parts([self.parts[0].measure(counts)])


Levels = str | float | tuple[float, ...]


@METRICS.register
@dataclass(frozen=True, repr=False)
class MeanAveragePrecision(WithLengths[MeanResult], MeanOfParts):
    """The mean of the average precisions at several intersections over union (mAP), or at several
    tolerances of the onset.

    At each intersection over union, events take references one after the other
    (``IoU(…, matching="greedy")``). The events must be kept as they are (``overlaps="keep"``). At each
    tolerance, as many pairs as possible are made (:class:`Onset`), of points in time or other events. The
    precision is interpolated (``interpolation="voc"``).

    Parameters
    ----------
    tious : str, float or tuple of float, default "0.5..0.95/0.05"
        The intersections over union: a range with its step, a number, or several. None if there are
        tolerances.
    over : {"class", "clip"}, default "class"
        ``class``: the average precision of a class is that of all clips together, and the mean is over
        classes (ActivityNet, THUMOS). ``clip``: each clip and class with references is a query with an
        average precision of its own, and the mean is over queries (moment retrieval).
    top : int, optional
        How many events of each clip and class count, from the highest score down; all unless given.
    lengths : tuple of float, optional
        Count only references that are longer than the first, and at most as long as the second, in
        seconds.
    tolerances : str, float or tuple of float, optional
        The tolerances of the onset in seconds, instead of ``tious``: a range with its step, a number, or
        several.

    Examples
    --------
    >>> MeanAveragePrecision()
    MeanAveragePrecision(tious='0.5..0.95/0.05', over='class')
    >>> MeanAveragePrecision(0.75, over="clip", top=10)
    MeanAveragePrecision(tious=0.75, over='clip', top=10)
    >>> MeanAveragePrecision(tolerances=(0.02, 0.05, 0.1))
    MeanAveragePrecision(tious=None, over='class', tolerances=(0.02, 0.05, 0.1))
    """

    tious: Levels | None = "0.5..0.95/0.05"
    over: str = "class"
    top: int | None = None
    lengths: Lengths | None = None
    tolerances: Levels | None = None

    def __post_init__(self) -> None:
        if self.tolerances is None:
            written = _as_written(_levels(self.tious, "tious", at_most=1))
            object.__setattr__(self, "tious", written)
        else:
            if self.tious not in (None, type(self).tious):
                raise SedscopeError("MeanAveragePrecision takes either tious= or tolerances=, not both.")
            written = _as_written(_levels(self.tolerances, "tolerances", at_most=LONGEST_SECONDS))
            object.__setattr__(self, "tious", None)
            object.__setattr__(self, "tolerances", written)
        require_choice(self, "over", ("class", "clip"))
        if self.top is not None:
            require_whole(self, "top", at_least=1)
        object.__setattr__(self, "criterion", self.parts[0].criterion)

    def named_parts(self) -> dict[str, ClasswiseMetric[Any]]:
        """Return the average precision at each tolerance."""
        return {name: self._part(criterion) for name, criterion in self._tolerances().items()}

    def _tolerances(self) -> dict[str, Criterion]:
        """Return what counts as found, by a short name: from lenient to strict."""
        if self.tolerances is not None:
            levels = _levels(self.tolerances, "tolerances", at_most=LONGEST_SECONDS)
            return {f"within {level:g} s": Onset(level) for level in reversed(levels)}
        levels = _levels(self.tious, "tious", at_most=1)
        return {f"IoU {level:g}": IoU(level, matching="greedy") for level in levels}

    def _part(self, criterion: Criterion) -> ClasswiseMetric[Any]:
        best = criterion if self.top is None else BestAnswers(criterion, self.top)
        if self.over == "class":
            return AveragePrecision(self._only_lengths(best), interpolation="voc")
        return QueryMean(self._only_lengths(QueryPrecision(best, interpolation="voc")))


def _levels(levels: Levels | None, name: str, *, at_most: float) -> tuple[float, ...]:
    """Return the rising numbers that a text, a number or several numbers stand for.

    ``name``: that of the parameter.
    """
    parts: Any = expand_sweep(levels) if isinstance(levels, str) else levels
    try:
        numbers = [float(part) for part in (parts if isinstance(parts, (list, tuple)) else [parts])]
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(0 < number <= at_most for number in numbers):
        raise SedscopeError(
            f"{name}={levels!r} must be numbers above 0 and at most {at_most:g}: 0.5, (0.5, 0.75), or a "
            "range with its step, such as '0.5..0.95/0.05'."
        )
    return tuple(sorted(set(numbers)))


def _as_written(levels: tuple[float, ...]) -> Levels:
    """Return the shortest form of some levels, so that equal metrics have equal definitions."""
    if len(levels) == 1:
        return levels[0]
    step = f"{levels[1] - levels[0]:.10g}"
    text = f"{levels[0]:.10g}..{levels[-1]:.10g}/{step}"
    again = _levels(text, "levels", at_most=math.inf) if len(levels) > 2 else ()
    return text if again == levels else levels
