"""Notes: what a user should know about the values of an evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.deltas import Deltas
from ..counting.tally import Tally
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.score_range import score_range, threshold_note
from ..data.times import Ticks
from ..errors import counted, listing, subject
from ..metrics import Metric, MetricResult
from ..metrics.classwise import ClassValue
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


def threshold_notes(
    metrics: Collection[Metric[Any]], *parts: Mapping[Criterion, tuple[float, float]]
) -> list[str]:
    """Note a fixed threshold between 0 and 1 that does not suit the scores.

    ``parts``: the lowest and highest scores of some classes each, as :func:`score_ranges` returns them.
    """
    for metric in metrics:
        threshold = metric.points_read
        ranges = [part[metric.criterion] for part in parts if metric.criterion in part]
        if isinstance(threshold, str) or not ranges:
            continue
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        note = threshold_note(low, high, threshold, repr(metric))
        if note:
            return note
    return []


def score_ranges(
    metrics: Iterable[Metric[Any]], deltas: Mapping[Criterion, Deltas]
) -> dict[Criterion, tuple[float, float]]:
    """Return the lowest and highest score for each criterion of a metric with a fixed threshold."""
    criteria = {metric.criterion for metric in metrics if not isinstance(metric.points_read, str)}
    return {
        criterion: score_range([part.tables.detections.scores])
        for criterion, part in deltas.items()
        if criterion in criteria
    }


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


def undetected_classes_note(results: Mapping[Metric[Any], MetricResult]) -> list[str]:
    """Note classes for which a metric is not defined because they are never detected at its threshold."""
    notes = []
    for metric, result in results.items():
        undetected = [
            label
            for label, value in result.per_class.items()
            if isinstance(value, ClassValue) and np.isnan(value.value) and _is_silent(value.tally)
        ]
        if undetected:
            they = "it is" if len(undetected) == 1 else "they are"
            notes.append(
                f"{subject(len(undetected), 'class', 'is')} not detected at the threshold of {metric!r}, so "
                f"{they} left out of its average: {listing(undetected)}."
            )
    return notes


def _is_silent(tally: Tally | None) -> bool:
    return tally is not None and bool(tally.references) and not tally.tp + tally.fp


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
