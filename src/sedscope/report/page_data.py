"""The data of the whole page, built from evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..counting.counts import Counts
from ..criteria import Criterion
from ..engines.run import Run
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..ranking.comparison_result import Comparison
from ..resampling.intervals import Interval
from .header import build_header, omissions, thresholds_read
from .packing import RESOLUTION, pack, pack_steps
from .panels import build_panels
from .schema import (
    CountsAtPositions,
    CriterionEntry,
    Limits,
    MetricEntry,
    MetricValues,
    Page,
    PointsEntry,
)
from .source import ReportSource
from .systems import System, as_systems


def build_page(
    evaluations: Mapping[str, Evaluation],
    *,
    comparison: Comparison | None = None,
    clips_shown: int | Iterable[str] = 60,
    audio: str | Path | None = None,
    run: Run | None = None,
) -> Page:
    """Build everything that a report shows; see :func:`sedscope.report.write_report`."""
    run = Run._of(run, "Writing the report", "engine", "scheduler", "checkpoint")
    systems = as_systems(evaluations, run)
    source = ReportSource(systems, comparison, clips_shown, audio, run.threads)
    first = source.first
    panels, panel_notes = build_panels(source)
    return Page(
        header=build_header(source),
        systems=[system.name for system in systems],
        classes=first.classes,
        detailed=[first.classes.index(label) for label in source.detailed],
        hours=first.hours,
        metrics=[
            MetricEntry(
                name=first.names[metric],
                definition=repr(metric),
                thresholds=thresholds_read(metric, first),
                higher_is_better=metric.higher_is_better,
                criterion=source.criteria.index(metric.operating_criterion),
            )
            for metric in source.metrics
        ],
        criteria=[_criterion_entry(criterion, source) for criterion in source.criteria],
        values=[
            [_metric_values(system.evaluation, metric) for metric in source.metrics]
            for system in systems
        ],
        thresholds=[thresholds.tolist() for thresholds in source.thresholds.values()],
        shared_thresholds=source.shared_thresholds.tolist(),
        counts=[
            [_counts_at_positions(counts) for counts in by_criterion.values()]
            for by_criterion in source.at_positions
        ],
        points=[_points_entry(system, source) for system in systems],
        false_alarm_rates=list(source.false_alarm_rates.items()),
        resolution=RESOLUTION,
        panels=panels,
        notes=[*omissions(source), *panel_notes],
    )


def _criterion_entry(criterion: Criterion, source: ReportSource) -> CriterionEntry:
    counts = source.systems[0].counts[criterion]
    tables = [counts[label] for label in source.detailed]
    return CriterionEntry(
        definition=repr(criterion),
        judges_events=criterion in source.judging_criteria,
        thresholds_frames=criterion.thresholds_frames,
        has_cross_triggers=any(len(table.cross_rows) for table in tables),
        trials=None if tables[0].trials is None else [table.trials for table in tables],
        measures_time=criterion.measures_time,
        references=[counts.references[label] for label in source.first.classes],
        distinct_scores=[
            [len(system.counts[criterion][label].scores) for label in source.detailed]
            for system in source.systems
        ],
        one_point=[
            [len(system.measured_counts[criterion][label].scores) <= 1 for label in source.detailed]
            for system in source.systems
        ],
        rule=criterion.matching_rule(),
    )


def _points_entry(system: System, source: ReportSource) -> PointsEntry | None:
    points = system.evaluation.points
    if points is None:
        return None
    return PointsEntry(
        positions=[
            int(np.argmax(thresholds <= points.thresholds.get(label, np.inf)))
            for label, thresholds in source.thresholds.items()
        ]
        if points.thresholds
        else [],
        thresholds=points.thresholds,
        text=points.to_toml(),
        postprocessing={label: repr(step) for label, step in points.postprocessing.items()},
    )


def _metric_values(evaluation: Evaluation, metric: Metric[Any]) -> MetricValues:
    """Return the values of a metric, with intervals if there are any.

    With intervals, the values are those of all runs of the system. All digits are kept: the page must
    round them as the tables of the command line do.
    """
    intervals = evaluation.intervals.get(metric)
    result = evaluation[metric] if intervals is None else intervals
    return MetricValues(
        value=result.value,
        interval=None if intervals is None else _limits(intervals),
        per_class=[result.per_class[label].value for label in evaluation.classes],
        intervals=None
        if intervals is None
        else [_limits(intervals.per_class[label]) for label in evaluation.classes],
    )


def _limits(interval: Interval) -> Limits:
    return interval.low, interval.high


def _counts_at_positions(counts: Counts) -> list[CountsAtPositions]:
    """Pack the counts of each class at the positions of its slider."""
    entries = []
    for table in counts.values():
        cross_triggers = None
        if len(table.cross_rows):
            changes = np.zeros(len(table.scores), np.int64)
            np.add.at(changes, table.cross_rows, table.cross_changes)
            cross_triggers = pack(changes)
        entries.append(CountsAtPositions(pack_steps(table.tp), pack_steps(table.fp), cross_triggers))
    return entries
