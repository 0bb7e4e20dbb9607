"""``validate``: everything that is wrong or unusual about scores and ground truth, all at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from ..criteria import Clip, Collar
from ..data.choices import ClipChoice, Coverage, Gaps, Invalid, Missing, Overlaps
from ..data.chunks import Chunks, Unit
from ..data.clip_events import ClipEvents
from ..data.clip_ids import clip_id, clip_ids
from ..data.confidence import ConfidenceLimit
from ..data.detections import OVERLAP_ADVICE, EventOverlaps, event_problem
from ..data.event_checks import (
    invalid_events,
    overlap_findings,
    overlapping_detections,
    overlapping_events,
)
from ..data.event_table import EventTable, as_ignored_labels, unused_ignored_labels_note
from ..data.ground_truth import GroundTruth
from ..data.label_maps import LabelMap, LabelMapLike, as_label_map
from ..data.labels import stripped
from ..data.recordings import ClipPieces
from ..data.scores import ClipScores, Scores
from ..errors import SedscopeError, subject
from ..evaluation.deltas import deltas
from ..io.durations import clip_seconds, read_durations
from ..io.events.files import read_event_table
from ..io.events.source import EventReadOptions
from ..io.locations import Address, Location, input_location
from ..io.systems import detections_as_scores, holds_events, read_system_scores
from .checks import (
    EventTimes,
    check_labels,
    check_scores,
    check_scores_and_truth,
    check_time_unit,
    chosen_clips,
    truth_durations,
)
from .findings import Finding, Findings, SummaryValue, Validation
from .survey import Survey, survey_scores
from .time_checks import check_reference_times, check_times

__all__ = ["Finding", "Validation", "validate"]

_ROOM = 2**30  # bytes of scores that are kept for the second look at them


def validate(
    scores: Scores | str | Location | None = None,
    truth: GroundTruth | str | Location | None = None,
    *,
    durations: str | Location | Mapping[str, float] | None = None,
    classes: Sequence[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    invalid: Invalid = "error",
    overlaps: Overlaps = "error",
    gaps: Gaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    confidence: str | None = None,
    ignored: str | Location | None = None,
    ignored_labels: Iterable[str] = (),
    scores_format: str | None = None,
    scores_columns: Mapping[str, str] | None = None,
    stitch: Chunks | Literal[False] = False,
    unit: Unit = "seconds",
    system_map: LabelMapLike | None = None,
    truth_map: LabelMapLike | None = None,
    threads: int | None = None,
) -> Validation:
    """Check scores and ground truth, and report everything that is wrong or unusual at once.

    What :func:`~sedscope.evaluate` refuses is an error here, too.

    Parameters
    ----------
    scores : Scores, str or Path, optional
        The scores of a system, or where to read them. Without them, only the ground truth is checked:
        ``sed.validate(truth="truth.tsv")``.
    truth : GroundTruth, str or Path, optional
        The reference events, or where to read them.
    durations : mapping of str to float, str or Path, optional
        The duration of each clip in seconds, or the file that states them. Only for ground truth that
        is read from a file.
    classes : sequence of str, optional
        The classes to evaluate. By default, all classes of the scores.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for all clips that have scores. Without it, scores and
        ground truth must have the same clips.
    missing : {"error", "empty"}
        Whether clips that the ground truth does not list are an error, or clips without events.
    coverage : {"error", "any"}
        Whether scores that end long before or after most of their clips are an error or are accepted.
    invalid : {"error", "drop"}
        Whether events of no length, or before or after their clip, are an error or are dropped.
    overlaps : {"error", "merge", "keep"}
        Whether overlapping reference events of one class are an error, are merged, or are kept as they
        are.
    gaps : {"error", "silent"}
        Whether gaps between frames of score tables, and between chunks, are an error, or frames in which
        nothing is active.
    format : str, optional
        The format of the ground truth, as in :func:`sedscope.read_ground_truth`.
    columns : mapping of str to str, optional
        The names of the columns of the ground truth, as in :func:`sedscope.read_ground_truth`.
    label : str, optional
        The label of all events, for ground truth without labels.
    confidence : str, optional
        Which events are references, as in :func:`sedscope.read_ground_truth`.
    ignored : str or Path, optional
        The file of ignored references, as in :func:`sedscope.read_ground_truth`.
    ignored_labels : iterable of str, optional
        Labels of events that are ignored for every class.
    scores_format : str, optional
        The format of the scores, as in :func:`sedscope.read_scores`.
    scores_columns : mapping of str to str, optional
        The names of the columns of a list of detections, as in :func:`sedscope.read_events`.
    stitch : optional
        How to join the scores of recordings that were cut into chunks, as in
        :func:`sedscope.read_scores`.
    unit : str, default "seconds"
        The unit of the chunks' positions.
    system_map, truth_map : LabelMap or mapping from str to str or None, optional
        New labels of the scores and of the ground truth, see :meth:`sedscope.Scores.relabelled`.
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
    if scores is None and truth is None:
        raise SedscopeError("There is nothing to check. Give scores, ground truth, or both.")
    findings = Findings()
    stated_durations = _read_durations(durations, findings)
    new_labels = None if system_map is None else as_label_map(system_map)
    references: GroundTruth | None = None
    times: EventTimes | None = None
    exact: Callable[[], GroundTruth] | None = None
    if isinstance(truth, GroundTruth):
        file_options = (durations, format, columns, label, confidence, ignored)
        if any(option is not None for option in (*file_options, tuple(ignored_labels) or None)):
            raise SedscopeError(
                "durations, format, columns, label, confidence, ignored and ignored_labels only apply to "
                "ground truth read from a file."
            )
        truth = truth if truth_map is None else truth.relabelled(truth_map)
        references = truth
        times = EventTimes(
            [truth.clips[i] for i in truth.event_clips],
            truth.names_of(np.arange(len(truth))),
            truth.onsets,
            truth.offsets,
        )
        exact = partial(_itself, truth)
        for note in truth.warnings:
            findings.add("warning", "ground-truth", note)
    elif truth is not None:
        options = EventReadOptions(columns or {}, label)
        limit = None if confidence is None else ConfidenceLimit.parse(confidence)
        everywhere = as_ignored_labels(ignored_labels)
        table = _read_events(truth, format, options, stated_durations, findings, limit=limit)
        if table is not None and ignored is not None:
            others = _read_events(ignored, format, options, stated_durations, findings)
            table = table if others is None else table.with_ignored(others)
        if table is not None:
            new_truth_labels = LabelMap({}) if truth_map is None else as_label_map(truth_map)
            times = _event_times(table, new_truth_labels)
            references = _usable_truth(table, stated_durations, invalid, overlaps, everywhere, findings)
            exact = partial(
                _exact_truth, table, stated_durations, invalid, overlaps, everywhere, new_truth_labels
            )
            if references is not None and truth_map is not None:
                references = references.relabelled(new_truth_labels)
    chosen = clips if clips is None or isinstance(clips, str) else list(clips)
    classes = None if classes is None else stripped(classes)
    system: Scores | None = None
    if isinstance(scores, Scores):
        system = scores if stitch is False else scores.stitch(stitch, unit=unit, gaps=gaps)
        system = system if new_labels is None else system.relabelled(new_labels)
    elif scores is not None:
        path = input_location(scores)
        with findings.adding_warnings():
            system = _read_scores(
                path,
                references,
                overlaps,
                gaps,
                scores_format,
                scores_columns or {},
                stitch,
                unit,
                new_labels,
                findings,
            )
    system = None if system is None else _kept_in_memory(system)
    with findings.adding_warnings():
        survey = None if system is None else survey_scores(system, threads)
    if survey is not None:
        check_scores(survey, findings)
    elif references is not None:
        check_labels(references, findings)
    if references is not None and times is not None and survey is not None and system is not None:
        check_scores_and_truth(system, survey, references, classes, chosen, missing, invalid, findings)
        check_time_unit(times, survey, references, findings)
        check_times(system, references, times, coverage, findings, threads)
        if exact is not None and not findings.has_errors:
            _check_as_evaluated(system, exact, classes, chosen, missing, coverage, threads, findings)
    if references is not None:
        check_reference_times(references, findings, None if survey is None else survey.ends)
    summary = _summarize(system, survey, references, classes, chosen, missing)
    return Validation(findings.errors_first(), summary)


