"""Deltas and statistics of clips."""

from __future__ import annotations

from typing import Any

from ..counting import Statistics, statistics_of
from ..criteria import by_clip
from ..delta_tables import DeltaTable, delta_table
from ..statistic_functions import accumulated_function

accumulated_intermediate_statistics = accumulated_function(by_clip)


def intermediate_statistics_deltas(scores: Any, ground_truth: Any, *, num_jobs: int = 1) -> DeltaTable:
    """Return the score of each clip and class, and whether it is a true or a false positive."""
    return delta_table(by_clip(scores, ground_truth))


def accumulated_intermediate_statistics_from_deltas(deltas: Any) -> Statistics:
    """Return the statistics that deltas add up to."""
    return statistics_of(by_clip(None, None, deltas=deltas).counts())
