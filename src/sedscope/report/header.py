"""The top of the page: facts about the evaluation, its metrics, and notes on what the page leaves out."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from ..errors import counted, listing
from ..evaluation.result import Evaluation
from ..evaluation.result_tables import about_intervals
from ..metrics import Metric
from .schema import Header
from .source import ReportSource


def thresholds_read(metric: Metric[Any], evaluation: Evaluation) -> str:
    """Say at which thresholds a metric was measured."""
    latency_threshold = metric.criterion.latency_threshold
    if latency_threshold is not None:
        return f"at the threshold {latency_threshold:g}"
    if metric.criterion.values_queries:
        return "over queries"
    points = metric.points_read
    if isinstance(points, (int, float)):
        return f"at the threshold {points:g}"
    if points == "points":
        return "at the operating points of the system"
    if metric.has_thresholds:
        return "at the threshold that the metric chooses for each class"
    if any(table.at_chosen_thresholds for table in evaluation.counts[metric.criterion].values()):
        return "over the thresholds of the detections"
    return "over all thresholds"


def build_header(source: ReportSource) -> Header:
    """Collect the facts at the top of the page."""
    from .. import __version__

    warnings = [warning for system in source.systems for warning in system.evaluation.warnings]
    if source.comparison is not None:
        warnings = [*source.comparison.warnings]
    return Header(
        clips=source.first.clips,
        references=_reference_fact(source.first),
        browsable_clips=0 if source.clip_selection is None else len(source.clip_selection.clips),
        versions=(
            ("sedscope", __version__),
            ("Python", platform.python_version()),
            ("numpy", np.__version__),
        ),
        signatures=[(system.name, str(system.evaluation.signature)) for system in source.systems],
        warnings=list(dict.fromkeys(warnings)),
        resampling="; ".join(about_intervals(source.first)) or None,
    )


def _reference_fact(evaluation: Evaluation) -> str:
    """Say how many references there are. Deltas of segments and clips alone do not know the events."""
    number = sum(evaluation.references.values())
    of_segments = all(
        criterion.counts_negatives and not criterion.measures_time for criterion in evaluation.counts
    )
    if of_segments and evaluation.alignment is None:
        return counted(number, "positive segment")
    return counted(number, "reference event")


def _has_several_runs(evaluation: Evaluation) -> bool:
    """Return whether values are means over runs: then those of the first run are others."""
    return any(
        interval.value != evaluation[metric].value and not np.isnan(interval.value)
        for metric, interval in evaluation.intervals.items()
    )


def omissions(source: ReportSource) -> list[str]:
    """List what the page leaves out, one sentence each."""
    notes = []
    classes, detailed = source.first.classes, source.detailed
    if len(detailed) < len(classes):
        notes.append(
            f"Curves, sliders, cross-triggers and errors are shown for the {len(detailed)} of {len(classes)} "
            "classes with the most references. Choose others with `classes=`."
        )
    tables = [
        counts[label]
        for system in source.systems
        for counts in system.counts.values()
        for label in detailed
    ]
    if source.systems[0].reaches_best_fscore:
        notes.append(
            "Sliders and curves end where false alarms exceed ten times the references plus a hundred "
            "per hour (with Time, a hundred seconds). No better F-score lies below."
        )
    elif any(np.isfinite(table.floor) for table in tables):
        notes.append(
            "The set is large, so counts end at the lowest threshold that the metrics need. Sliders, "
            "curves and best F-scores end there, too."
        )
    if any(table.at_chosen_thresholds for table in tables):
        notes.append(
            "The system is a set of detections at some thresholds. Counts between them are unknown."
        )
    of_queries = [
        metric
        for metric in source.metrics
        if metric.criterion.values_queries and metric.criterion.latency_threshold is None
    ]
    if of_queries:
        names = [source.first.names[metric] for metric in of_queries]
        criteria = dict.fromkeys(repr(metric.operating_criterion) for metric in of_queries)
        notes.append(
            f"Metrics of queries have no thresholds: {listing(names)}. Sliders, curves, errors and clips "
            f"count all answers above a threshold, not only the best, by {listing([*criteria])}."
        )
    if any(_has_several_runs(system.evaluation) for system in source.systems):
        notes.append(
            "Values are means over the runs of a system. Counts, curves and clips are those of its first run."
        )
    if source.has_overlapping_references:
        notes.append("Some references of one class overlap, so the page has no error types.")
    if source.systems[0].alignment is None:
        notes.append("A set of detections has no scores, so the page has no clips and no error types.")
    return notes
