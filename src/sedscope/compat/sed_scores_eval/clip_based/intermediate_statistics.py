"""Deltas and statistics of clips."""

from __future__ import annotations

from typing import Any

from ..counting import Statistics, statistics_of
from ..criteria import by_clip
from ..delta_tables import DeltaTable, delta_table
from ..reading import accumulated

accumulated_intermediate_statistics = accumulated(by_clip)


def intermediate_statistics_deltas(scores: Any, ground_truth: Any, *, num_jobs: int = 1) -> DeltaTable:
    """The score of each clip, by class, and whether it is a true or a false positive there."""
    return delta_table(by_clip(scores, ground_truth))


def accumulated_intermediate_statistics_from_deltas(deltas: Any) -> Statistics:
    """The statistics that deltas add up to."""
    return statistics_of(by_clip(None, None, deltas=deltas).counts())
