"""The output of a system: scores, detections, or detections at several thresholds, in any format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from typing import Any, Literal, TypeAlias

from ..data.choices import EventOverlaps, Gaps
from ..data.chunks import Chunks, Unit
from ..data.clip_ids import clip_ids
from ..data.detected_columns import DetectedColumns
from ..data.detections import (
    OVERLAP_ADVICE,
    event_labels,
    listed_scores,
    refuse_unusable_rows,
)
from ..data.event_checks import overlap_findings, overlapping_detections, raised_detections
from ..data.event_table import EventTable
from ..data.ground_truth import GroundTruth
from ..data.label_maps import LabelMap
from ..data.scores import Scores
from ..errors import SedscopeError, issue_warnings, listing, subject
from .events.files import EVENT_FORMATS, event_files, read_event_table
from .events.source import EventReadOptions, Source
from .locations import Address, Location, folder_content, folder_files
from .scores.files import read_scores, recognise_score_format
from .side_tables import clip_seconds, refuse_detections
from .side_tables import stitch as stitch_scores
from .text_tables import read_bytes, split_header

_Events: TypeAlias = "Mapping[str, list[tuple[Any, ...]]] | DetectedColumns"
DetectionSets: TypeAlias = dict[float, dict[str, list[tuple[Any, ...]]]]
"""The detections of all clips, by threshold."""


def read_system(
    path: Location,
    truth: GroundTruth,
    *,
    overlaps: EventOverlaps = "error",
    gaps: Gaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    stitch: Chunks | Address | Literal[False] = False,
    unit: Unit = "seconds",
    label_map: LabelMap | None = None,
) -> Scores | DetectionSets:
    """Read scores or detections in any format, or a folder of detections by threshold.

    The arguments are those of :func:`read_system_scores`. Detections by threshold keep their labels:
    :func:`evaluate_sets` applies a label map.
    """
    if format is None and not columns and path.is_dir() and holds_detection_sets(path):
        return read_detection_sets(path)
    return read_system_scores(
        path,
        truth,
        overlaps=overlaps,
        gaps=gaps,
        format=format,
        columns=columns,
        label=label,
        stitch=stitch,
        unit=unit,
        label_map=label_map,
    )


def read_system_scores(
    path: Location,
    truth: GroundTruth,
    *,
    overlaps: EventOverlaps = "error",
    gaps: Gaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    stitch: Chunks | Address | Literal[False] = False,
    unit: Unit = "seconds",
    label_map: LabelMap | None = None,
) -> Scores:
    """Read scores, or detections as scores. Clips that detections do not list have none.

    ``columns``, ``label``: of a list of detections; see :func:`read_events`. ``stitch``: join the chunks of
    recordings, see :meth:`Scores.stitch`; detections have none. ``label_map``: new labels of the system,
    after that. Those of the ground truth stay.
    """
    if not columns and not holds_events(path, format):
        return _read_frames(path, format, gaps, stitch, unit, label_map)
    if stitch is not False:
        refuse_detections(path)
    durations = None if truth.durations is None else clip_seconds(truth)
    return _read_detections(
        path,
        format,
        EventReadOptions(columns or {}, label, side="system"),
        durations,
        overlaps,
        lambda events: detections_as_scores(events, truth, overlaps, label_map),
    )


def _read_frames(
    path: Location,
    format: str | None,
    gaps: Gaps,
    stitch: Chunks | Address | Literal[False],
    unit: Unit,
    label_map: LabelMap | None,
) -> Scores:
    """Read scores of frames, join chunks, then apply the label map."""
    scores = read_scores(path, format=format, gaps=gaps)
    if stitch is not False:
        scores = stitch_scores(scores, stitch, unit, gaps)
    return scores if label_map is None else scores.relabelled(label_map)


def _read_detections(
    path: Location,
    format: str | None,
    options: EventReadOptions,
    durations: Mapping[str, float] | None,
    overlaps: EventOverlaps,
    as_scores: Callable[[_Events], Scores],
) -> Scores:
    """Read detections and make scores from them. Errors name the rows of the file."""
    table = read_event_table(path, format=format, options=options)
    issue_warnings(table.missing_confidences_notes(options.columns_option), stacklevel=2)
    try:
        if overlaps == "keep":
            timed = table.with_times(table.durations if durations is None else durations)
            return as_scores(DetectedColumns.of_table(timed))
        scores = as_scores(table.events(durations))
    except SedscopeError as error:
        _refuse_rows(table.with_times(durations or table.durations), overlaps)
        raise SedscopeError(f"{path}: {error}", lines=error.lines, advice=error.advice) from None
    if overlaps == "merge":
        issue_warnings(_raised_note(table), stacklevel=2)
    return scores


def _raised_note(table: EventTable) -> list[str]:
    """Note the detections that count at the higher confidence of one that they were merged with."""
    confidences = None if table.confidence is None else table.checked_rows()[2]
    if confidences is None:
        return []
    columns = table.columns()
    rows = raised_detections(columns, confidences)
    if not rows:
        return []
    number = subject(len(rows), "detection", "overlaps")
    where = listing([columns.describe(i) for i in rows])
    return [
        f"{table.where}: {number} another one of the same class and clip with a higher confidence. Events "
        f"that overlap were merged and count at the highest of their confidences: {where}."
    ]


def _refuse_rows(table: EventTable, overlaps: EventOverlaps) -> None:
    """Refuse rows that are not usable as detections, and name them."""
    usable = refuse_unusable_rows(table, points=overlaps == "keep")
    clip_ids(usable.clip, usable.where, usable.clip_location)
    columns = usable.columns()
    rows = overlapping_detections(columns) if overlaps == "error" else []
    if rows:
        number = subject(len(rows), "event", "overlaps")
        examples = listing([columns.describe(i) for i in rows])
        raise SedscopeError(
            f"{table.where}: {number} another one of the same class and clip: {examples}. {OVERLAP_ADVICE}",
            lines=overlap_findings(columns, rows),
            advice=OVERLAP_ADVICE,
        )


def read_scores_or_detections(
    path: Location,
    classes: Iterable[str] = (),
    *,
    overlaps: EventOverlaps = "error",
    gaps: Gaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    stitch: Chunks | Address | Literal[False] = False,
    unit: Unit = "seconds",
    label_map: LabelMap | None = None,
) -> Scores:
    """Read scores, or detections as scores, without a ground truth.

    ``classes``: those that a list of detections may have, besides those that occur in it. The other
    arguments are those of :func:`read_system_scores`.
    """
    if not columns and not holds_events(path, format):
        return _read_frames(path, format, gaps, stitch, unit, label_map)
    if stitch is not False:
        refuse_detections(path)

    def as_scores(events: _Events) -> Scores:
        return listed_scores(
            events, event_labels(events), classes, overlaps=overlaps, label_map=label_map
        )

    options = EventReadOptions(columns or {}, side="system")
    return _read_detections(path, format, options, None, overlaps, as_scores)


def detections_as_scores(
    events: _Events,
    truth: GroundTruth,
    overlaps: EventOverlaps,
    label_map: LabelMap | None = None,
) -> Scores:
    """Make scores from the detections of a file. The truth may have more clips and classes."""
    return listed_scores(
        events,
        event_labels(events),
        truth.labels,
        clips=truth.clips,
        overlaps=overlaps,
        label_map=label_map,
    )


def holds_events(path: Location, format: str | None) -> bool:
    """Return whether a file or folder is read as events, not as scores."""
    if format is not None:
        return format in EVENT_FORMATS
    if not path.exists() or recognise_score_format(path) is not None:
        return False
    files = event_files(path) if path.is_dir() else [path]
    first = next((file for file in files if file.stat().st_size), None)
    return bool(files) if first is None else not Source(first).is_score_table


def holds_detection_sets(folder: Location) -> bool:
    """Return whether a folder holds DCASE tables of detections, one per threshold."""
    first = next(iter(folder_content(folder, "*.tsv")), None)
    if first is None or not first.is_file() or not first.stat().st_size:
        return False
    try:
        return {"filename", "event_label"} <= set(split_header(read_bytes(first), first)[0])
    except SedscopeError:
        return False  # the reader of scores says what is wrong


def read_detection_sets(folder: Location) -> DetectionSets:
    """Read a folder with a DCASE table of detections per threshold, such as ``0.5.tsv``."""
    files: dict[float, Location] = {}
    for file in folder_files(folder, lambda name: fnmatch(name, "*.tsv")):
        threshold = _threshold(file)
        if threshold in files:
            raise SedscopeError(
                f"{folder}: two files have the same threshold: {files[threshold].name}, {file.name}."
            )
        files[threshold] = file
    return {threshold: _read_detection_set(file) for threshold, file in files.items()}


def _read_detection_set(file: Location) -> dict[str, list[tuple[Any, ...]]]:
    table = read_event_table(file)
    events = table.events()
    if any(event[1] <= max(event[0], 0) for of_clip in events.values() for event in of_clip):
        _refuse_rows(table, "merge")
    return events


def _threshold(file: Location) -> float:
    """Return the number that a file name is, or ends with."""
    try:
        return float(file.stem)
    except ValueError:
        match = re.search(r"(?<!\d)\d+(\.\d+)?(e-?\d+)?$", file.stem)
    if not match:
        raise SedscopeError(
            f"{file}: the name of a file of detections must end with its threshold, as in 0.5.tsv."
        )
    return float(match.group())
