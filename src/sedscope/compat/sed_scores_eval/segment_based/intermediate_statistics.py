"""Deltas and statistics of segments."""

from __future__ import annotations

from typing import Any

from ..counting import Statistics, statistics_of
from ..criteria import by_segment
from ..delta_tables import DeltaTable, delta_table
from ..statistic_functions import accumulated_function

accumulated_intermediate_statistics = accumulated_function(by_segment)


def intermediate_statistics_deltas(
    scores: Any,
    ground_truth: Any,
    audio_durations: Any,
    *,
    segment_length: float = 1.0,
    time_decimals: int = 6,
    num_jobs: int = 1,
    full_last_segment: bool = False,
) -> DeltaTable:
    """Return the scores of the segments of each clip and class, and how many segments at each score
    are true and false positives.

    ``full_last_segment``: judge the last segment in full length, as sed_scores_eval does.
    """
    named = by_segment(
        scores,
        ground_truth,
        audio_durations,
        segment_length=segment_length,
        time_decimals=time_decimals,
        full_last_segment=full_last_segment,
    )
    return delta_table(named)


def accumulated_intermediate_statistics_from_deltas(deltas: Any) -> Statistics:
    """Return the statistics that deltas add up to."""
    return statistics_of(by_segment(None, None, None, deltas=deltas).counts())