def _itself(truth: GroundTruth) -> GroundTruth:
    return truth


def _exact_truth(
    table: EventTable,
    durations: Mapping[str, float] | None,
    invalid: Invalid,
    overlaps: Overlaps,
    ignored_labels: Collection[str],
    label_map: LabelMap,
) -> GroundTruth:
    """Read the ground truth as an evaluation does."""
    truth = GroundTruth.from_event_table(
        table, durations=durations, invalid=invalid, overlaps=overlaps, ignored_labels=ignored_labels
    )
    return truth.relabelled(label_map) if label_map.names else truth


def _check_as_evaluated(
    scores: Scores,
    make_truth: Callable[[], GroundTruth],
    classes: Sequence[str] | None,
    clips: ClipChoice,
    missing: Missing,
    coverage: Coverage,
    threads: int | None,
    findings: Findings,
) -> None:
    """Take the steps of an evaluation, with a criterion that is quick, to find what else it refuses."""
    try:
        truth = make_truth()
        first = next(iter(scores), None)
        kept = truth.overlaps == "keep" or (
            first is not None and isinstance(scores.open(first), ClipEvents)
        )
        deltas(
            scores,
            truth,
            Collar() if kept else Clip(),  # only criteria that form pairs take events as they are
            classes=classes,
            clips=clips,
            missing=missing,
            coverage=coverage,
            threads=threads,
        )
    except SedscopeError as error:
        findings.add_failure("evaluation", error)


