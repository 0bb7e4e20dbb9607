"""Notes: what a user should know about the values of an evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.score_range import score_range, threshold_note
from ..data.times import Ticks
from ..errors import counted, listing
from ..metrics import Metric
from ..resampling.intervals import Bootstrap


def late_events(alignment: Alignment, durations: Ticks) -> NDArray[np.bool_]:
    """Return which reference events are left out because they begin after their clip ends.

    ``durations``: of each clip, as evaluated.
    """
    clips = np.repeat(np.arange(len(durations)), np.diff(alignment.starts))
    late: NDArray[np.bool_] = alignment.events[:, 0] >= durations[clips]
    return late


def late_events_note(alignment: Alignment, durations: Ticks) -> list[str]:
    """Note reference events that were left out because they begin after their clip ends."""
    late = int(np.count_nonzero(late_events(alignment, durations)))
    if not late:
        return []
    verb = "begins" if late == 1 else "begin"
    was = "was" if late == 1 else "were"
    return [
        f"{counted(late, 'reference event')} {verb} at or after the last boundary of the scores and {was} "
        "left out."
    ]


def coverage_note(alignment: Alignment, deltas: Mapping[Criterion, Deltas]) -> list[str]:
    """Note clips whose scores end long before or after they do."""
    some = next(iter(deltas.values()))
    if some.extents is None:
        return []
    return alignment.covered_clips(some.durations, some.extents).notes()


def threshold_notes(metrics: Iterable[Metric[Any]], deltas: Mapping[Criterion, Deltas]) -> list[str]:
    """Note fixed thresholds between 0 and 1 that do not suit the scores."""
    notes: dict[Criterion, list[str]] = {}
    for metric in metrics:
        threshold, of_criterion = metric.points_read, deltas.get(metric.criterion)
        if isinstance(threshold, str) or of_criterion is None or metric.criterion in notes:
            continue
        low, high = score_range([of_criterion.tables.detections.scores])
        notes[metric.criterion] = threshold_note(low, high, threshold, repr(metric))
    return next((note for note in notes.values() if note), [])


def empty_classes_note(references: Mapping[str, int]) -> list[str]:
    """Note classes without reference events."""
    empty = [label for label, number in references.items() if not number]
    if not empty:
        return []
    has, they, are = ("has", "it", "is") if len(empty) == 1 else ("have", "they", "are")
    return [
        f"{counted(len(empty), 'class')} {has} no reference events, so {they} {are} left out of the "
        f"averages: {listing(empty)}."
    ]


def undefined_resamples_note(intervals: Collection[Bootstrap]) -> list[str]:
    """Note classes whose value is not defined in some resamples."""
    times: dict[str, int] = {}
    for interval in intervals:
        for label, of_class in interval.per_class.items():
            if not np.isnan(of_class.value) and of_class.undefined:
                times[label] = max(times.get(label, 0), of_class.undefined)
    if not times:
        return []
    number = max(len(interval.values) for interval in intervals)
    classes = [f"{label} in {undefined} of {number}" for label, undefined in times.items()]
    return [
        "Some classes are not defined in some resamples, so they are left out of the averages and "
        f"intervals there: {listing(classes)}."
    ]
