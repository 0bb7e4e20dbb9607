"""Counting the clips of an evaluation: from aligned scores to the counts that metrics read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.progress import StagedProgress
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.floor_search import find_deltas
from ..engines.options import RunOptions
from ..metrics import Metric
from ..metrics.requests import delta_requests
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


def count_clips(
    alignment: Alignment, metrics: Sequence[Metric[Any]], engine: Engine, options: RunOptions
) -> CountedClips:
    """Count all classes in one pass over the clips."""
    clips = len(alignment.clips)
    stage = StagedProgress(options.progress, clips).stage(clips)
    deltas = find_deltas(alignment, delta_requests(metrics), engine, stage)
    return add_up(alignment, metrics, deltas, options.threads)


def add_up(
    alignment: Alignment,
    metrics: Sequence[Metric[Any]],
    deltas: Mapping[Criterion, Deltas],
    threads: int | None,
) -> CountedClips:
    """Add up the deltas of all clips."""
    notes = [
        *coverage_note(alignment, deltas),
        *never_detected_note(alignment, deltas),
        *threshold_notes(metrics, score_ranges(metrics, deltas)),
    ]
    counts = {criterion: part.counts(threads=threads) for criterion, part in deltas.items()}
    return CountedClips(counts, deltas, next(iter(deltas.values())).durations, notes)
