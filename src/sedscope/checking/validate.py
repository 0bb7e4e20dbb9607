"""Everything that is wrong or odd about scores and ground truth, all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..data.alignment import Missing
from ..data.chunks import Chunks, Unit
from ..data.clip_ids import clip_id
from ..data.event_table import EventTable
from ..data.ground_truth import GroundTruth, Invalid, Overlaps
from ..data.scores import Scores
from ..errors import SedscopeError, counted
from ..io.events import Choices, read_event_table
from ..io.ground_truth import read_durations
from ..io.locations import Address, Place, place
from ..io.systems import read_system_scores
from .checks import Times, judge_both, judge_scores, judge_unit
from .findings import Finding, Findings, Validation
from .survey import Survey, survey

__all__ = ["Finding", "Validation", "validate"]


def validate(
    scores: Scores | str | Place,
    truth: GroundTruth | str | Place,
    *,
    durations: str | Place | Mapping[str, float] | None = None,
    classes: Sequence[str] | None = None,
    missing: Missing = "error",
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
    """Look at everything, and say what is wrong, what is odd, and what would be evaluated.

    Arguments are those of :func:`read_scores`, :func:`read_ground_truth` and :func:`evaluate`: what they
    permit is a warning at most.
    """
    findings = Findings()
    ends = _read_durations(durations, findings)
    if isinstance(truth, GroundTruth):
        if durations is not None or format is not None or columns is not None or label is not None:
            raise SedscopeError("durations, format, columns and label are for ground truth in files")
        read_truth: GroundTruth | None = truth
        times: Times | None = Times(
            [truth.clips[i] for i in truth.event_clips], truth.onsets, truth.offsets
        )
        for note in truth.warnings:
            findings.add("warning", "ground-truth", note)
    else:
        choices = Choices(columns or {}, label)
        table = _read_table(truth, format, choices, ends, findings)
        times = None if table is None else _times(table)
        read_truth = None if table is None else _truth_of(table, ends, invalid, overlaps, findings)
    if isinstance(scores, Scores):
        system: Scores | None = scores if stitch is False else scores.stitch(stitch, unit=unit)
    else:
        system = _read_system(place(scores), read_truth, scores_format, stitch, unit, findings)
    seen = None if system is None else survey(system, threads)
    if seen is not None:
        judge_scores(seen, findings)
    if read_truth is not None and times is not None and seen is not None and system is not None:
        judge_both(system, seen, read_truth, classes, missing, invalid, findings)
        judge_unit(times, seen, read_truth, findings)
    return Validation(findings.ordered(), _summary(system, seen, read_truth, classes, missing))


def _read_durations(
    given: str | Place | Mapping[str, float] | None, findings: Findings
) -> Mapping[str, float] | None:
    if not isinstance(given, (str, Path, Address)):
        return given
    try:
        return read_durations(given)
    except SedscopeError as error:
        findings.failed("durations", error)
        return None


def _read_table(
    path: str | Place,
    format: str | None,
    choices: Choices,
    ends: Mapping[str, float] | None,
    findings: Findings,
) -> EventTable | None:
    """The rows of a file that are events; the others are among the findings."""
    try:
        table = read_event_table(path, format=format, choices=choices)
        table = table.spread(ends or table.durations)
    except SedscopeError as error:
        findings.failed("ground-truth", error)
        return None
    table, problems = table.sound()
    if problems:
        said = f"{table.where}: {counted(len(problems), 'row')} not an event"
        findings.add("error", "rows", said, problems)
    return table


def _truth_of(
    table: EventTable,
    ends: Mapping[str, float] | None,
    invalid: Invalid,
    overlaps: Overlaps,
    findings: Findings,
) -> GroundTruth | None:
    """The usable part of the ground truth; what is not usable is among the findings."""
    try:
        lenient = table.ground_truth(ends, "drop", "merge")
    except SedscopeError as error:
        findings.failed("ground-truth", error)
        return None if ends is None else _truth_of(table, None, invalid, overlaps, Findings())
    try:
        table.ground_truth(ends, "error", "merge")
    except SedscopeError as error:
        findings.add("error" if invalid == "error" else "warning", "events", str(error))
    try:
        table.ground_truth(ends, "drop", "error")
    except SedscopeError as error:
        findings.add("error" if overlaps == "error" else "warning", "overlaps", str(error))
    for note in lenient.late_ends():
        findings.add("warning", "late-ends", f"{table.where}: {note}")
    return lenient


def _times(table: EventTable) -> Times:
    """The times of all rows, also of events that the ground truth leaves out."""
    clips, ticks = table.ticks()
    return Times([clip_id(clip) for clip in clips], ticks[:, 0], ticks[:, 1])


def _read_system(
    path: Place,
    truth: GroundTruth | None,
    format: str | None,
    stitch: Chunks | Literal[False],
    unit: Unit,
    findings: Findings,
) -> Scores | None:
    known = GroundTruth.from_dict({}) if truth is None else truth
    try:
        return read_system_scores(path, known, overlaps="merge", format=format, stitch=stitch, unit=unit)
    except SedscopeError as error:
        findings.failed("scores", error)
        return None


def _summary(
    system: Scores | None,
    seen: Survey | None,
    truth: GroundTruth | None,
    classes: Sequence[str] | None,
    missing: Missing,
) -> dict[str, Any]:
    """What would be evaluated."""
    summary: dict[str, Any] = {}
    if truth is not None:
        summary |= {"listed clips": len(truth.clips), "reference events": len(truth)}
    if system is None or seen is None:
        return summary
    chosen = list(classes or system.classes)
    summary |= {"scored clips": len(system), "frames": sum(seen.frames.values())}
    summary |= {"classes": chosen, "types": sorted(seen.types)}
    if truth is None:
        return summary
    stated = {} if truth.durations is None else dict(zip(truth.clips, truth.durations, strict=True))
    listed = set(truth.clips)
    clips = [clip for clip in system if clip in listed or missing == "empty"]
    inside = np.array([clip in system for clip in truth.clips], bool)[truth.event_clips]
    wanted = np.array([label in chosen for label in truth.labels], bool)[truth.event_labels]
    ticks = sum(int(stated.get(clip, seen.ends.get(clip, 0))) for clip in clips)
    summary |= {
        "evaluated clips": len(clips),
        "evaluated hours": round(ticks / 3.6e9, 4),
        "evaluated events": int((inside & wanted).sum()),
    }
    return summary
