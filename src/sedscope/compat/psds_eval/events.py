"""Events as arrays: times in microseconds, and clips and classes as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.clip_ids import clip_id
from ...data.event_checks import overlapping
from ...data.times import Ticks, to_ticks
from ...errors import subject
from .results import PSDSEvalError

ClipKey = Callable[[str], str]
Numbers = NDArray[np.int32]


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

    def chosen(self, rows: NDArray[Any]) -> Events:
        """Return some of the events."""
        return Events(
            self.clip_names,
            self.label_names,
            self.clips[rows],
            self.labels[rows],
            self.onsets[rows],
            self.offsets[rows],
        )

    def numbered(self, clips: Mapping[str, int], labels: Mapping[str, int]) -> Events:
        """Return the events with these numbers of clips and labels; -1 for others."""
        clip_numbers = np.array([clips.get(name, -1) for name in self.clip_names], np.int32)
        label_numbers = np.array([labels.get(name, -1) for name in self.label_names], np.int32)
        return Events(
            list(clips),
            list(labels),
            clip_numbers[self.clips],
            label_numbers[self.labels],
            self.onsets,
            self.offsets,
        )

    def repeated(self) -> int:
        """Return how many events are the same as another one before them."""
        return len(self) - len(self._distinct())

    def refuse_overlaps(self, name: str) -> None:
        """Refuse events of one class that overlap, unless they are the same."""
        events = self.chosen(self._distinct())
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

    def _distinct(self) -> NDArray[np.intp]:
        """Return the first of the same events, in order of clip, label and time."""
        columns = (self.offsets, self.onsets, self.labels, self.clips)
        order = np.lexsort(columns)
        differs = np.zeros(max(len(order) - 1, 0), bool)
        for column in columns:
            differs |= np.diff(column[order]) != 0
        return order[np.append(True, differs)] if len(order) else order


def _numbered(column: Any, key: Callable[[str], str]) -> tuple[Numbers, list[str]]:
    """Return the number of each row's name, and the names."""
    import pandas

    codes, distinct = pandas.factorize(column)
    keys = [key(as_text(name)) for name in distinct.tolist()]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[name] for name in keys], np.int32)[codes], list(numbers)
