"""The files of reference events of a data set: one table, and what their folders and rows say beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..data.clip_ids import clip_id
from ..data.event_table import EventTable, concatenate
from ..errors import SedscopeError, listing, raise_together, subject
from ..io.events.files import event_files, read_event_table
from ..io.events.source import EventReadOptions
from ..io.locations import Location, folder_content
from .few_shot import end_of_shots, events_of_file
from .task import Dataset


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
    options = EventReadOptions(dataset.columns, dataset.label, side="truth")
    return read_event_table(path, format=dataset.format, options=options)
