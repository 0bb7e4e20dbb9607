"""The data of a task: where its files are, and the reference events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..data.choices import Side
from ..data.clips import clip_id
from ..data.event_table import EventTable, concatenate
from ..data.ground_truth import GroundTruth
from ..data.label_maps import LabelMap, joined_maps
from ..data.tables import RowLocation
from ..errors import SedscopeError, counted, listing, near_names, raise_together, subject
from ..io.event_files import truth_of_table
from ..io.events.files import event_files, read_event_table
from ..io.label_maps import read_label_map, read_side_map
from ..io.locations import Location, folder_content, input_location
from ..io.side_tables import read_durations
from ..io.systems import SystemReading
from ..io.text_tables import read_text_table
from .task import Dataset, LabelNames, Task
from .task_files import read_task

_CLASS = "Q"  # of the events of few-shot tasks, as predictions are labelled


@dataclass(frozen=True, eq=False)
class DatasetTruth:
    """A data set with its reference events. Chunks are not joined yet, nor cut to regions."""

    name: str
    dataset: Dataset
    folder: Location
    """Where the other files of the data set are."""
    truth: GroundTruth
    system_map: LabelMap | None = None
    """The new names of the labels of systems."""
    recordings: Mapping[str, float] | None = None
    """The durations of the recordings, where the clips of the ground truth are chunks of them."""
    folder_of: Mapping[str, str] = field(default_factory=dict)
    """The folder of each clip, where groups are folders."""
    shot_ends: Mapping[str, int] | None = None
    """When the last shot of each clip ends, in microseconds, where there are shots."""

    @property
    def system_reading(self) -> SystemReading:
        """How the output of systems is read."""
        dataset = self.dataset
        return SystemReading(
            gaps=dataset.gaps, overlaps=dataset.truth.overlaps, label_map=self.system_map
        )


@dataclass(frozen=True, eq=False)
class TaskData:
    """A task with its reference events. They are read once, for all submissions."""

    task: Task
    datasets: Mapping[str, DatasetTruth]


def read_task_data(
    task: Task | str | Location,
    data: str | Location | TaskData | None = None,
    truth: str | Location | None = None,
    durations: str | Location | None = None,
) -> TaskData:
    """Read the reference events of a task, unless that was done before.

    ``data``: the folder of the data sets. ``truth``, ``durations``: instead of it, the files of a task
    with one data set.
    """
    if isinstance(data, TaskData):
        return data
    task = task if isinstance(task, Task) else read_task(task)
    if (data is None) == (truth is None):
        raise SedscopeError(
            "Give either the folder of the data sets (data=) or the ground truth (truth=)."
        )
    if truth is None:
        if durations is not None:
            raise SedscopeError(
                "durations= belongs to truth=. With data=, the folder has the durations."
            )
        assert data is not None
        files = _locate(task, input_location(data))
    else:
        name, *others = task.datasets
        if others:
            raise SedscopeError(
                f"The task {task.name} has {len(task.datasets)} data sets, {listing([*task.datasets])}. Give "
                "the folder of the data sets (`data=`), and a submission with a folder for each."
            )
        path = input_location(truth)
        stated = None if durations is None else input_location(durations)
        files = {name: (folder_of(path), path, stated)}
    return TaskData(
        task, {name: _read(name, task.datasets[name], *located) for name, located in files.items()}
    )


def part_of(folder: Location, name: str, alone: bool) -> Location | None:
    """Return the part of a folder that belongs to a data set, if it exists.

    ``alone``: the task has one data set, so the folder itself may be that part.
    """
    part = folder / name
    if part.exists():
        return part
    return folder if alone and folder.exists() else None


def absent_parts(folder: Location, names: list[str], what: str) -> list[str]:
    """Say which parts of a folder are missing, a message each."""
    if not folder.exists():
        return [f"{folder}: there is no such file or folder"]
    present = [part.name for part in folder_content(folder)]
    messages = []
    for name in names:
        near = near_names(name, present)
        guess = f". There is {near[0]}" if near else ""
        messages.append(f"{folder / name}: {what} is missing{guess}")
    return messages


def _locate(task: Task, data: Location) -> dict[str, tuple[Location, Location, Location | None]]:
    """Find the folder, the ground truth and the durations of each data set."""
    alone = len(task.datasets) == 1
    located: dict[str, tuple[Location, Location, Location | None]] = {}
    missing: list[str] = []
    for name, dataset in task.datasets.items():
        folder = part_of(data, name, alone)
        if folder is None:
            missing += absent_parts(data, [name], f"the folder of the data set {name}")
            continue
        names = dataset.ground_truth
        several = len(dataset.durations) == len(names)
        choices = [
            (_within(folder, file), dataset.durations[i if several else 0])
            for i, file in enumerate(names)
        ]
        existing = next(((truth, durations) for truth, durations in choices if truth.exists()), None)
        if existing is None:
            missing.append(f"{choices[0][0]}: the ground truth of {name} is missing")
            continue
        durations = folder / existing[1]
        located[name] = folder, existing[0], durations if durations.exists() else None
    if missing:
        raise SedscopeError(
            f"The data of the task {task.name} is not complete: "
            f"{listing([*dict.fromkeys(missing)], limit=20)}."
        )
    return located


def _within(folder: Location, name: str) -> Location:
    """Return a part of a folder; ``.`` is the folder itself."""
    return folder if name == "." else folder / name


def folder_of(path: Location) -> Location:
    return path if path.is_dir() or not hasattr(path, "parent") else path.parent


def _read(
    name: str, dataset: Dataset, folder: Location, path: Location, durations: Location | None
) -> DatasetTruth:
    reading = replace(dataset.truth, label_map=_label_map(dataset, "truth", folder))
    if dataset.truth.ignored is not None:
        reading = replace(reading, ignored=folder / str(dataset.truth.ignored))
    references = _read_references(path, dataset)

    def read(seconds: Mapping[str, float] | None) -> GroundTruth:
        return truth_of_table(references.table, replace(reading, durations=seconds))

    seconds: Mapping[str, float] | None = None if durations is None else read_durations(durations)
    listed: list[str] = []
    if isinstance(dataset.clips, str) and dataset.clips != "scored":
        listed, of_clips = read_clips(folder / dataset.clips)
        seconds = of_clips or seconds
    recordings = None
    if dataset.chunks is not None and seconds is not None:
        chunks = read(None).clips
        if {clip_id(clip) for clip in seconds}.isdisjoint(chunks):
            seconds, recordings = None, seconds
    truth = read(seconds)
    if isinstance(dataset.clips, str) and dataset.clips != "scored":
        _require_clips(name, folder / dataset.clips, truth, listed)
        dataset = replace(dataset, clips=None)
    return DatasetTruth(
        name,
        dataset,
        folder,
        truth,
        system_labels(dataset, folder),
        recordings,
        references.folder_of,
        references.shot_ends,
    )


def _require_clips(name: str, path: Location, truth: GroundTruth, listed: list[str]) -> None:
    """Refuse reference events of other clips than a data set lists."""
    expected = {clip_id(clip) for clip in listed}
    others = sorted(expected.symmetric_difference(truth.clips))
    if others:
        raise SedscopeError(
            f"{name}: {path} and the reference events do not have the same clips: {listing(others)}. List "
            "all clips, with their durations."
        )


def read_clips(path: Location) -> tuple[list[str], Mapping[str, float] | None]:
    """Read the table of clips of a data set, ``filename duration`` or only ``filename``."""
    table = read_text_table(path, delimiter=None)
    if "duration" in table.header:
        seconds = read_durations(path)
        return [*seconds], seconds
    [names] = table.columns(("filename",), "The first line of a table of clips is 'filename duration'")
    return [*names], None


def system_labels(dataset: Dataset, folder: Location) -> LabelMap | None:
    """Return the new names of the labels of systems."""
    return _label_map(dataset, "system", folder)


def _label_map(dataset: Dataset, side: Side, folder: Location) -> LabelMap | None:
    """Return the new names of labels of a side: those for both sides and its own."""

    def read(names: LabelNames | None, read_map: Callable[..., LabelMap]) -> LabelMap | None:
        if isinstance(names, str):
            return read_map(folder / names, side=side)
        return None if names is None else LabelMap(names, rule.combine)

    rule = dataset.labels
    one_sided = rule.system if side == "system" else rule.truth
    return joined_maps(read(rule.both, read_label_map), read(one_sided, read_side_map))


@dataclass(frozen=True)
class _References:
    """The rows of all files, before they are checked."""

    table: EventTable
    folder_of: Mapping[str, str] = field(default_factory=dict)
    """The folder of each clip, where groups are folders."""
    shot_ends: Mapping[str, int] | None = None
    """When the last shot of each clip ends, in microseconds, where there are shots."""


def _read_references(path: Location, dataset: Dataset) -> _References:
    """Read the reference events of a data set."""
    in_folders = dataset.groups is not None and dataset.groups.folders
    if dataset.shots is None and not in_folders:
        return _References(_read_table(path, dataset))
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
                table = _events_of_file(table, clip)
                shot_ends[clip] = _end_of_shots(table, dataset.shots)
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
    return _References(
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


def _events_of_file(table: EventTable, clip: str) -> EventTable:
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


def _end_of_shots(table: EventTable, shots: int) -> int:
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
