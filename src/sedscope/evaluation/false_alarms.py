"""False alarms of classes without reference events, for which no metric is defined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..counting.counts import Counts
from ..errors import SedscopeError
from ..metrics import Metric
from ..metrics.fixed_threshold import FixedThreshold, Threshold, operating_point

_USUAL_THRESHOLD = 0.5


@dataclass(frozen=True)
class FalseAlarms:
    """The false alarms of classes without reference events, at one threshold.

    Attributes
    ----------
    threshold : float or "points"
        That of the metric, or 0.5 if it has none.
    per_class : mapping of str to float
        False alarms per hour.
    """

    threshold: Threshold
    per_class: Mapping[str, float]


def false_alarms(metric: Metric[Any], counts: Counts) -> FalseAlarms:
    """Return the false alarms per hour of the classes without reference events.

    For ``Segment`` and ``Clip``, these are segments and clips. There are none for metrics that have a value
    for such classes, for criteria that measure time, and where they were not counted: below the floor, or in
    blocks of classes at a threshold that the metric does not read.
    """
    threshold = metric.threshold if isinstance(metric, FixedThreshold) else _USUAL_THRESHOLD
    per_class: dict[str, float] = {}
    criterion = counts.criterion
    countable = not (criterion.values_queries or criterion.measures_time)
    if metric.needs_references and not metric.variants and countable:
        for label, references in counts.references.items():
            if references:
                continue
            try:
                _, tally = operating_point(counts[label], threshold, metric)
            except SedscopeError:
                continue
            per_class[label] = float(tally.false_alarms_per_hour(counts.hours))
    return FalseAlarms(threshold, per_class)
