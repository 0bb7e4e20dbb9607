"""Metrics at a threshold that is fixed: one number for all classes, or the operating point of each class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ..counting.class_counts import ClassCounts
from ..counting.counts import Counts
from ..counting.tally import Tally
from ..criteria import Criterion
from ..definitions import require_number
from ..errors import SedscopeError
from .classwise import ClassValue, ClasswiseMetric
from .metric import PointsRead

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
        at_points: ClasswiseMetric[None] = replace(same, threshold=POINTS)
        return at_points

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
            "state the operating points of the system with points= (--points)."
        )
    return None, counts.tally()[len(counts.scores)]
