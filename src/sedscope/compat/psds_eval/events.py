"""Tables of events and durations, and events as arrays of microseconds and numbers of clips and classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import sha256
from ...data.clips import clip_id, is_duration
from ...data.events import overlapping
from ...data.times import Ticks, to_ticks
from ...errors import listing, subject
from .results import WORLD, PSDSEvalError

EVENT_COLUMNS = ["filename", "onset", "offset", "event_label"]
METADATA_COLUMNS = ["filename", "duration"]

ClipKey = Callable[[str], str]
Numbers = NDArray[np.int32]


def require_frame(table: Any, columns: Sequence[str], name: str, *, may_be_empty: bool = False) -> None:
    """Refuse what is not a pandas frame with these columns, and one without rows."""
    import pandas

    if not isinstance(table, pandas.DataFrame):
        raise PSDSEvalError(
            f"The {name} data must be provided in a pandas.DataFrame, not {type(table).__name__}."
        )
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise PSDSEvalError(
            f"The {name} data columns need to match the following: {', '.join(columns)}. "
            f"Add {listing(missing)}."
        )
    if table.empty and not may_be_empty:
        raise PSDSEvalError(f"The {name} dataframe provided is empty. It needs at least one row.")


def event_table(table: Any, name: str) -> Any:
    """Return the four columns of events, with new row numbers and without white space around names."""
    require_frame(table, EVENT_COLUMNS, name, may_be_empty=True)
    events = table[EVENT_COLUMNS].reset_index(drop=True)
    swapped = events[events.onset > events.offset]
    if len(swapped):
        first = swapped.iloc[0]
        raise PSDSEvalError(
            f"The {name} dataframe provided has events with onset > offset. "
            f"{subject(len(swapped), 'row', 'does')}: correct them (first: {first.filename}, "
            f"{first.onset:g}–{first.offset:g} s)."
        )
    return _without_spaces(events, "filename", "event_label")


def _without_spaces(table: Any, *columns: str) -> Any:
    """Return a table without white space around names."""
    for column in columns:
        names = table[column].tolist()
        stripped = [text.strip() if isinstance(text, str) else text for text in names]
        if any(a is not b and a != b for a, b in zip(names, stripped, strict=True)):
            table = table.assign(**{column: stripped})
    return table


def metadata_table(table: Any) -> Any:
    """Return the metadata in order of files, the first row of each. Refuse files without a duration."""
    require_frame(table, METADATA_COLUMNS, "metadata")
    files = _without_spaces(table.reset_index(drop=True), "filename")
    files = files.drop_duplicates("filename").sort_values("filename")
    wrong = [
        f"{name} ({seconds} s)"
        for name, seconds in zip(files.filename.tolist(), files.duration.tolist(), strict=True)
        if name != name or not is_duration(seconds)
    ]
    if wrong:
        raise PSDSEvalError(
            f"The metadata need a file name and a number of seconds above 0 in every row: {listing(wrong)}."
        )
    return files


def with_world(events: Any, metadata: Any) -> Any:
    """Return references and, for each file, a row of the world, with their durations and ids.

    Rows without an event are left out. An id is the number of a row before sorting.
    """
    import pandas

    world = pandas.DataFrame(
        {"filename": metadata.filename, "onset": 0.0, "offset": metadata.duration, "event_label": WORLD}
    )
    tables = [events, world] if len(events) else [world]
    table = pandas.concat(tables, ignore_index=True)
    table = table[table.offset > table.onset].dropna().sort_values(["filename", "onset"])
    return table.assign(duration=table.offset - table.onset, id=table.index)


def table_id(events: Any) -> str:
    """Return the id of an operating point. It is the same for the same detections in any order."""
    import pandas

    rows = events[events.offset > events.onset].sort_values(EVENT_COLUMNS)
    hashes = pandas.util.hash_pandas_object(rows, index=False)
    return sha256(hashes.to_numpy().tobytes()).hexdigest()


def as_text(name: Any) -> str:
    """Return a name as text. Whole numbers may be floats, as they are in columns with empty cells."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    return str(name).strip()


