"""Metrics that are the mean of others, each of which has a criterion of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

from ..counting.counts import Counts
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..tabular import ResultTable
from .classwise import ClassValue, ClasswiseMetric, ClasswiseResult
from .metric import Metric, PointsRead

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
