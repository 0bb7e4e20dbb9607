"""Conversion of scores and events from one format to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..data.detections import event_labels
from ..data.event_table import EventTable
from ..data.events import Events
from ..data.label_maps import AppliedMap, LabelMap, no_effect_note
from ..data.labels import shown_label
from ..data.scores import Scores
from ..data.times import to_ticks
from ..errors import SedscopeError, counted, issue_warnings, listing
from ..progress import ProgressChoice
from .atomic_write import check_output
from .event_files import write_event_set
from .events.files import EVENT_FORMATS, format_of_name, read_event_table, recognise_event_format
from .events.format import Boxes, EventSet
from .events.source import EventReadOptions, Source
from .locations import Address, Location, check_input, input_location, local_path
from .output_checks import refuse_overwriting
from .scores.files import SCORE_FORMATS, recognise_score_format, write_scores
from .side_tables import load_durations, refuse_detections, write_durations
from .systems import SystemReading


@dataclass(frozen=True)
class Conversion:
    """What was converted.

    Attributes
    ----------
    kind : {'scores', 'events'}
        What the source holds.
    source : str
        The format that was read.
    target : str
        The format that was written.
    clips : int
        Number of clips.
    """

    kind: Literal["scores", "events"]
    source: str
    target: str
    clips: int

    def __str__(self) -> str:
        return f"{counted(self.clips, 'clip')} of {self.kind}, from {self.source} to {self.target}"


def convert(
    source: str | Location,
    target: str | Path,
    *,
    reading: SystemReading | None = None,
    to: str | None = None,
    durations: str | Location | Mapping[str, float] | None = None,
    durations_output: str | Path | None = None,
    lossy: bool = False,
    boxes: Boxes | None = None,
    progress: ProgressChoice = None,
) -> Conversion:
    """Convert scores or events to another format.

    Parameters
    ----------
    source : path or address
        Scores or events in any format that ``sedscope formats`` lists.
    target : path
        The file or new folder to write.
    reading : SystemReading, optional
        How `source` is read: its format, columns, label map and so on. Events without confidences that
        become one class are merged where they overlap. Events with different confidences that would
        overlap are an error, because only scores can hold the result.
    to : str, optional
        Format of `target`. By default the name of `target` selects it.
    durations : path, address or mapping from str to float, optional
        Durations of the clips in seconds, for labels of whole clips and for formats that hold them.
    durations_output : path, optional
        A file to write the durations of the source to.
    lossy : bool, default False
        Whether to leave out what the target format cannot hold. By default that is an error.
    boxes : Boxes, optional
        What tables of Raven say of sound files and frequencies. Frequencies of `source` are kept.
    progress : bool or callable, optional
        For scores: True shows a bar in a notebook or terminal. A function is called with the number of
        clips written and the number of all clips.

    Returns
    -------
    Conversion
        What was converted.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sed.write_scores(scores, Path(folder, "scores.npz"))
    ...     _ = sed.convert(Path(folder, "scores.npz"), Path(folder, "scores.parquet"))
    ...     sed.read_scores(Path(folder, "scores.parquet")).classes
    ('Dog',)
    """
    source_location, target_path = input_location(source), local_path(target)
    reading = SystemReading() if reading is None else reading
    format, overlaps, new_labels = reading.format, reading.overlaps, reading._label_map()
    tables = [path for path in (durations, reading.stitch) if isinstance(path, (str, Path, Address))]
    refuse_overwriting([target_path, durations_output], [source_location, *tables])
    check_output(target_path, "either")
    if durations_output is not None:
        check_output(local_path(durations_output))
    if _holds_scores(source_location, format):
        _refuse(
            source_location,
            "scores",
            columns=reading.columns,
            label=reading.label,
            durations=durations,
            overlaps=None if overlaps == "error" else overlaps,
            durations_output=durations_output,
        )
        target_format = to or _format_by_name(target_path, "scores")
        if target_format in EVENT_FORMATS:
            raise SedscopeError(
                f"{source_location} holds scores, but {target_format} holds events. Detect events at "
                "a threshold instead (sedscope detect)."
            )
        SCORE_FORMATS.named(target_format)  # refuses an unknown one
        scores = reading._read_frames(source_location)
        _warn_without_effect(scores.label_maps)
        source_format = format or _score_format_name(source_location)
        write_scores(scores, target_path, format=target_format, lossy=lossy, progress=progress)
        return Conversion("scores", source_format, target_format, len(scores))
    if not source_location.is_dir():
        check_input(source_location)
    target_format = to or _format_by_name(target_path, "events")
    options = EventReadOptions(reading.columns or {}, reading.label)
    table, source_format = _read_events(source_location, format, options)
    issue_warnings(table.missing_confidences_notes(), stacklevel=2)
    stated = load_durations(durations)
    seconds = table.durations if stated is None else stated
    events = table.events(seconds)
    if target_format in SCORE_FORMATS:
        if reading.stitch is not False:
            refuse_detections(source_location)
        if overlaps == "keep":
            raise SedscopeError(
                f"{target_format} holds scores of frames, but `overlaps='keep'` keeps events as they are. "
                "Merge them, or average them if they are windows (`overlaps='average'`)."
            )
        scores = Scores.from_events(events, classes=reading.classes, overlaps=overlaps)
        if new_labels is not None:
            scores = scores.relabelled(new_labels)
            _warn_without_effect(scores.label_maps)
        write_scores(scores, target_path, format=target_format, lossy=lossy, progress=progress)
        return Conversion("events", source_format, target_format, len(scores))
    _refuse(
        source_location,
        "events",
        classes=reading.classes,
        frame=reading.frame,
        gaps=None if reading.gaps == "error" else reading.gaps,
        overlaps=None if overlaps == "error" else overlaps,
        stitch=None if reading.stitch is False else True,
    )
    if new_labels is not None:
        _warn_without_effect([AppliedMap(new_labels, tuple(sorted(event_labels(events))))])
        events = relabelled_events(events, new_labels)
    of_target = EVENT_FORMATS[target_format]
    uses_durations = of_target.uses_durations
    written = seconds if stated is None or uses_durations else {}
    if durations_output is not None:
        write_durations(seconds, durations_output)
        written = written if uses_durations else {}
    boxes = replace(boxes or Boxes(), frequencies=table.frequencies_by_event())
    write_event_set(EventSet(events, written, boxes), target_path, format=target_format, lossy=lossy)
    return Conversion("events", source_format, target_format, len(events))


def _warn_without_effect(applied: Iterable[AppliedMap]) -> None:
    issue_warnings(no_effect_note(applied), stacklevel=3)


def _refuse(path: Location, kind: str, **options: object) -> None:
    """Refuse options that have no meaning for what is converted."""
    used = [f"{name}=" for name, value in options.items() if value is not None]
    if used:
        raise SedscopeError(f"{path} holds {kind}, so {listing(used)} cannot be used.")


def _holds_scores(path: Location, format: str | None) -> bool:
    if format is not None and format not in {**SCORE_FORMATS, **EVENT_FORMATS}:
        choices = listing([*SCORE_FORMATS, *EVENT_FORMATS], limit=30)
        raise SedscopeError(f"There is no format {format!r}. Choose from {choices}.")
    return format in SCORE_FORMATS if format is not None else recognise_score_format(path) is not None


def _read_events(
    path: Location, format: str | None, options: EventReadOptions
) -> tuple[EventTable, str]:
    """Read events, and name their format."""
    table = read_event_table(path, format=format, options=options)
    if format is not None or path.is_dir():
        return table, format or "events"
    return table, recognise_event_format(Source(path), options).name


def _score_format_name(path: Location) -> str:
    score_format = recognise_score_format(path)
    return "" if score_format is None else score_format.name


def _format_by_name(path: Path, kind: Literal["scores", "events"]) -> str:
    """Return the format that a file name selects."""
    formats = {**SCORE_FORMATS} if kind == "scores" else {**EVENT_FORMATS}
    by_suffix = SCORE_FORMATS.by_suffix()
    if kind == "events":  # they can become scores, where no format of events has such names
        del by_suffix[""]
        by_suffix |= EVENT_FORMATS.by_suffix()
    choice = f"{kind}. Choose one with `to=` from {listing([*formats], limit=30)}"
    return format_of_name(path, by_suffix, choice)


_Event: TypeAlias = tuple[Any, ...]
"""``(onset, offset, label[, confidence])``, times in seconds."""


def relabelled_events(events: Mapping[str, Iterable[_Event]], label_map: LabelMap) -> Events[_Event]:
    """Give events their new labels, in the order of their clip.

    Events of different labels that become one class are merged where they overlap, if their confidences
    are equal. Otherwise they are refused: one event cannot have two confidences.
    """
    return Events((clip, _clip_events(clip, of_clip, label_map)) for clip, of_clip in events.items())


def _clip_events(clip: str, events: Iterable[_Event], label_map: LabelMap) -> list[_Event]:
    by_target: dict[str, list[tuple[int, _Event]]] = {}
    for position, event in enumerate(events):
        target = label_map.target(event[2])
        if target is not None:
            by_target.setdefault(target, []).append((position, event))
    renamed: list[tuple[int, _Event]] = []
    for target, of_class in by_target.items():
        for group in _overlapping(of_class):
            if _of_several_labels(group):
                renamed.append((min(group)[0], _merged(clip, group, target)))
            else:
                renamed += [(i, (*event[:2], target, *event[3:])) for i, event in group]
    return [event for _, event in sorted(renamed, key=lambda pair: pair[0])]


def _of_several_labels(group: Sequence[tuple[int, _Event]]) -> bool:
    """Return whether events overlap because of the map alone. Those of one label are refused elsewhere."""
    labels = {event[2] for _, event in group}
    of_labels = [[pair for pair in group if pair[1][2] == label] for label in labels]
    return len(labels) > 1 and all(len(_overlapping(events)) == len(events) for events in of_labels)


def _merged(clip: str, group: Sequence[tuple[int, _Event]], target: str) -> _Event:
    events = [event for _, event in group]
    if len({event[3:] for event in events}) > 1:
        times = " and ".join(f"{onset:g}–{offset:g} s" for onset, offset, *_ in events[:2])
        raise SedscopeError(
            f"clip {clip}: events of {shown_label(target)} overlap with different confidences ({times}). A "
            "list of events cannot hold the result. Convert to scores (`to='store'`), or use the label map "
            "when you evaluate."
        )
    onset, offset = min(event[0] for event in events), max(event[1] for event in events)
    return (onset, offset, target, *events[0][3:])


def _overlapping(events: Sequence[tuple[int, _Event]]) -> list[list[tuple[int, _Event]]]:
    """Group the events that overlap, directly or through others. Events that touch do not."""
    groups: list[list[tuple[int, _Event]]] = []
    latest = 0
    for position, event in sorted(events, key=lambda pair: pair[1][:2]):
        onset, offset = (int(ticks) for ticks in to_ticks([event[0], event[1]]))
        if groups and onset < latest:
            groups[-1].append((position, event))
            latest = max(latest, offset)
        else:
            groups.append([(position, event)])
            latest = offset
    return groups