def _kept_in_memory(scores: Scores) -> Scores:
    """Keep clips that are read once for the second time, as far as there is room."""
    if scores.in_memory:
        return scores
    kept: dict[str, ClipScores] = {}
    room = [_ROOM]

    def load(clip: str) -> ClipScores | ClipPieces | ClipEvents:
        if clip in kept:
            return kept[clip]
        opened = scores.open(clip)
        if isinstance(opened, ClipScores):
            room[0] -= opened.values.nbytes + opened.ticks.nbytes
            if room[0] > 0:
                kept[clip] = opened
        return opened

    return scores.loaded_by(load)


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
    *,
    detections: bool = False,
    limit: ConfidenceLimit | None = None,
) -> EventTable | None:
    """Read the rows of a file that are events. The other rows become findings."""
    problems: list[str] = []
    try:
        table = read_event_table(path, format=format, options=options, problems=problems)
        table = table.with_times(durations or table.durations)
        table, unusable = table.usable_rows(event_problem) if detections else table.usable_rows()
        table = table if limit is None else table.admitted_by(limit)
    except SedscopeError as error:
        findings.add_failure("scores" if detections else "ground-truth", error)
        table, unusable = None, []
    problems += unusable
    if problems:
        what = f"{path}: {subject(len(problems), 'row', 'is')} not "
        what += "an event" if len(problems) == 1 else "events"
        findings.add("error", "scores" if detections else "rows", what, problems, lines=True)
    return table


def _usable_truth(
    table: EventTable,
    durations: Mapping[str, float] | None,
    invalid: Invalid,
    overlaps: Overlaps,
    ignored_labels: Collection[str],
    findings: Findings,
) -> GroundTruth | None:
    """Return the usable part of the ground truth. Unusable events become findings."""
    try:
        truth = GroundTruth.from_event_table(
            table,
            durations=durations,
            invalid="drop",
            overlaps="keep" if overlaps == "keep" else "merge",
            ignored_labels=ignored_labels,
        )
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
    for note in truth.late_ends():
        findings.add("warning", "late-ends", f"{table.where}: {note}")
    for note in table.unused_confidences_note():
        findings.add("warning", "confidences", f"{table.where}: {note}")
    for note in unused_ignored_labels_note(ignored_labels, table.columns().label):
        findings.add("warning", "ignored-labels", f"{table.where}: {note}")
    return truth


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
    kinds = invalid_events(events, event_clips, truth.durations)
    valid = np.ones(len(events.onset), bool)
    for kind in kinds:
        valid[kind.rows] = False
    rows = [events.finding(i, f"{kind.verb} {kind.singular}") for kind in kinds for i in kind.rows]
    if rows:
        what = f"{table.where}: {subject(len(rows), 'event', 'has')} no positive length, or "
        what += "begins" if len(rows) == 1 else "begin"
        what += " before or after the clip"
        what += ". "
        if invalid == "error":
            what += "Correct them, or leave them out with --invalid drop"
        else:
            what += "They are left out"
        findings.add("error" if invalid == "error" else "warning", "events", what, rows, lines=True)
    kept = np.flatnonzero(valid)
    columns = (events.offset[kept], events.onset[kept], event_labels[kept], event_clips[kept])
    order = kept[np.lexsort(columns)]
    overlapping = order[overlapping_events(events, event_clips, event_labels, order)].tolist()
    if overlapping and overlaps != "keep":
        rows = overlap_findings(events, overlapping)
        what = f"{table.where}: {subject(len(rows), 'event', 'overlaps')} another one of the same class "
        what += "and clip. "
        if overlaps == "error":
            what += (
                "Correct them, merge them with --overlaps merge, or keep them with --overlaps keep for "
            )
            what += "criteria that pair events (Collar, IoU)"
        else:
            what += "They are merged"
        findings.add("error" if overlaps == "error" else "warning", "overlaps", what, rows, lines=True)


