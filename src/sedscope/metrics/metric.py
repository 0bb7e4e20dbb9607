"""What a metric is, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from ..counting.counts import Counts
from ..criteria.criterion import Criterion
from ..postprocessing import PostProcessing

Points: TypeAlias = float | Literal["all", "extremes"]
"""Operating points of a class: all of them; one threshold; or ``"extremes"``, of each run of consecutive
ones with equal true positives the first with the fewest false positives, and the last."""


class ClassResult(Protocol):
    """What a metric says about one class."""

    @property
    def value(self) -> float:
        """The metric for this class alone; NaN if it has no reference events."""


class MetricResult(Protocol):
    """What a metric says about a system."""

    @property
    def value(self) -> float:
        """The metric over all classes that have reference events."""

    @property
    def per_class(self) -> Mapping[str, ClassResult]:
        """The same for each class."""


@runtime_checkable
class Metric(Protocol):
    """A hashable value whose ``repr`` is its full definition."""

    @property
    def criterion(self) -> Criterion:
        """What the metric counts."""

    @property
    def false_positive_limit(self) -> float | None:
        """False positives per second beyond which the metric does not look; None if it may."""

    @property
    def any_label(self) -> bool:
        """Whether the metric needs pairs regardless of label."""

    @property
    def variants(self) -> tuple[PostProcessing, ...]:
        """Post-processings of the scores that the metric needs the counts of."""

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one."""

    @property
    def looks_at(self) -> Points:
        """The operating points that the metric depends on."""

    def measure(self, counts: Counts) -> MetricResult:
        """Read the metric off the counts of its criterion."""
