"""Detections of many clips as columns, from tables and from lists of events by clip."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError
from .arrays import FloatArray
from .event_table import DCASE_COLUMNS, EventTable, check_roles
from .tables import FrameLike, as_frame
from .times import LONGEST_TICKS, Ticks, lies_within, to_ticks


class Names(NamedTuple):
    """A column of names: each name once, and the number of the name in each row."""

    names: list[str]
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, column: Iterable[Any], known: Iterable[str] = ()) -> Names | None:
        """Number the names in order of appearance, after those that are known.

        White space around them is removed. None if some are not texts, or are empty.
        """
        numbers: dict[Hashable, int] = {name: i for i, name in enumerate(dict.fromkeys(known))}
        rows = np.array([numbers.setdefault(name, len(numbers)) for name in column], np.int32)
        stripped: dict[str, int] = {}
        new_numbers = []
        for name in numbers:
            if not isinstance(name, str) or not name.strip():
                return None
            new_numbers.append(stripped.setdefault(name.strip(), len(stripped)))
        return cls([*stripped], np.array(new_numbers, np.int32)[rows])


def usable_times(times: Ticks) -> NDArray[np.bool_]:
    """Return which detections end after 0 s and not before they begin. Points in time may be at 0 s.

    ``times``: (events × 2) onsets and offsets.
    """
    onsets, offsets = times[:, 0], times[:, 1]
    usable: NDArray[np.bool_] = (offsets >= onsets) & lies_within(onsets, offsets, 0, LONGEST_TICKS + 1)
    return usable


@dataclass(frozen=True, eq=False)
class DetectedColumns:
    """Detections as columns. All of them can be used: they have times, a label and a confidence.

    Those of no length are points in time.
    """

    clips: Names
    """The clip of each event. There may be names of clips without events."""
    labels: Names
    """The label of each event."""
    times: Ticks
    """(events × 2) onsets and offsets in microseconds."""
    confidences: FloatArray

    @classmethod
    def of_columns(
        cls,
        clips: Names | None,
        labels: Names | None,
        seconds: FloatArray,
        confidences: FloatArray | None,
    ) -> DetectedColumns | None:
        """Check columns with a row per event; None if some cannot be used."""
        if clips is None or labels is None:
            return None
        try:
            times = to_ticks(seconds)
        except ValueError:
            return None
        scores = np.ones(len(times)) if confidences is None else confidences
        usable = usable_times(times).all() and not np.isnan(scores).any()
        return cls(clips, labels, times, scores) if usable else None

    @classmethod
    def of_lists(cls, events: Mapping[str, Sequence[Any]]) -> DetectedColumns | None:
        """Take ``(onset, offset, label[, confidence])`` of each clip; None if they need a closer look."""
        rows = [*chain.from_iterable(events.values())]
        if not all(issubclass(kind, (tuple, list)) for kind in {*map(type, rows)}):
            return None
        lengths = {*map(len, rows)}
        if lengths == {3, 4}:
            rows = [row if len(row) == 4 else (*row, 1.0) for row in rows]
        elif not (lengths <= {3} or lengths <= {4}):
            return None
        labels = [row[2] for row in rows]
        try:
            seconds = np.array([[row[k] for row in rows] for k in (0, 1)], np.float64).T
            scores = np.array([row[3] for row in rows], np.float64) if 4 in lengths else None
        except (TypeError, ValueError):
            return None
        if seconds.ndim != 2 or (scores is not None and scores.ndim != 1):
            return None
        numbers = np.repeat(np.arange(len(events), dtype=np.int32), [*map(len, events.values())])
        return cls.of_columns(Names([*events], numbers), Names.of(labels), seconds, scores)

    @classmethod
    def of_table(cls, table: EventTable) -> DetectedColumns:
        """Take the rows of a table with times. An error may say that some cannot be used, not which."""
        rows, seconds, confidences = table.checked_rows()
        all_rows = len(rows) == len(table)
        clips = Names.of(table.clip if all_rows else [table.clip[i] for i in rows], table.clip)
        labels = Names.of(table.label if all_rows else [table.label[i] for i in rows])
        columns = cls.of_columns(clips, labels, seconds, confidences)
        if columns is None:
            raise SedscopeError("Some detections are not usable.")
        return columns

    @classmethod
    def of_frame(cls, frame: FrameLike, columns: Mapping[str, str] | None) -> DetectedColumns | None:
        """Take the columns of a data frame as they are; None if they need a closer look."""
        named = {} if columns is None else columns
        check_roles(named)
        table = as_frame(frame, "events")
        roles = {**DCASE_COLUMNS, **named}
        if "confidence" in table.columns:
            roles.setdefault("confidence", "confidence")
        if "duration" in named or not {*roles.values()} <= {*table.columns}:
            return None
        arrays = {role: table[name].to_numpy() for role, name in roles.items()}
        clips, labels = (Names.of(arrays.pop(role).tolist()) for role in ("filename", "label"))
        if not all(column.dtype.kind in "fiu" for column in arrays.values()):
            return None
        numbers = {role: column.astype(np.float64) for role, column in arrays.items()}
        seconds = np.stack([numbers["onset"], numbers["offset"]], axis=1)
        return cls.of_columns(clips, labels, seconds, numbers.get("confidence"))