def _event_times(table: EventTable, label_map: LabelMap) -> EventTimes:
    """Return the times of all rows with a label, including events that the ground truth leaves out."""
    events = table.columns()
    labels = {i: label_map.target(label) for i, label in enumerate(events.label)}
    rows = [i for i, label in labels.items() if label is not None]
    clips = [clip_id(events.clip[i]) for i in rows]
    return EventTimes(clips, [str(labels[i]) for i in rows], events.onset[rows], events.offset[rows])


def _read_scores(
    path: Location,
    truth: GroundTruth | None,
    overlaps: Overlaps,
    gaps: Gaps,
    format: str | None,
    columns: Mapping[str, str],
    stitch: Chunks | Literal[False],
    unit: Unit,
    label_map: LabelMap | None,
    findings: Findings,
) -> Scores | None:
    """Read scores, or the detections that can be used."""
    known = GroundTruth.from_dict({}) if truth is None else truth
    try:
        if columns or holds_events(path, format):
            how = overlaps if stitch is False else "average"
            options = EventReadOptions(columns)
            return _read_detections(path, known, how, format, options, label_map, findings)
        return read_system_scores(
            path, known, gaps=gaps, format=format, stitch=stitch, unit=unit, label_map=label_map
        )
    except SedscopeError as error:
        findings.add_failure("scores", error)
        return None


def _read_detections(
    path: Location,
    truth: GroundTruth,
    overlaps: EventOverlaps,
    format: str | None,
    options: EventReadOptions,
    label_map: LabelMap | None,
    findings: Findings,
) -> Scores | None:
    """Read detections. Rows that cannot be used become findings, and overlapping ones are merged to check
    the rest."""
    durations = None if truth.durations is None else clip_seconds(truth)
    table = _read_events(path, format, options, durations, findings, detections=True)
    if table is None:
        return None
    clip_ids(table.clip, table.where, table.clip_location)
    events = table.columns()
    overlapping = overlapping_detections(events)
    if overlapping and overlaps == "error":
        what = f"{path}: {subject(len(overlapping), 'event', 'overlaps')} another one of the same class "
        what += f"and clip. {OVERLAP_ADVICE}"
        findings.add("error", "scores", what, overlap_findings(events, overlapping), lines=True)
        overlaps = "merge"
    return detections_as_scores(table.events(), truth, overlaps, label_map)


def _summarize(
    scores: Scores | None,
    survey: Survey | None,
    truth: GroundTruth | None,
    classes: Sequence[str] | None,
    clips: ClipChoice,
    missing: Missing,
) -> dict[str, SummaryValue]:
    """Say what would be evaluated."""
    summary: dict[str, SummaryValue] = {}
    if truth is not None:
        summary |= {
            "listed clips": len(truth.clips),
            "reference events": int(np.count_nonzero(~truth.ignored)),
        }
        if truth.ignored.any():
            summary["ignored references"] = int(np.count_nonzero(truth.ignored))
    if scores is None or survey is None:
        return summary
    evaluated_classes = list(classes or scores.classes)
    scored = len(scores) - len(scores.assumed_clips)
    summary |= {"scored clips": scored, "frames": sum(survey.frames.values())}
    summary |= {"classes": evaluated_classes, "types": sorted(survey.types)}
    if truth is None:
        return summary
    durations, listed = truth_durations(truth), set(truth.clips)
    chosen = {clip for clip in chosen_clips(scores, clips) if clip in listed or missing == "empty"}
    evaluated = [clip for clip in scores if clip in chosen]
    has_scores = np.array([clip in chosen and clip in scores for clip in truth.clips], bool)[
        truth.event_clips
    ]
    names = (*truth.labels, *truth.ignored_labels)
    has_class = np.array([label in evaluated_classes for label in names], bool)[truth.event_labels]
    ticks = sum(durations.get(clip, survey.ends.get(clip, 0)) for clip in evaluated)
    summary |= {
        "evaluated clips": len(evaluated),
        "evaluated hours": round(ticks / 3.6e9, 4),
        "evaluated events": int((has_scores & has_class & ~truth.ignored).sum()),
    }
    return summary
