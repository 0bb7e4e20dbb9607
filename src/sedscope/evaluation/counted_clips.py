"""Counting the clips of an evaluation: from aligned scores to the counts that metrics read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.progress import Progress, StagedProgress
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.floor_search import cut_at_floors, find_deltas
from ..engines.options import RunOptions
from ..metrics import Metric
from ..metrics.requests import delta_requests
from .group_plan import GroupPlan
from .notes import coverage_note, never_detected_note, score_ranges, threshold_notes


@dataclass(frozen=True, eq=False)
class CountedClips:
    """The counts of all clips, and what they were added up from."""

    counts: Mapping[Criterion, Counts]
    """With several blocks of classes, only the rows that the metrics read."""
    deltas: Mapping[Criterion, Deltas]
    """With several blocks of classes, they refuse to be read."""
    durations: Ticks
    """The duration of each clip."""
    notes: Sequence[str]
    """What a user should know about the scores."""
    blocks: int = 1
    """How many blocks of classes were counted one after the other."""
    of_pass: Mapping[Criterion, Deltas] = field(default_factory=dict)
    """All deltas that the pass found: groups may read more than the counts do, and further down."""


def count_clips(
    alignment: Alignment,
    metrics: Mapping[str, Metric[Any]],
    engine: Engine,
    options: RunOptions,
    plan: GroupPlan,
) -> CountedClips:
    """Count all classes in one pass over the clips. The deltas also serve the groups of the plan."""
    clips = len(alignment.clips)
    stage = StagedProgress(options.progress, clips).stage(clips)
    bins = plan.of_bins(metrics)
    of_pass = [*metrics.values(), *bins]
    deltas = find_deltas_for_groups(alignment, of_pass, engine, stage, plan)
    of_groups = bool(bins) or plan.clips is not None
    return add_up(alignment, [*metrics.values()], deltas, options.threads, of_groups=of_groups)


def find_deltas_for_groups(
    alignment: Alignment,
    metrics: Sequence[Metric[Any]],
    engine: Engine,
    progress: Progress | None,
    plan: GroupPlan,
) -> dict[Criterion, Deltas]:
    """Find the deltas that the metrics read, of all clips and of each group of clips alone."""
    if plan.clips is None:
        return find_deltas(alignment, delta_requests(metrics), engine, progress)
    from ..resampling.deltas_for_weights import find_deltas_for_weights

    once = np.ones((1, len(alignment.clips)), np.int32)
    return find_deltas_for_weights(alignment, metrics, once, engine, progress, parts=plan.parts())


def add_up(
    alignment: Alignment,
    metrics: Sequence[Metric[Any]],
    of_pass: Mapping[Criterion, Deltas],
    threads: int | None,
    *,
    of_groups: bool = True,
) -> CountedClips:
    """Add up the deltas of all clips that the metrics read.

    ``of_groups``: whether the pass found deltas for groups of clips as well, further down.
    """
    deltas = {
        criterion: cut_at_floors(of_pass[criterion], request) if of_groups else of_pass[criterion]
        for criterion, request in delta_requests(metrics).items()
    }
    notes = [
        *coverage_note(alignment, deltas),
        *never_detected_note(alignment, deltas),
        *threshold_notes(metrics, score_ranges(metrics, deltas)),
    ]
    counts = {criterion: part.counts(threads=threads) for criterion, part in deltas.items()}
    durations = next(iter(deltas.values())).durations
    return CountedClips(counts, deltas, durations, notes, of_pass=of_pass)
