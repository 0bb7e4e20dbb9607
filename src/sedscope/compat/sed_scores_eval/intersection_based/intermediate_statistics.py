"""Deltas and statistics by intersection."""

from __future__ import annotations

from typing import Any

from ....criteria import Intersection
from ..counting import Statistics, statistics_of
from ..criteria import by_events, by_intersection
from ..delta_tables import CROSS, DeltaTable, delta_table
from ..statistic_functions import accumulated_function
from ..utils.nested import flatten

accumulated_intermediate_statistics = accumulated_function(by_intersection)


def intermediate_statistics_deltas(
    scores: Any,
    ground_truth: Any,
    *,
    dtc_threshold: float,
    gtc_threshold: float,
    cttc_threshold: float | None = None,
    time_decimals: int = 6,
    num_jobs: int = 1,
) -> DeltaTable:
    """How the counts of each clip and class change at its scores."""
    deltas = by_intersection(
        scores,
        ground_truth,
        dtc_threshold=dtc_threshold,
        gtc_threshold=gtc_threshold,
        cttc_threshold=cttc_threshold,
        time_decimals=time_decimals,
    )
    return delta_table(deltas)


def accumulated_intermediate_statistics_from_deltas(deltas: Any, ground_truth: Any) -> Statistics:
    """The statistics that deltas add up to."""
    crossed = any(name.startswith(CROSS) for name in _names(deltas))
    criterion = Intersection(1.0, 1.0, 1.0 if crossed else None)  # the shares do not matter any more
    return statistics_of(by_events(None, ground_truth, criterion, deltas=deltas).counts())


def _names(deltas: Any) -> set[str]:
    of_clip = next(iter(deltas.values()))
    return {name for _, changes in of_clip.values() for name in flatten(changes, sep="\\")}