def clip_key(*columns: Iterable[Any]) -> ClipKey:
    """Choose what tells files apart: their clip ids, or whole names where two files have the same id."""
    for column in columns:
        names = {as_text(name) for name in column if name == name}
        if len({clip_id(name) for name in names}) < len(names):
            return str
    return clip_id


@dataclass(frozen=True, eq=False)
class Events:
    """The events of a table, in the order of its rows. Rows that are not complete are left out."""

    clip_names: list[str]
    label_names: list[str]
    clips: Numbers
    """Indices into `clip_names`."""
    labels: Numbers
    onsets: Ticks
    offsets: Ticks

    @classmethod
    def from_table(cls, table: Any, key: ClipKey, name: str) -> Events:
        """Read the four columns of a pandas frame. ``name``: what messages call it."""
        rows = table.dropna()
        try:
            onsets, offsets = (
                to_ticks(rows[column].to_numpy(np.float64)) for column in ("onset", "offset")
            )
        except (TypeError, ValueError) as error:
            raise PSDSEvalError(
                f"The {name} has times that are not numbers of seconds: {error}"
            ) from None
        clips, clip_names = _numbered(rows.filename, key)
        labels, label_names = _numbered(rows.event_label, str)
        events = cls(clip_names, label_names, clips, labels, onsets, offsets)
        return events.chosen(offsets > onsets)

    def __len__(self) -> int:
        return len(self.onsets)

    @property
    def _columns(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in ("clips", "labels", "onsets", "offsets")}

    def chosen(self, rows: NDArray[Any]) -> Events:
        """Return some of the events."""
        return replace(self, **{name: column[rows] for name, column in self._columns.items()})

    def numbered(self, clips: Mapping[str, int], labels: Mapping[str, int]) -> Events:
        """Return the events with these numbers of clips and labels; -1 for others."""
        clip_numbers = np.array([clips.get(name, -1) for name in self.clip_names], np.int32)
        label_numbers = np.array([labels.get(name, -1) for name in self.label_names], np.int32)
        clip_column, label_column = clip_numbers[self.clips], label_numbers[self.labels]
        return Events([*clips], [*labels], clip_column, label_column, self.onsets, self.offsets)

    def distinct(self) -> Events:
        """Return the first of the same events, in order of clip, label and time."""
        columns = np.stack([*self._columns.values()])
        order = np.lexsort(columns[::-1])
        differs = np.diff(columns[:, order]).any(axis=0)
        return self.chosen(order[np.append(True, differs)[: len(order)]])

    def refuse_overlaps(self, name: str) -> None:
        """Refuse events of one class that overlap, unless they are the same."""
        events = self.distinct()
        wrong = np.flatnonzero(overlapping(events.onsets, events.offsets, events.clips, events.labels))
        if len(wrong):
            raise PSDSEvalError(
                f"The {name} dataframe provided has intersecting events/labels for the same class. "
                f"{subject(len(wrong), 'event', 'overlaps')} an earlier one: merge or correct them (first: "
                f"{events.describe(wrong[0])})."
            )

    def describe(self, i: int | np.intp) -> str:
        """Return clip, label and times of an event for a message."""
        return (
            f"clip {self.clip_names[self.clips[i]]}, {self.label_names[self.labels[i]]} "
            f"{self.onsets[i] / 1e6:g}–{self.offsets[i] / 1e6:g} s"
        )


def _numbered(column: Any, key: Callable[[str], str]) -> tuple[Numbers, list[str]]:
    """Return the number of each row's name, and the names."""
    import pandas

    codes, distinct = pandas.factorize(column)
    keys = [key(as_text(name)) for name in distinct.tolist()]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[name] for name in keys], np.int32)[codes], list(numbers)
