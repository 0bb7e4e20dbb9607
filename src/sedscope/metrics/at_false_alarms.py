"""Metrics of one operating point, measured where a system has few enough false alarms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..counting.class_counts import ClassCounts
from ..counting.tally import Tally
from ..criteria import Criterion
from ..definitions import definition
from ..errors import SedscopeError, listing
from .classwise import ClassValue, ClasswiseMetric
from .metric import Metric


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
    return int(rows[np.lexsort((fp[rows], -tp[rows]))[0]])


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
