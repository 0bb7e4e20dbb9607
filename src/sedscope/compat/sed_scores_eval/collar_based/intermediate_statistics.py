"""Deltas and statistics by collars."""

from __future__ import annotations

from typing import Any

from ....criteria import Collar
from ..counting import Statistics, statistics_of
from ..criteria import by_collar, by_events
from ..delta_tables import DeltaTable, delta_table
from ..statistic_functions import accumulated_function

accumulated_intermediate_statistics = accumulated_function(by_collar)


def intermediate_statistics_deltas(
    scores: Any,
    ground_truth: Any,
    onset_collar: float,
    offset_collar: float,
    offset_collar_rate: float = 0.0,
    return_onset_offset_dist_sum: bool = False,
    time_decimals: int = 6,
    num_jobs: int = 1,
) -> DeltaTable:
    """Return how the counts of each clip and class change at its scores."""
    named = by_collar(
        scores,
        ground_truth,
        onset_collar=onset_collar,
        offset_collar=offset_collar,
        offset_collar_rate=offset_collar_rate,
        return_onset_offset_dist_sum=return_onset_offset_dist_sum,
        time_decimals=time_decimals,
    )
    return delta_table(named)


def accumulated_intermediate_statistics_from_deltas(deltas: Any, ground_truth: Any) -> Statistics:
    """Return the statistics that deltas add up to."""
    clip_deltas = next(iter(deltas.values()))
    errors = all("onset_dist_sum" in changes for _, changes in clip_deltas.values())
    criterion = Collar(errors=errors)  # the deltas already depend on the collars
    return statistics_of(by_events(None, ground_truth, criterion, deltas=deltas).counts())
