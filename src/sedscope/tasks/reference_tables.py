"""The files of reference events of a data set, and the events that a few-shot system is shown."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from ..data.clip_events import ClipEvents
from ..data.clip_ids import clip_id
from ..data.event_table import EventTable, concatenate
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..data.tables import RowLocation
from ..errors import SedscopeError, counted, listing, raise_together, subject
from ..io.events.files import event_files, read_event_table
from ..io.locations import Location, folder_content
from .task import Dataset

_CLASS = "Q"  # as predictions are labelled


def events_of_file(table: EventTable, clip: str) -> EventTable:
    """Return an event for each row of a file, which is named after the clip that it annotates.

    A row with a POS is an event, and one with an UNK an ignored reference, in whichever column they are.
    """
    _refuse_several_clips(table)
    ignored = [cell is True for cell in table.ignored or [False] * len(table)]
    events: dict[RowLocation, int] = {}
    for i in sorted(
        range(len(table)), key=ignored.__getitem__
    ):  # of the marks in a row, POS comes first
        if table.label[i]:
            events.setdefault(table.row_location(i), i)
    rows = sorted(events.values())
    return replace(
        table,
        clip=[clip] * len(rows),
        onset=[table.onset[i] for i in rows],
        offset=[table.offset[i] for i in rows],
        label=[_CLASS] * len(rows),
        ignored=[str(ignored[i]) for i in rows],
        row_location=lambda k: table.row_location(rows[k]),
    )


def _refuse_several_clips(table: EventTable) -> None:
    first: dict[str, int] = {}
    for i, name in enumerate(table.clip):
        first.setdefault(clip_id(name), i)
    if len(first) > 1:
        raise SedscopeError(
            f"{table.where}: the file has events of {counted(len(first), 'clip')}: {listing([*first])}. Give "
            "each clip a file of its own.",
            lines=[table.row_location(i).finding(f"the clip is {clip}") for clip, i in first.items()],
        )


def end_of_shots(table: EventTable, shots: int) -> int:
    """Return when the last shot of a file ends, in microseconds. Refuse a file with fewer events."""
    events = table.columns()
    to_find = np.flatnonzero(~events.ignored_or_labelled(()))
    if len(to_find) < shots:
        raise SedscopeError(
            f"{table.where}: {subject(len(to_find), 'event', 'is')} marked POS, but the first {shots} are "
            "the shots that a system is shown. Leave the file out of the data."
        )
    in_order = to_find[np.argsort(events.onset[to_find], kind="stable")]
    return int(events.offset[in_order[shots - 1]])


def without_shots(truth: GroundTruth, scores: Scores, ends: Mapping[str, int]) -> GroundTruth:
    """Return the references that a system is evaluated on.

    ``ends``: when the last shot of each clip ends, in microseconds.
    """
    limits = [ends[clip] if clip in scores and _detects(clip, scores) else 0 for clip in truth.clips]
    rows = np.flatnonzero(truth.offsets > np.array(limits, np.int64)[truth.event_clips])
    rest = copy(truth)
    rest.event_clips, rest.event_labels = truth.event_clips[rows], truth.event_labels[rows]
    rest.onsets, rest.offsets, rest.ignored = (
        truth.onsets[rows],
        truth.offsets[rows],
        truth.ignored[rows],
    )
    return rest


def _detects(clip: str, scores: Scores) -> bool:
    events = scores.open(clip)
    if not isinstance(events, ClipEvents) or (events.confidences != 1).any():
        raise SedscopeError(
            f"Clip {clip} has scores, but which events are left out depends on what the system detects. Give "
            "a list of detections without confidences."
        )
    return len(events.times) > 0


@dataclass(frozen=True)
class References:
    """The rows of all files, before they are checked."""

    table: EventTable
    folder_of: Mapping[str, str] = field(default_factory=dict)
    """The folder of each clip, where groups are folders."""
    shot_ends: Mapping[str, int] | None = None
    """When the last shot of each clip ends, in microseconds, where there are shots."""


def read_references(path: Location, dataset: Dataset) -> References:
    """Read the reference events of a data set."""
    in_folders = dataset.groups is not None and dataset.groups.folders
    if dataset.shots is None and not in_folders:
        return References(_read_table(path, dataset))
    folders = _folders(path) if in_folders else [path]
    tables: list[EventTable] = []
    folder_of: dict[str, str] = {}
    shot_ends: dict[str, int] = {}
    errors: list[SedscopeError] = []
    twice: list[str] = []
    for folder, file in _files(folders):
        try:
            table = _read_table(file, dataset)
            if dataset.shots is not None:
                clip = clip_id(file.stem)
                table = events_of_file(table, clip)
                shot_ends[clip] = end_of_shots(table, dataset.shots)
        except SedscopeError as error:
            errors.append(error)
            continue
        tables.append(table)
        clips = {clip_id(name) for name in table.clip}
        twice += [
            f"{clip} ({folder_of[clip]} and {folder.name})"
            for clip in sorted(clips)
            if folder_of.get(clip, folder.name) != folder.name
        ]
        folder_of |= dict.fromkeys(clips, folder.name)
    raise_together(errors, what="the ground truth")
    if twice:
        raise SedscopeError(
            f"{path}: {subject(len(twice), 'clip', 'is')} in two folders, so the group is not known: "
            f"{listing(twice)}."
        )
    return References(
        concatenate(tables, str(path)), folder_of, None if dataset.shots is None else shot_ends
    )


def _folders(path: Location) -> list[Location]:
    folders = [
        part for part in folder_content(path) if part.is_dir() and not part.name.startswith((".", "__"))
    ]
    if not folders:
        raise SedscopeError(
            f"{path}: the task has a group for each folder of reference events, but there is no folder here."
        )
    return folders


def _files(folders: list[Location]) -> list[tuple[Location, Location]]:
    """List the files of each folder, with the folder."""
    empty = [str(folder) for folder in folders if folder.is_dir() and not event_files(folder)]
    if empty:
        raise SedscopeError(f"{listing(empty)} holds no files of events.")
    return [
        (folder, file)
        for folder in folders
        for file in (event_files(folder) if folder.is_dir() else [folder])
    ]


def _read_table(path: Location, dataset: Dataset) -> EventTable:
    return read_event_table(path, format=dataset.truth.format, options=dataset.truth._options())
