"""Notes: what a user should know about the values of an evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..alignment.coverage import squeezed_references_note
from ..alignment.time_agreement import TimeSample
from ..counting.deltas import Deltas
from ..counting.tally import Tally
from ..criteria import Criterion
from ..data.times import TICKS_PER_SECOND, Ticks
from ..errors import counted, listing, subject
from ..metrics import Metric, MetricResult
from ..postprocessing.postprocessing import known_steps

if TYPE_CHECKING:
    from ..resampling.intervals import Bootstrap

_FRAMES_OF_LONG_WINDOW = 20  # at least


def input_notes(
    alignment: Alignment, deltas: Mapping[Criterion, Deltas], sample: TimeSample
) -> list[str]:
    """Note what a user should know about clips, classes and times that were counted.

    ``sample``: the clips that the pass looked at.
    """
    durations = next(iter(deltas.values())).durations
    return [
        *alignment.warnings,
        *late_events_note(alignment, durations),
        *coverage_note(alignment, deltas),
        *sample.notes(),
    ]


def score_notes(
    alignment: Alignment,
    deltas: Mapping[Criterion, Deltas],
    metrics: Collection[Metric[Any]],
    *ranges: Mapping[Criterion, tuple[float, float]],
    detected: NDArray[np.bool_] | None = None,
) -> list[str]:
    """Note what a user should know about the scores of a pass.

    ``ranges``: those of the scores, if they were counted in parts. ``detected``: the classes, likewise.
    """
    return [
        *coverage_note(alignment, deltas),
        *never_detected_note(alignment, deltas, detected),
        *threshold_notes(metrics, *(ranges or (score_ranges(metrics, deltas),))),
    ]


def _shifted_windows_note(alignment: Alignment, criteria: Iterable[Criterion]) -> list[str]:
    """Note windows of a system that lie across segments of the same length."""
    length = alignment.scores._source.shifted_windows
    for criterion in criteria:
        if length is not None and criterion.segment_ticks == length:
            seconds = length / TICKS_PER_SECOND
            return [
                f"The system gives windows of {seconds:g} s that do not begin with the segments of "
                f"{criterion!r}: a window lies in two segments, and is wrong in one of them if the call lies "
                "in the other. To judge windows as windows, use Window(min_overlap=…) with "
                "`overlaps='keep'`."
            ]
    return []


def late_events(alignment: Alignment, durations: Ticks) -> NDArray[np.bool_]:
    """Return which events of an alignment are left out because they begin after their clip ends.

    ``durations``: of each clip, as evaluated.
    """
    return alignment.events[:, 0] >= durations[alignment.event_clips]


def late_events_note(alignment: Alignment, durations: Ticks) -> list[str]:
    """Note reference events that were left out because they begin after their clip ends."""
    late = int(np.count_nonzero(late_events(alignment.counted(), durations)))
    if not late:
        return []
    begin, was = subject(late, "reference event", "begins"), "was" if late == 1 else "were"
    return [f"{begin} at or after the last boundary of the scores and {was} left out."]


def coverage_note(alignment: Alignment, deltas: Mapping[Criterion, Deltas]) -> list[str]:
    """Note clips whose scores, references or filters do not fit their lengths."""
    part = next(iter(deltas.values()))
    if part.extents is None:
        return []
    notes = alignment.covered_clips(part.durations, part.extents).notes()
    notes += alignment.unstated_ends_notes(part.durations, part.extents)
    references = alignment.counted()
    squeezed = squeezed_references_note(references.events[:, 1], references.event_clips, part.durations)
    if alignment.scores.whole_clips and not squeezed:
        notes += short_references_note(deltas)
    return [*notes, *_long_windows_note(alignment, part), *_shifted_windows_note(alignment, deltas)]


def _long_windows_note(alignment: Alignment, deltas: Deltas) -> list[str]:
    """Note windows of half a clip or more: their lengths may have been given in frames."""
    if deltas.extents is None or not len(deltas.clips):
        return []
    clip, frame = np.median(deltas.durations), np.median(deltas.extents[:, 2] - deltas.extents[:, 1])
    shortest = max(clip / 2, _FRAMES_OF_LONG_WINDOW * frame) / TICKS_PER_SECOND
    for step in (*known_steps(alignment.scores.processing), *deltas.variants):
        if (window := step.window_seconds) >= shortest:
            clip_seconds, frames = clip / TICKS_PER_SECOND, window * frame / TICKS_PER_SECOND
            return [
                f"A filter has a window of {window:g} s, but clips last {clip_seconds:g} s. Lengths are in "
                f"seconds: {window:g} frames are {frames:g} s."
            ]
    return []


def short_references_note(deltas: Mapping[Criterion, Deltas]) -> list[str]:
    """Note that all reference events are much shorter than a frame, as with frames in another unit.

    This is checked only for criteria that count events, and for scores with frames of one length.
    """
    part = next((part for part in deltas.values() if not part.criterion.counts_negatives), None)
    if part is None or part.extents is None or not len(part.tables.references.times):
        return []
    if not part.tables.references.times.all():  # points in time are short on purpose
        return []
    frames = part.extents[:, 2] - part.extents[:, 1]
    several = part.extents[:, 1] > part.extents[:, 0]
    references = part.tables.references
    if (
        not several.all()
        or np.ptp(frames)
        or not (2 * references.times < frames[references.clips]).all()
    ):
        return []
    frame = frames[0] / 1e6
    return [
        f"Every reference event is shorter than half a frame of the scores ({frame:g} s). Check the frame "
        "length: it is in seconds."
    ]


def threshold_notes(
    metrics: Collection[Metric[Any]], *parts: Mapping[Criterion, tuple[float, float]]
) -> list[str]:
    """Note a fixed threshold that does not suit the scores.

    ``parts``: the lowest and highest scores of some classes each, as :func:`score_ranges` returns them.
    """
    for metric in metrics:
        threshold = metric.points_read
        ranges = [part[metric.criterion] for part in parts if metric.criterion in part]
        if isinstance(threshold, str) or not ranges:
            continue
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        from ..data.thresholds import threshold_note

        note = threshold_note(low, high, threshold, repr(metric))
        if note:
            return note
    return []


def score_ranges(
    metrics: Iterable[Metric[Any]], deltas: Mapping[Criterion, Deltas]
) -> dict[Criterion, tuple[float, float]]:
    """Return the lowest and highest score for each criterion of a metric with a fixed threshold."""
    criteria = {metric.criterion for metric in metrics if not isinstance(metric.points_read, str)}
    if not criteria:
        return {}
    from ..data.thresholds import score_range

    return {
        criterion: score_range([part.tables.detections.scores])
        for criterion, part in deltas.items()
        if criterion in criteria
    }


def detected_classes(deltas: Mapping[Criterion, Deltas]) -> NDArray[np.bool_]:
    """Return which classes are detected at some threshold, or may be below their floor."""
    part = next(iter(deltas.values()))
    rows = np.diff(part.tables.detections.class_starts())
    return (rows > 0) | (part.floors > -np.inf)


def never_detected_note(
    alignment: Alignment, deltas: Mapping[Criterion, Deltas], detected: NDArray[np.bool_] | None = None
) -> list[str]:
    """Note classes with reference events that are not detected at any threshold.

    Labels that a list of detections never has are left to the alignment. ``detected``: which classes are,
    if the deltas do not hold all of them.
    """
    part = next(iter(deltas.values()))
    rows = detected_classes(deltas) if detected is None else detected
    present = np.bincount(part.tables.references.labels, minlength=len(part.classes))
    never = [
        label
        for label, number, references in zip(part.classes, rows, present, strict=True)
        if references and not number and label not in alignment.scores.assumed_classes
    ]
    if rows.any() and not never:
        return []
    from ..data.thresholds import is_binary

    thresholds = "at the operating points" if is_binary(alignment.scores) else "at any threshold"
    if not rows.any():
        return [f"Nothing is detected in any clip, {thresholds}."]
    verb = "is" if len(never) == 1 else "are"
    return [
        f"{counted(len(never), 'class')} of the ground truth {verb} never detected, {thresholds}: "
        f"{listing(never)}."
    ]


def empty_classes_note(references: Mapping[str, int], metrics: Collection[Metric[Any]]) -> list[str]:
    """Note classes without reference events: most averages leave them out, but others do not."""
    empty = [label for label, number in references.items() if not number]
    counting = [type(metric).__name__ for metric in metrics if not metric.needs_references]
    pooling = [
        f"micro {type(metric).__name__}"
        for metric in metrics
        if metric.needs_references and metric.pools_classes and not metric.criterion.values_queries
    ]
    everywhere = len(counting) + len(pooling) == len(metrics)
    if not empty or (everywhere and not pooling):
        return []
    number = f"{counted(len(empty), 'class')} {'has' if len(empty) == 1 else 'have'} no reference events"
    its, they_are = ("Its", "it is") if len(empty) == 1 else ("Their", "they are")
    left_out = "" if everywhere else f", so {they_are} left out of the averages"
    others = listing([*dict.fromkeys([*counting, *pooling])])
    if left_out and others:
        left_out += f" (but not of {others})"
    elif others:
        left_out = f". {its} detections are false positives for {others}"
    return [f"{number}{left_out}: {listing(empty)}."]


def undetected_classes_note(results: Mapping[Metric[Any], MetricResult]) -> list[str]:
    """Note classes for which a metric is not defined because they are never detected at its threshold."""
    notes = []
    for metric, result in results.items():
        undetected = [
            label
            for label, value in result.per_class.items()
            if metric.criterion.latency_threshold is None
            and np.isnan(value.value)
            and _is_silent(getattr(value, "tally", None))
        ]
        if undetected:
            name = getattr(result, "name", None) or repr(metric)
            they = "it is" if len(undetected) == 1 else "they are"
            notes.append(
                f"{subject(len(undetected), 'class', 'is')} not detected at the threshold of {name}, "
                f"so {they} left out of its average: {listing(undetected)}."
            )
    return notes


def event_list_notes(
    results: Mapping[Metric[Any], MetricResult], alignment: Alignment | None
) -> list[str]:
    """Note metrics whose values suit systems with scores, where the system is a list of events.

    ``alignment``: what was evaluated; None for sets of detections.
    """
    return [*one_point_note(results), *equal_answers_note(results, alignment)]


def one_point_note(results: Mapping[Metric[Any], MetricResult]) -> list[str]:
    """Note metrics that are read off a whole curve, where the system has one operating point."""
    names = [name for name, result in _defined(results) if _is_one_point(result)]
    if not names:
        return []
    return [
        "The system has one operating point, as an event list without confidences has. Systems with scores "
        f"have many, and these metrics use all of them: {listing(names)}. Compare the values only with those "
        "of other event lists."
    ]


def equal_answers_note(
    results: Mapping[Metric[Any], MetricResult], alignment: Alignment | None
) -> list[str]:
    """Note metrics of queries, where the system does not say which of its answers is the best."""
    queries = {
        metric: result
        for metric, result in results.items()
        if metric.criterion.values_queries and metric.criterion.latency_threshold is None
    }
    names = [name for name, _ in _defined(queries)]
    if not names or alignment is None:
        return []
    from ..data.scored_events import has_equal_answers

    if not has_equal_answers(alignment.scores):
        return []
    return [
        "All detections have the same confidence, as in an event list without confidences, so the system "
        "does not say which of its answers to a query are the best. These metrics judge the best answers: "
        f"{listing(names)}. Compare the values only with those of other event lists."
    ]


def _defined(results: Mapping[Metric[Any], MetricResult]) -> list[tuple[str, MetricResult]]:
    """Return the results whose value is defined, with the names of their metrics."""
    return [
        (getattr(result, "name", None) or repr(metric), result)
        for metric, result in results.items()
        if not np.isnan(result.value)
    ]


def _is_one_point(result: MetricResult) -> bool:
    """Return whether a value is read off a whole curve, which is one point for all classes."""
    parts = getattr(result, "parts", None)  # of a mean
    if parts is not None:
        return all(map(_is_one_point, parts.values()))
    if result.thresholds:
        return False
    curves = [getattr(value, "curve", None) for value in result.per_class.values()]
    one_point = [getattr(curve, "one_point", False) for curve in curves if curve is not None]
    return bool(one_point) and all(one_point)


def _is_silent(tally: Tally | None) -> bool:
    return tally is not None and bool(tally.references) and not tally.detected


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
