"""The output of a system: scores, detections, or detections at several thresholds, in any format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..data.choices import EventOverlaps, Gaps
from ..data.chunks import Chunks, Unit
from ..data.clips import clip_ids
from ..data.detections import OVERLAP_ADVICE, event_labels, listed_scores, refuse_unusable_rows
from ..data.event_table import EventTable
from ..data.events import overlap_findings, overlapping_detections, raised_detections
from ..data.ground_truth import GroundTruth
from ..data.label_maps import LabelMap, LabelMapLike, as_label_map
from ..data.labels import MAP_ADVICE, refuse_disjoint
from ..data.scored_events import DetectedColumns
from ..data.scores import Scores, tables_by_clip
from ..data.tables import FrameLike, is_columns, is_frame, is_table
from ..errors import SedscopeError, issue_warnings, listing, located, note, subject
from .events.files import EVENT_FORMATS, event_files, read_event_table
from .events.source import EventReadOptions, Source
from .locations import Address, Location, folder_content, folder_files, input_location
from .scores.files import read_scores, recognise_score_format
from .side_tables import clip_seconds, refuse_detections
from .side_tables import stitch as stitch_scores
from .text_tables import read_bytes, split_header

DetectionSets: TypeAlias = dict[float, dict[str, list[tuple[Any, ...]]]]
"""The detections of all clips, by threshold."""


@dataclass(frozen=True, kw_only=True)
class SystemReading:
    """How scores or detections are read from a file, for functions that read them themselves.

    Parameters
    ----------
    format : str, optional
        Name of the format. By default it is recognised from the content.
    columns : mapping from str to str, optional
        Names of columns of a list of events by role, see :func:`read_events`; with ``format="parquet"``,
        those of a table of scores, see :func:`read_scores`.
    label : str, optional
        The label of events that have none, and of all speakers of an RTTM file.
    classes : sequence of str, optional
        The classes, for score files that do not name them, and for events that become scores.
    frame : float, optional
        Length of frames in seconds, for score files that do not state it.
    gaps : {'error', 'silent'}, default 'error'
        Whether a gap between two frames of score tables, or between two chunks, is an error or a frame in
        which nothing is active.
    overlaps : {'error', 'merge', 'average', 'keep'}, default 'error'
        What to do with overlapping events of one class, see :meth:`Scores.from_events`. ``"keep"`` keeps
        events as they are.
    stitch : mapping, path or None, optional
        Join the chunks of recordings, see :meth:`Scores.stitch`. None takes their starts from their
        names. By default they are not joined.
    unit : {'seconds', 'centiseconds', 'milliseconds'}, default 'seconds'
        Unit of the times in the names of chunks.
    label_map : LabelMap or mapping from str to str or None, optional
        New labels, see :meth:`Scores.relabelled`.

    See Also
    --------
    TruthReading : How ground truth is read.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    >>> scores = sed.Scores.from_arrays({"a": [[0.7], [0.1]]}, classes=["dog"], frame=1.0)
    >>> reading = sed.SystemReading(label_map={"dog": "Dog"})
    >>> sed.validate(scores, truth, system_reading=reading).findings
    ()
    """

    format: str | None = None
    columns: Mapping[str, str] | None = None
    label: str | None = None
    classes: Sequence[str] | None = None
    frame: float | None = None
    gaps: Gaps = "error"
    overlaps: EventOverlaps = "error"
    stitch: Chunks | Address | Literal[False] = False
    unit: Unit = "seconds"
    label_map: LabelMapLike | None = None

    def _options(self) -> EventReadOptions:
        return EventReadOptions(self.columns or {}, self.label, side="system")

    def _label_map(self) -> LabelMap | None:
        return None if self.label_map is None else as_label_map(self.label_map)

    def _read_frames(self, path: Any) -> Scores:
        """Read scores of frames, join their chunks, and give them their new labels."""
        scores = read_scores(
            path,
            format=self.format,
            classes=self.classes,
            frame=self.frame,
            gaps=self.gaps,
            columns=self.columns if self.format == "parquet" or is_table(path) else None,
        )
        return self._as_read(scores)

    def _as_read(self, scores: Scores) -> Scores:
        """Join the chunks of scores, then give them their new labels."""
        label_map = self._label_map()
        if self.stitch is not False:
            scores = stitch_scores(scores, self.stitch, self.unit, self.gaps)
        return scores if label_map is None else scores.relabelled(label_map)


def read_system(
    system: str | Location | Mapping[Any, Any] | FrameLike,
    truth: GroundTruth,
    reading: SystemReading,
    *,
    classes: Iterable[str] | None = None,
) -> Scores | DetectionSets:
    """Read scores or detections in any format, or a folder of detections by threshold; or make scores of
    what is in memory.

    Detections by threshold keep their labels: :func:`evaluate_sets` applies a label map. ``classes``: the
    columns of arrays in memory.
    """
    if is_table(system):
        return reading._read_frames(system)
    if not isinstance(system, (str, Path, Address)):
        columns = reading.classes if classes is None else [*classes]
        return _scores_in_memory(system, truth, reading, columns)
    path = input_location(system)
    if reading.format is None and not reading.columns and path.is_dir() and holds_detection_sets(path):
        return read_detection_sets(path)
    return read_system_scores(path, truth, reading)


def read_system_scores(
    path: Location, truth: GroundTruth | None, reading: SystemReading, classes: Iterable[str] = ()
) -> Scores:
    """Read scores, or detections as scores. Clips that detections do not list have none.

    The labels of the ground truth stay as they are. ``classes``: further classes of a list of detections.
    """
    if reading.format == "parquet" or (not reading.columns and not holds_events(path, reading.format)):
        return reading._read_frames(path)
    if reading.stitch is not False:
        refuse_detections(path)
    table = read_event_table(path, format=reading.format, options=reading._options())
    return _scores_of_events(table, truth, reading, classes)


def _scores_of_events(
    table: EventTable, truth: GroundTruth | None, reading: SystemReading, classes: Iterable[str] = ()
) -> Scores:
    """Make scores from the rows of a table of detections. Errors name the rows."""
    options, overlaps = reading._options(), reading.overlaps
    issue_warnings(table.missing_confidences_notes(options.side), stacklevel=2)
    known = truth is not None and truth.durations is not None
    timed = table.with_times(clip_seconds(truth) if known and truth is not None else table.durations)
    try:
        scores = detections_as_scores(timed, truth, reading, classes)
    except SedscopeError as error:
        _refuse_rows(timed, overlaps)
        raise SedscopeError(f"{table.where}: {error}", lines=error.lines, advice=error.advice) from None
    if overlaps == "merge":
        issue_warnings(_raised_note(table), stacklevel=2)
    return scores


def detections_as_scores(
    table: EventTable, truth: GroundTruth | None, reading: SystemReading, classes: Iterable[str] = ()
) -> Scores:
    """Make scores from the detections of a file, with the labels and clips of the ground truth as well."""
    detected = DetectedColumns.of_table(table)
    return _listed(detected, detected.labels.names, truth, reading, classes)


def _listed(
    events: Any,
    labels: Iterable[str],
    truth: GroundTruth | None,
    reading: SystemReading,
    classes: Iterable[str] = (),
) -> Scores:
    """Make scores from a list of detections. ``labels``: those that it has."""
    return listed_scores(
        events,
        labels,
        (*classes, *(() if truth is None else (*truth.labels, *(reading.classes or ())))),
        clips=() if truth is None else truth.clips,
        overlaps=reading.overlaps,
        label_map=reading._label_map(),
    )


def _scores_in_memory(
    system: Any, truth: GroundTruth, reading: SystemReading, classes: Sequence[str] | None
) -> Scores | DetectionSets:
    """Make scores of arrays, data frames or events; detections by threshold stay as they are."""
    if is_frame(system) or (isinstance(system, Mapping) and is_columns(system)):
        tables = None if reading.columns else tables_by_clip(system)
        if tables is None:
            table = EventTable.from_frame(system, reading.columns, where="detections")
            return _scores_of_events(table, truth, reading)
        return reading._as_read(Scores.from_tables(tables, gaps=reading.gaps))
    if not isinstance(system, Mapping):
        raise SedscopeError(
            f"Scores cannot be made from {type(system).__name__}. Give a path, a data frame, a table of "
            "Arrow, Delta Lake, Iceberg, Ray or Spark, or a mapping from clips to arrays, data frames or "
            "lists of events; or see read_scores, Scores.from_arrays, Scores.from_tables, Scores.from_events "
            "and Scores.from_function."
        )
    if system and all(isinstance(key, (int, float)) for key in system):
        return {float(threshold): events for threshold, events in system.items()}
    if any(map(is_frame, system.values())):
        return reading._as_read(Scores.from_tables(system, gaps=reading.gaps))
    if all(map(_is_event_list, system.values())):
        return _listed(system, event_labels(system), truth, reading)
    if classes is None or reading.frame is None:
        raise SedscopeError(
            "Arrays do not say which classes their columns are and how long a frame is. Give classes= and "
            "frame= in seconds, or use Scores.from_arrays(arrays, classes=…, frame=…)."
        )
    return reading._as_read(Scores.from_arrays(system, classes=classes, frame=reading.frame))


def _is_event_list(events: object) -> bool:
    """Return whether something is a list of events, perhaps empty, and not an array of scores."""
    if not isinstance(events, (list, tuple)):
        return False
    return all(
        isinstance(event, Iterable) and any(isinstance(x, str) for x in event) for event in events
    )


def refuse_other_speakers(
    system: Scores, truth: GroundTruth, path: object, reading: SystemReading
) -> None:
    """Refuse speakers of an RTTM file that the ground truth does not have, and say what to do about it."""
    if reading.label is not None or not str(path).lower().endswith(".rttm"):
        return
    voice = "To evaluate voice activity, give all speakers one label: `label='speech'`."
    with located(path):
        refuse_disjoint(system.named_classes, truth.labels, advice=f"{voice} {MAP_ADVICE}")


def _raised_note(table: EventTable) -> list[str]:
    """Note the detections that count at the higher confidence of one that they were merged with."""
    confidences = None if table.confidence is None else table.checked_rows()[2]
    if confidences is None:
        return []
    columns = table.columns()
    rows = [columns.describe(i) for i in raised_detections(columns, confidences)]
    phrase = (
        "overlaps another one of the same class and clip with a higher confidence. Events that overlap "
    )
    phrase += "were merged and count at the highest of their confidences"
    return note(rows, "detection", phrase, where=table.where)


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
