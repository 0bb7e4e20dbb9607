"""The data of the whole page, built from evaluations: facts, what all panels share, and the panels."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..counting.clip_reader import thread_count
from ..counting.counts import Counts
from ..criteria import Criterion
from ..engines.run import Run
from ..errors import counted, listing
from ..evaluation.result import Evaluation
from ..evaluation.result_tables import about_intervals, about_new_clips
from ..metrics import Metric
from ..ranking.comparison_result import Comparison
from ..resampling.held_out import on_new_clips
from ..resampling.resampling import Resampling
from .packing import RESOLUTION, pack, pack_steps
from .panels import build_panels
from .source import Data, ReportSource
from .systems import System, as_systems


def build_page(
    evaluations: Mapping[str, Evaluation],
    *,
    comparison: Comparison | None = None,
    clips_shown: int | Iterable[str] = 60,
    audio: str | Path | None = None,
    run: Run | None = None,
) -> Data:
    """Build everything that a report shows; see :func:`sedscope.report.write_report`.

    *Detailed classes* are those that have curves and sliders: all classes, or the ones with the most
    references.
    """
    run = Run._of(run, "Writing the report", "engine", "scheduler", "checkpoint")
    systems = as_systems(evaluations, run)
    source = ReportSource(systems, comparison, clips_shown, audio, run.threads)
    first = source.first
    panels, panel_notes = build_panels(source)
    return {
        "header": _header(source),
        "systems": [system.name for system in systems],
        "classes": first.classes,
        "detailed": [first.classes.index(label) for label in source.detailed],
        "hours": first.hours,
        "metrics": [
            {
                "name": first.names[metric],
                "definition": repr(metric),
                "thresholds": _thresholds_read(metric, first),
                "higher_is_better": metric.higher_is_better,
                "criterion": source.criteria.index(metric.operating_criterion),
            }
            for metric in source.metrics
        ],
        "criteria": [_criterion_entry(criterion, source) for criterion in source.criteria],
        "values": [
            [_metric_values(system.evaluation, metric) for metric in source.metrics]
            for system in systems
        ],
        # of the slider positions of each detailed class, decreasing: above them, frames are active
        "thresholds": [thresholds.tolist() for thresholds in source.thresholds.values()],
        "shared_thresholds": source.shared_thresholds.tolist(),
        "counts": [
            [_counts_at_positions(counts) for counts in by_criterion.values()]
            for by_criterion in source.at_positions
        ],
        "points": [_points_entry(system, source) for system in systems],
        "false_alarm_rates": list(source.false_alarm_rates.items()),
        "resolution": RESOLUTION,
        "panels": panels,
        "notes": [*_omissions(source), *panel_notes],
    }


def _criterion_entry(criterion: Criterion, source: ReportSource) -> Data:
    """Describe a criterion. Where classes are listed without a comment, they are the detailed ones."""
    counts = source.systems[0].counts[criterion]
    tables = [counts[label] for label in source.detailed]
    return {
        "definition": repr(criterion),
        "judges_events": criterion in source.judging_criteria,
        "thresholds_frames": criterion.thresholds_frames,  # so that `sedscope detect` can apply them
        "has_cross_triggers": any(len(table.cross_rows) for table in tables),
        "trials": None if tables[0].trials is None else [table.trials for table in tables],
        "measures_time": criterion.measures_time,
        "references": [counts.references[label] for label in source.first.classes],  # of all classes
        "distinct_scores": [
            [len(system.counts[criterion][label].scores) for label in source.detailed]
            for system in source.systems
        ],
        "one_point": [  # whether all detections have one score, as in an event list without confidences
            [len(system.measured_counts[criterion][label].scores) <= 1 for label in source.detailed]
            for system in source.systems
        ],
        "rule": criterion.matching_rule(),  # by which static/judge.js judges the events of a clip
    }


def _points_entry(system: System, source: ReportSource) -> Data | None:
    """Return the operating points of a system, where its sliders start."""
    points = system.evaluation.points
    if points is None:
        return None
    positions = [
        int(np.argmax(thresholds <= points.thresholds.get(label, np.inf)))
        for label, thresholds in source.thresholds.items()
    ]
    return {
        "positions": positions if points.thresholds else [],
        "thresholds": points.thresholds,
        "text": points.to_toml(),  # the file, as long as no slider was moved
        "postprocessing": {label: repr(step) for label, step in points.postprocessing.items()},
    }


def _metric_values(evaluation: Evaluation, metric: Metric[Any]) -> Data:
    """Return the values of a metric, with intervals if there are any.

    With intervals, the values are those of all runs of the system. All digits are kept: the page must
    round them as the tables of the command line do.
    """
    intervals = evaluation.intervals.get(metric)
    result = evaluation[metric] if intervals is None else intervals
    classes = evaluation.classes
    limits = None
    if intervals is not None:
        limits = [(of.low, of.high) for of in map(intervals.per_class.__getitem__, classes)]
    return {
        "value": result.value,
        "interval": None if intervals is None else (intervals.low, intervals.high),
        "per_class": [result.per_class[label].value for label in classes],
        "intervals": limits,
    }


def _counts_at_positions(counts: Counts) -> list[Data]:
    """Pack the counts of each class at the positions of its slider."""
    entries = []
    for table in counts.values():
        cross_triggers = None
        if len(table.cross_rows):
            changes = np.zeros(len(table.scores), np.int64)
            np.add.at(changes, table.cross_rows, table.cross_changes)
            cross_triggers = pack(changes)
        entries.append({"tp": pack_steps(table.tp), "fp": pack_steps(table.fp), "ct": cross_triggers})
    return entries


def _thresholds_read(metric: Metric[Any], evaluation: Evaluation) -> str:
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


def _header(source: ReportSource) -> Data:
    """Collect the facts at the top of the page."""
    from .. import __version__

    warnings = [warning for system in source.systems for warning in system.evaluation.warnings]
    if source.comparison is not None:
        warnings = [*source.comparison.warnings]
    versions = {"sedscope": __version__, "Python": platform.python_version(), "numpy": np.__version__}
    return {
        "clips": source.first.clips,
        "references": _reference_fact(source.first),
        "browsable_clips": 0 if source.clip_selection is None else len(source.clip_selection.clips),
        "versions": [*versions.items()],
        "signatures": [(system.name, str(system.evaluation.signature)) for system in source.systems],
        "warnings": list(dict.fromkeys(warnings)),
        "resampling": "; ".join(about_intervals(source.first)) or None,
        "on_new_clips": "; ".join(_about_new_clips(source)) or None,
    }


def _about_new_clips(source: ReportSource) -> list[str]:
    """Say what to expect where thresholds were chosen on these clips. A comparison says it itself."""
    if source.comparison is not None:
        return []
    evaluations = {}
    for system in source.systems:
        evaluation = system.evaluation
        if not evaluation.intervals and evaluation.points is None:
            metrics = [metric for metric in evaluation if metric.criterion in evaluation.deltas]
            expected = on_new_clips(
                metrics, evaluation.deltas, Resampling(), thread_count(source.threads)
            )
            evaluation = replace(evaluation, on_new_clips=expected)
        evaluations[system.name] = evaluation
    return about_new_clips(evaluations)


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


def _omissions(source: ReportSource) -> list[str]:
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
