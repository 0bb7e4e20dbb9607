"""Metrics that are a number per class, averaged over classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..counting.counts import ClassCounts, Counts
from ..counting.tally import Tally
from ..criteria.criterion import Criterion
from ..criteria.segments import Clip, Segment
from ..definitions import Defined, require_choice
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from .metric import Points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AVERAGES = ("macro", "micro", "weighted")


@dataclass(frozen=True, eq=False)
class ClassValue:
    """A metric of one class, or of all classes together."""

    value: float
    threshold: float | None = None
    """The threshold that it belongs to (active: ``score > threshold``), if to one."""
    tally: Tally | None = None
    """The counts at that threshold."""
    make_curve: Callable[[], Any] | None = None

    @cached_property
    def curve(self) -> Any:
        """The curve that the value is read off, if any."""
        return None if self.make_curve is None else self.make_curve()

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw its curve with matplotlib, on ``ax`` or new axes, which are returned."""
        if self.curve is None:
            raise SedscopeError("there is no curve to plot: the value belongs to one threshold")
        axes: Axes = self.curve.plot(ax, **options)
        return axes


@dataclass(frozen=True, eq=False)
class ClasswiseResult:
    """A metric of all classes and its averages."""

    metric: ClasswiseMetric
    counts: Counts
    per_class: Mapping[str, ClassValue]

    @property
    def value(self) -> float:
        """The average that the metric asks for."""
        return self.average(self.metric.average)

    @property
    def thresholds(self) -> dict[str, float]:
        """Per class the threshold that its value belongs to."""
        found = {label: of_class.threshold for label, of_class in self.per_class.items()}
        return {label: threshold for label, threshold in found.items() if threshold is not None}

    def average(self, kind: str) -> float:
        """``macro``: the mean over classes for which the metric is defined; ``weighted``: by number of
        references; ``micro``: of all classes together at one threshold; ``micro_tuned``, for metrics
        that choose thresholds: of all classes together, each at its own."""
        return self.metric.average_of(self, kind)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curves of all classes, see :meth:`ClassValue.plot`."""
        for label, of_class in self.per_class.items():
            if self.counts.references[label]:
                ax = of_class.plot(ax, **{"label": label, **options})
        if ax is None:
            raise SedscopeError("there is no curve to plot: no class has references")
        return ax

    def pooled(self) -> ClassValue:
        """The metric of all classes together, at one threshold."""
        return self.metric.of_all(self.counts)


class ClasswiseMetric(Defined, ABC):
    """Base of the metrics that are a number per class.

    Subclasses are frozen dataclasses with a ``criterion`` and an ``average``.
    """

    criterion: Criterion
    average: str

    averages: ClassVar[tuple[str, ...]] = AVERAGES
    higher_is_better: ClassVar[bool] = True
    variants: ClassVar[tuple[PostProcessing, ...]] = ()
    at_one_threshold: ClassVar[bool] = False
    """Whether the value of a class belongs to one threshold."""
    needs_negatives: ClassVar[bool] = False
    """Whether true negatives are needed, which only segments and clips have."""

    @abstractmethod
    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """The metric of one class that has references."""

    def curve_of(self, counts: ClassCounts) -> Any:
        """The curve that the value of a class is read off; None if there is none."""
        return None

    @property
    def false_positive_limit(self) -> float | None:
        """It looks at every threshold."""
        return None

    @property
    def any_label(self) -> bool:
        """Whether the metric needs pairs regardless of label."""
        return False

    @property
    def looks_at(self) -> Points:
        """Of equally many true positives fewest false positives are best; classes are taken together at
        any threshold."""
        return "all" if self.average == "micro" else "extremes"

    def measure(self, counts: Counts) -> ClasswiseResult:
        """Read the metric off the counts."""
        hours = counts.duration / 3600
        per_class = {label: ClassValue(np.nan) for label in counts}
        for label in per_class:
            if counts.references[label]:
                found = self.of_class(counts[label], hours)
                per_class[label] = replace(found, make_curve=partial(self._curve, counts, label))
        return ClasswiseResult(self, counts, per_class)

    def _curve(self, counts: Counts, label: str) -> Any:
        """Looks the counts of the class up when the curve is asked for, so as not to hold them."""
        return self.curve_of(counts[label])

    def of_all(self, counts: Counts) -> ClassValue:
        """The metric of all classes together, at one threshold."""
        pooled = counts.pooled()
        if not pooled.references:
            return ClassValue(np.nan)
        found = self.of_class(pooled, counts.duration / 3600)
        return replace(found, make_curve=partial(self.curve_of, pooled))

    def of_tally(self, tally: Tally) -> float:
        """The metric of one operating point; for metrics that belong to one."""
        raise SedscopeError(f"{self} does not belong to one threshold per class")

    def average_of(self, result: ClasswiseResult, kind: str) -> float:
        """See :meth:`ClasswiseResult.average`."""
        known_kinds = dict.fromkeys((*AVERAGES, *self.averages))
        if kind not in known_kinds:
            raise SedscopeError(f"average {kind!r}: choose {' or '.join(map(repr, known_kinds))}")
        if kind == "micro":
            return self.of_all(result.counts).value
        defined = [label for label in sorted(result.per_class) if result.counts.references[label]]
        if not defined:
            return np.nan
        if kind == "micro_tuned":
            tallies = [result.per_class[label].tally for label in defined]
            return self.of_tally(reduce(add, [tally for tally in tallies if tally is not None]))
        values = np.array([result.per_class[label].value for label in defined])
        weights = np.array([result.counts.references[label] for label in defined])
        known = ~np.isnan(values)
        if not known.any():
            return np.nan
        return float(np.average(values[known], weights=weights[known] if kind == "weighted" else None))

    def _check(self) -> None:
        """Refuse a criterion or average that the metric is not defined for."""
        if not isinstance(self.criterion, Criterion):
            raise SedscopeError(f"{type(self).__name__} needs a criterion, not {self.criterion!r}")
        if self.needs_negatives and not isinstance(self.criterion, (Segment, Clip)):
            raise SedscopeError(
                f"{type(self).__name__} needs true negatives, which there are for segments and clips, "
                f"not for events: use Segment or Clip instead of {self.criterion!r}"
            )
        require_choice(self, "average", self.averages)
