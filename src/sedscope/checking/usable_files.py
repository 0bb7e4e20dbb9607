"""Files whose problems become findings, so that the rest of them can be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..data.choices import Invalid, Overlaps
from ..data.clips import clip_id, clip_ids
from ..data.detections import OVERLAP_ADVICE, event_problem, points_advice
from ..data.event_table import EventTable
from ..data.events import (
    POINTS_ADVICE,
    in_order,
    invalid_events,
    overlap_findings,
    overlapping_detections,
)
from ..data.ground_truth import GroundTruth, unused_ignored_labels_note
from ..data.label_maps import LabelMap
from ..data.scores import Scores
from ..errors import SedscopeError, agreeing, subject
from ..io.event_files import TruthReading
from ..io.events.files import read_event_table
from ..io.events.source import EventReadOptions
from ..io.locations import Address, Location
from ..io.side_tables import clip_seconds, read_durations, refuse_detections
from ..io.systems import SystemReading, detections_as_scores, holds_events, read_system_scores
from .checks import EventTimes
from .findings import Findings


def read_stated_durations(
    durations: str | Location | Mapping[str, float] | None, findings: Findings
) -> Mapping[str, float] | None:
    """Read durations, unless they are a mapping already. A file that cannot be read is a finding."""
    if not isinstance(durations, (str, Path, Address)):
        return durations
    try:
        return read_durations(durations)
    except SedscopeError as error:
        findings.add_failure("durations", error)
        return None


def read_usable_events(
    path: str | Location,
    format: str | None,
    options: EventReadOptions,
    durations: Mapping[str, float] | None,
    findings: Findings,
    *,
    detections: bool = False,
    points: bool = True,
    limit: Callable[[float], bool] | None = None,
) -> EventTable | None:
    """Read the rows of a file that are events. The other rows become findings.

    ``points``: whether detections may have no length.
    """
    problems: list[str] = []
    problem_of = partial(event_problem, points=points)
    try:
        table = read_event_table(path, format=format, options=options, problems=problems)
        table = table.with_times(durations or table.durations)
        table, unusable = table.usable_rows(problem_of) if detections else table.usable_rows()
        table = table if limit is None else table.admitted_by(limit)
    except SedscopeError as error:
        findings.add_failure("scores" if detections else "ground-truth", error)
        table, unusable = None, []
    problems += unusable
    if problems:
        what = f"{path}: {subject(len(problems), 'row', 'is')} not "
        what += "an event" if len(problems) == 1 else "events"
        advice = points_advice(problems)
        what += f". {advice}" if advice else ""
        findings.add("error", "scores" if detections else "rows", what, problems, lines=True)
    return table


def exact_truth(
    table: EventTable, durations: Mapping[str, float] | None, reading: TruthReading
) -> GroundTruth:
    """Read the ground truth as an evaluation does."""
    truth = GroundTruth.from_event_table(
        table,
        durations=durations,
        invalid=reading.invalid,
        overlaps=reading.overlaps,
        ignored_labels=reading.ignored_labels,
    )
    label_map = reading._label_map()
    return truth.relabelled(label_map) if label_map and label_map.names else truth


def usable_truth(
    table: EventTable, durations: Mapping[str, float] | None, reading: TruthReading, findings: Findings
) -> GroundTruth | None:
    """Return the usable part of the ground truth. Unusable events become findings."""
    invalid, overlaps, ignored_labels = reading.invalid, reading.overlaps, reading.ignored_labels
    kept: Overlaps = "keep" if overlaps == "keep" else "merge"
    options: dict[str, Any] = {"durations": durations, "ignored_labels": ignored_labels}
    try:
        try:
            truth = GroundTruth.from_event_table(table, invalid=invalid, overlaps=kept, **options)
        except SedscopeError:  # then events that cannot be evaluated are left out, and points with them
            truth = GroundTruth.from_event_table(table, invalid="drop", overlaps=kept, **options)
    except SedscopeError as error:
        findings.add_failure("ground-truth", error)
        by_id = replace(table, clip=[clip_id(clip) for clip in table.clip], durations={})
        try:  # without durations, and with one name for each clip
            truth = GroundTruth.from_event_table(
                by_id, invalid="drop", overlaps="merge", ignored_labels=ignored_labels
            )
        except SedscopeError:
            return None
    _check_events(table, truth, invalid, overlaps, findings)
    findings.add_notes("late-ends", truth._late_ends(), f"{table.where}")
    findings.add_notes("confidences", table.unused_confidences_note(), f"{table.where}")
    findings.add_notes(
        "ignored-labels",
        unused_ignored_labels_note(ignored_labels, table.columns().label),
        f"{table.where}",
    )
    return reading._as_read(truth)


def _check_events(
    table: EventTable, truth: GroundTruth, invalid: Invalid, overlaps: Overlaps, findings: Findings
) -> None:
    """Find events that cannot be evaluated, and events that overlap, each with its row."""
    events = table.columns()
    clip_number = {clip: i for i, clip in enumerate(truth.clips)}
    label_number = {label: i for i, label in enumerate((*truth.labels, *truth.ignored_labels))}
    event_clips = np.array([clip_number[clip_id(clip)] for clip in events.clip], np.int32)
    ignored = events.ignored_or_labelled(truth.ignored_labels)  # they may overlap the others
    event_labels = np.array(
        [
            2 * label_number[label.strip()] + out
            for label, out in zip(events.label, ignored, strict=True)
        ],
        np.int32,
    )
    kinds = invalid_events(events, event_clips, truth.durations, invalid)
    valid = np.ones(len(events.onset), bool)
    for kind in kinds:
        valid[kind.rows] = False

    def add(kind: str, choice: str, rows: list[str], what: str, advice: str, outcome: str) -> None:
        """Add a finding that is an error if the choice is, with advice; else with what becomes of it."""
        refused = choice == "error"
        what = f"{table.where}: {what}. {advice if refused else outcome}"
        findings.add("error" if refused else "warning", kind, what, rows, lines=True)

    rows = [events.finding(i, agreeing(1, kind.phrase)) for kind in kinds for i in kind.rows]
    if rows:
        what = f"{subject(len(rows), 'event', 'has')} no positive length, or "
        what += f"{'begins' if len(rows) == 1 else 'begin'} before or after the clip"
        hints = "".join(kind.hint(events) for kind in kinds)
        advice = f"{hints} Correct them, or leave them out with `invalid='drop'`".lstrip()
        add("events", invalid, rows, what, advice, "They are left out")
    points = np.flatnonzero(valid & (events.onset == events.offset))
    if len(points):
        rows = [events.finding(i, "has no length") for i in points.tolist()]
        what = f"{subject(len(rows), 'event', 'has')} no length"
        add("points", "keep", rows, what, "", POINTS_ADVICE)
    kept = np.flatnonzero(valid)
    order, overlap = in_order(events.onset, events.offset, event_clips, event_labels, kept)
    overlapping = order[overlap].tolist()
    if overlapping and overlaps != "keep":
        rows = overlap_findings(events, overlapping)
        what = f"{subject(len(rows), 'event', 'overlaps')} another one of the same class and clip"
        advice = (
            "Correct them, merge them with `overlaps='merge'`, or keep them with `overlaps='keep'` for "
            "criteria that pair events (Collar, IoU)"
        )
        add("overlaps", overlaps, rows, what, advice, "They are merged")


def event_times(table: EventTable, reading: TruthReading) -> EventTimes:
    """Return the times of all rows with a label, including events that the ground truth leaves out."""
    label_map = reading._label_map() or LabelMap({})
    events = table.columns()
    labels = {i: label_map.target(label) for i, label in enumerate(events.label)}
    rows = [i for i, label in labels.items() if label is not None]
    clips = [clip_id(events.clip[i]) for i in rows]
    return EventTimes(clips, [str(labels[i]) for i in rows], events.onset[rows], events.offset[rows])


def read_usable_scores(
    path: Location, truth: GroundTruth | None, reading: SystemReading, findings: Findings
) -> Scores | None:
    """Read scores, or the detections that can be used."""
    known = GroundTruth.from_dict({}) if truth is None else truth
    try:
        if reading.columns or holds_events(path, reading.format):
            if reading.stitch is not False:
                refuse_detections(path)
            return _read_detections(path, known, reading, findings)
        return read_system_scores(path, known, reading)
    except SedscopeError as error:
        findings.add_failure("scores", error)
        return None


def _read_detections(
    path: Location, truth: GroundTruth, reading: SystemReading, findings: Findings
) -> Scores | None:
    """Read detections. Rows that cannot be used become findings, and overlapping ones are merged to check
    the rest."""
    durations = None if truth.durations is None else clip_seconds(truth)
    options, points = reading._options(), reading.overlaps == "keep"
    table = read_usable_events(
        path, reading.format, options, durations, findings, detections=True, points=points
    )
    if table is None:
        return None
    findings.add_notes("confidences", table.missing_confidences_notes(options.side))
    clip_ids(table.clip, table.where, table.clip_location)
    events = table.columns()
    overlapping = overlapping_detections(events)
    if overlapping and reading.overlaps == "error":
        what = f"{path}: {subject(len(overlapping), 'event', 'overlaps')} another one of the same class "
        what += f"and clip. {OVERLAP_ADVICE}"
        findings.add("error", "scores", what, overlap_findings(events, overlapping), lines=True)
        reading = replace(reading, overlaps="merge")
    return detections_as_scores(table, truth, reading)
