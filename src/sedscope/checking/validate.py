"""``validate``: everything that is wrong or unusual about scores and ground truth, all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ..data.choices import Coverage, Invalid, Missing, Overlaps
from ..data.chunks import Chunks, Unit
from ..data.clip_ids import clip_id
from ..data.event_table import EventTable
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..errors import SedscopeError, subject
from ..io.durations import read_durations
from ..io.events.files import read_event_table
from ..io.events.source import EventReadOptions
from ..io.locations import Address, Location, location
from ..io.systems import read_system_scores
from .checks import (
    EventTimes,
    check_scores,
    check_scores_and_truth,
    check_time_unit,
    truth_durations,
)
from .findings import Finding, Findings, SummaryValue, Validation
from .survey import Survey, survey_scores
from .time_checks import check_times

__all__ = ["Finding", "Validation", "validate"]


def validate(
    scores: Scores | str | Location,
    truth: GroundTruth | str | Location,
    *,
    durations: str | Location | Mapping[str, float] | None = None,
    classes: Sequence[str] | None = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    invalid: Invalid = "error",
    overlaps: Overlaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    scores_format: str | None = None,
    stitch: Chunks | Literal[False] = False,
    unit: Unit = "seconds",
    threads: int | None = None,
) -> Validation:
    """Check scores and ground truth, and report everything that is wrong or unusual at once.

    Parameters
    ----------
    scores : Scores, str or Path
        The scores of a system, or where to read them.
    truth : GroundTruth, str or Path
        The reference events, or where to read them.
    durations : mapping of str to float, str or Path, optional
        The duration of each clip in seconds, or the file that states them. Only for ground truth that
        is read from a file.
    classes : sequence of str, optional
        The classes to evaluate. By default, all classes of the scores.
    missing : {"error", "empty"}
        Whether clips that the ground truth does not list are an error, or clips without events.
    coverage : {"error", "any"}
        Whether scores that end long before or after most of their clips are an error or are accepted.
    invalid : {"error", "drop"}
        Whether events of no length, or after the end of their clip, are an error or are dropped.
    overlaps : {"error", "merge"}
        Whether overlapping reference events of one class are an error or are merged.
    format : str, optional
        The format of the ground truth, as in :func:`sedscope.read_ground_truth`.
    columns : mapping of str to str, optional
        The names of the columns of the ground truth, as in :func:`sedscope.read_ground_truth`.
    label : str, optional
        The label of all events, for ground truth without labels.
    scores_format : str, optional
        The format of the scores, as in :func:`sedscope.read_scores`.
    stitch : optional
        How to join the scores of recordings that were cut into chunks, as in
        :func:`sedscope.read_scores`.
    unit : str, default "seconds"
        The unit of the chunks' positions.
    threads : int, optional
        The number of threads. By default, one per core.

    Returns
    -------
    Validation
        The findings and a summary. An option that permits a problem turns its error into a warning.

    Raises
    ------
    SedscopeError
        If an option does not fit the others. Problems of the data are findings.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    >>> scores = sed.Scores.from_arrays({"a": [[0.1], [0.1]]}, classes=["Dog"], frame=1.0)
    >>> for finding in sed.validate(scores, truth).findings:
    ...     print(finding)
    warning: 1 class has the same score in every frame: Dog.
    """
    findings = Findings()
    stated_durations = _read_durations(durations, findings)
    if isinstance(truth, GroundTruth):
        if durations is not None or format is not None or columns is not None or label is not None:
            raise SedscopeError(
                "durations, format, columns and label only apply to ground truth read from a file."
            )
        references: GroundTruth | None = truth
        times: EventTimes | None = EventTimes(
            [truth.clips[i] for i in truth.event_clips],
            [truth.labels[i] for i in truth.event_labels],
            truth.onsets,
            truth.offsets,
        )
        for note in truth.warnings:
            findings.add("warning", "ground-truth", note)
    else:
        options = EventReadOptions(columns or {}, label)
        table = _read_events(truth, format, options, stated_durations, findings)
        times = None if table is None else _event_times(table)
        references = (
            None
            if table is None
            else _usable_truth(table, stated_durations, invalid, overlaps, findings)
        )
    if isinstance(scores, Scores):
        system: Scores | None = scores if stitch is False else scores.stitch(stitch, unit=unit)
    else:
        system = _read_scores(location(scores), references, scores_format, stitch, unit, findings)
    survey = None if system is None else survey_scores(system, threads)
    if survey is not None:
        check_scores(survey, findings)
    if references is not None and times is not None and survey is not None and system is not None:
        check_scores_and_truth(system, survey, references, classes, missing, invalid, findings)
        check_time_unit(times, survey, references, findings)
        check_times(system, references, times, coverage, findings, threads)
    summary = _summarize(system, survey, references, classes, missing)
    return Validation(findings.errors_first(), summary)


def _read_durations(
    durations: str | Location | Mapping[str, float] | None, findings: Findings
) -> Mapping[str, float] | None:
    if not isinstance(durations, (str, Path, Address)):
        return durations
    try:
        return read_durations(durations)
    except SedscopeError as error:
        findings.add_failure("durations", error)
        return None


def _read_events(
    path: str | Location,
    format: str | None,
    options: EventReadOptions,
    durations: Mapping[str, float] | None,
    findings: Findings,
) -> EventTable | None:
    """Read the rows of a file that are events. The other rows become findings."""
    try:
        table = read_event_table(path, format=format, options=options)
        table = table.with_times(durations or table.durations)
    except SedscopeError as error:
        findings.add_failure("ground-truth", error)
        return None
    table, problems = table.usable_rows()
    if problems:
        what = f"{table.where}: {subject(len(problems), 'row', 'is')} not "
        what += "an event" if len(problems) == 1 else "events"
        findings.add("error", "rows", what, problems)
    return table


def _usable_truth(
    table: EventTable,
    durations: Mapping[str, float] | None,
    invalid: Invalid,
    overlaps: Overlaps,
    findings: Findings,
) -> GroundTruth | None:
    """Return the usable part of the ground truth. Unusable events become findings."""
    try:
        truth = GroundTruth.from_event_table(
            table, durations=durations, invalid="drop", overlaps="merge"
        )
    except SedscopeError as error:
        findings.add_failure("ground-truth", error)
        return None if durations is None else _usable_truth(table, None, invalid, overlaps, Findings())
    try:
        GroundTruth.from_event_table(table, durations=durations, overlaps="merge")
    except SedscopeError as error:
        findings.add("error" if invalid == "error" else "warning", "events", str(error))
    try:
        GroundTruth.from_event_table(table, durations=durations, invalid="drop")
    except SedscopeError as error:
        findings.add("error" if overlaps == "error" else "warning", "overlaps", str(error))
    for note in truth.late_ends():
        findings.add("warning", "late-ends", f"{table.where}: {note}")
    return truth


def _event_times(table: EventTable) -> EventTimes:
    """Return the times of all rows, including events that the ground truth leaves out."""
    events = table.columns()
    clips = [clip_id(clip) for clip in events.clip]
    return EventTimes(clips, events.label, events.onset, events.offset)


def _read_scores(
    path: Location,
    truth: GroundTruth | None,
    format: str | None,
    stitch: Chunks | Literal[False],
    unit: Unit,
    findings: Findings,
) -> Scores | None:
    references = GroundTruth.from_dict({}) if truth is None else truth
    try:
        return read_system_scores(
            path, references, overlaps="merge", format=format, stitch=stitch, unit=unit
        )
    except SedscopeError as error:
        findings.add_failure("scores", error)
        return None


def _summarize(
    scores: Scores | None,
    survey: Survey | None,
    truth: GroundTruth | None,
    classes: Sequence[str] | None,
    missing: Missing,
) -> dict[str, SummaryValue]:
    """Say what would be evaluated."""
    summary: dict[str, SummaryValue] = {}
    if truth is not None:
        summary |= {"listed clips": len(truth.clips), "reference events": len(truth)}
    if scores is None or survey is None:
        return summary
    evaluated_classes = list(classes or scores.classes)
    summary |= {"scored clips": len(scores), "frames": sum(survey.frames.values())}
    summary |= {"classes": evaluated_classes, "types": sorted(survey.types)}
    if truth is None:
        return summary
    durations, listed = truth_durations(truth), set(truth.clips)
    clips = [clip for clip in scores if clip in listed or missing == "empty"]
    has_scores = np.array([clip in scores for clip in truth.clips], bool)[truth.event_clips]
    has_class = np.array([label in evaluated_classes for label in truth.labels], bool)[
        truth.event_labels
    ]
    ticks = sum(durations.get(clip, survey.ends.get(clip, 0)) for clip in clips)
    summary |= {
        "evaluated clips": len(clips),
        "evaluated hours": round(ticks / 3.6e9, 4),
        "evaluated events": int((has_scores & has_class).sum()),
    }
    return summary
