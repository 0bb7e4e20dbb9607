"""Events as a table holds them, whatever its format: columns of cells, and where each row is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from unicodedata import normalize

import numpy as np

from ..errors import SedscopeError, by_kind, listing, note, shortened, subject
from .arrays import FloatArray
from .choices import Side
from .clips import AUDIO_SUFFIXES, clip_id, duration_ticks
from .events import EventColumns, Events
from .tables import (
    Cell,
    CellTable,
    FrameLike,
    RowLocation,
    cell_number,
    cell_numbers,
    cells_from_frame,
    is_empty,
    is_number,
    parse_number,
    quoted_cell,
)
from .times import LONGEST_SECONDS, TICKS_PER_SECOND, to_ticks

ROLES = ("filename", "onset", "offset", "duration", "label", "confidence")
"""What a column of a table of events can hold."""
DCASE_COLUMNS = {"filename": "filename", "onset": "onset", "offset": "offset", "label": "event_label"}

_LIKE_DURATION = ("duration", "length", "dur")
_LIKE_CONFIDENCE = (
    *("confidence", "confidences", "conf", "score", "scores"),
    *("probability", "probabilities", "prob", "probs"),
)
_KINDS = ("audio", "wav", "sound", "video", "clip", "recording", "track", "begin", "in", "source")
_FILE_WORDS = ("file", "files", "filename", "filenames", "filepath", "fname", "path", "name", "id")
_LIKE_FILENAME = frozenset(kind + word for kind in ("", *_KINDS) for word in ("", *_FILE_WORDS)) - {
    "",
    "name",
    "id",
    "in",
    "begin",
    "source",
    "sourceid",
    "sourcename",
}
"""Names of columns that may hold clips, apart from case and punctuation."""
_Column = TypeVar("_Column")


@dataclass(frozen=True)
class EventTable:
    """Events that are not checked yet. A row without times and label names a clip without events."""

    where: str
    """Name of the file or table, for messages."""
    clip: Sequence[str]
    onset: Sequence[Cell]
    offset: Sequence[Cell]
    label: Sequence[str]
    row_location: Callable[[int], RowLocation]
    """Says where a row is, for messages."""
    confidence: Sequence[Cell] | None = None
    durations: Mapping[str, float] = field(default_factory=dict)
    """Durations of clips in seconds, if the file states them."""
    weak: bool = False
    """Whether labels apply to whole clips. Then there are no times."""
    ignored: Sequence[Cell] | None = None
    """Which rows are ignored references: true or false; None if none is."""
    other_columns: Sequence[str] = ()
    """Names of columns that were not read, if the user can name columns."""
    unscored_files: Sequence[str] = ()
    """Files without confidences, beside others that have them."""
    frequencies: Sequence[tuple[Cell, Cell]] | None = None
    """The lowest and the highest frequency of each row in Hz, if the file states them."""

    @classmethod
    def of_rows(
        cls,
        where: object,
        rows: Sequence[tuple[str, Cell, Cell, str] | tuple[str, Cell, Cell, str, Cell]],
        row_location: Callable[[int], RowLocation],
        **others: Any,
    ) -> EventTable:
        """Make a table of rows ``(clip, onset, offset, label[, confidence])``. ``others``: more fields."""
        names = ("clip", "onset", "offset", "label", "confidence")[: len(rows[0]) if rows else 4]
        columns: dict[str, Any] = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        return cls(str(where), **columns, row_location=row_location, **others)

    @classmethod
    def from_frame(
        cls, frame: FrameLike, columns: Mapping[str, str] | None = None, where: str = "events"
    ) -> EventTable:
        """Read a frame with the DCASE columns, or those that ``columns`` names by role."""
        named = {} if columns is None else columns
        check_roles(named)
        cells = cells_from_frame(frame, where)
        roles = {**DCASE_COLUMNS, **named}
        if "duration" in named and "offset" not in named:
            del roles["offset"]
        if "confidence" in cells.header:
            roles.setdefault("confidence", "confidence")
        events = events_by_role(cells, roles, clip=None)
        return replace(events, ignored=cells.column("ignored")) if "ignored" in cells.header else events

    def __len__(self) -> int:
        return len(self.clip)

    def with_ignored(self, others: EventTable) -> EventTable:
        """Return these rows, followed by others that are ignored references. Both have times."""
        names = {clip_id(name): name for name in self.clip if name}
        clips = [names.get(clip_id(name), name) for name in others.clip]
        ignored = replace(others, clip=clips, ignored=["true"] * len(others), durations={})
        return replace(concatenate([self, ignored], self.where), confidence=None)

    def clip_location(self, clip: str) -> RowLocation:
        """Return the first row with this name of a clip."""
        return self.row_location([*self.clip].index(clip))

    def columns(self) -> EventColumns:
        """Check all rows and return those that are events."""
        rows, times, _ = self.checked_rows()
        ticks = to_ticks(times)
        return EventColumns(
            clip=[self.clip[i] for i in rows],
            onset=ticks[:, 0],
            offset=ticks[:, 1],
            label=[self.label[i] for i in rows],
            where=lambda k: self.row_location(rows[k]),
            ignored=None
            if self.ignored is None
            else np.array([self._is_ignored(i) for i in rows], bool),
        )

    def _is_ignored(self, i: int) -> bool:
        """Return whether a row is an ignored reference. An empty cell means that it is not."""
        cell = self.ignored[i] if self.ignored is not None else ""
        truths = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
        if is_empty(cell):
            return False
        if str(cell).lower() not in truths:
            raise SedscopeError(
                f"{self.where}: {self.row_location(i)}: ignored {quoted_cell(cell)} must be true or false."
            )
        return truths[str(cell).lower()]

    def events(self, durations: Mapping[str, float] | None = None) -> Events[tuple[Any, ...]]:
        """Return ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds."""
        table = self.with_times(durations if durations is not None else self.durations)
        rows, times, confidences = table.checked_rows()
        events: Events[tuple[Any, ...]] = Events((clip, []) for clip in table.clip)
        columns = [*times.T.tolist(), [table.label[i] for i in rows]]
        columns += [] if confidences is None else [confidences.tolist()]
        for i, event in zip(rows, zip(*columns, strict=True), strict=True):
            events[table.clip[i]].append(event)
        return events

    def frequencies_by_event(self) -> dict[tuple[str, float, float, str], tuple[float, float]]:
        """Return the frequencies of the events that have some, by clip, onset, offset and label."""
        if self.frequencies is None:
            return {}
        rows, times, _ = self.checked_rows()
        by_event = {}
        for i, (onset, offset) in zip(rows, times.tolist(), strict=True):
            with suppress(ValueError):
                low, high = map(cell_number, self.frequencies[i])
                if 0 <= low < high < math.inf:
                    by_event[self.clip[i], onset, offset, self.label[i]] = low, high
        return by_event

    def with_times(self, durations: Mapping[str, float] | None) -> EventTable:
        """Turn labels of whole clips into events that last from the start to the end of the clip."""
        if not self.weak:
            return self
        ends = {clip: end / TICKS_PER_SECOND for clip, end in duration_ticks(durations or {}).items()}
        unknown = list(dict.fromkeys(clip for clip in self.clip if clip_id(clip) not in ends))
        if unknown:
            raise SedscopeError(
                f"{self.where}: labels of whole clips need the clips' durations (`durations=`). "
                f"{subject(len(unknown), 'clip', 'has')} none: {listing(unknown)}."
            )
        rows: list[tuple[str, Cell, Cell, str]] = []
        numbers: list[int] = []
        for i, (clip, labels) in enumerate(zip(self.clip, self.label, strict=True)):
            for label in map(str.strip, dict.fromkeys(labels.split(","))):
                rows.append((clip, 0.0, ends[clip_id(clip)], label) if label else (clip, None, None, ""))
                numbers.append(i)
        return EventTable.of_rows(self.where, rows, lambda k: self.row_location(numbers[k]))

    def admitted_by(self, admits: Callable[[float], bool]) -> EventTable:
        """Return the rows that are confident enough. Clips of the others stay, perhaps without events."""
        if self.confidence is None:
            raise SedscopeError(
                f"{self.where}: there are no confidences to choose reference events by. Name their column "
                "with `columns={'confidence': …}`, or leave the condition out."
            )
        wrong: list[RowLocation] = []
        rejected: set[int] = set()
        for i, cell in enumerate(self.confidence):
            if self._is_empty(i):
                continue
            try:
                confidence = cell_number(cell)
            except ValueError:
                confidence = math.nan
            if math.isnan(confidence):
                wrong.append(self.row_location(i))
            elif not admits(confidence):
                rejected.add(i)
        if wrong:
            rows = listing([str(location) for location in wrong])
            raise SedscopeError(
                f"{self.where}: {subject(len(wrong), 'event', 'has')} no number as confidence: {rows}.",
                lines=[location.finding("the confidence is not a number") for location in wrong],
            )

        return replace(self.without_events(rejected), confidence=None)

    def without_events(self, rows: Collection[int]) -> EventTable:
        """Turn some rows into rows of clips without events."""

        def emptied(column: Sequence[_Column], nothing: _Column) -> list[_Column]:
            return [nothing if i in rows else cell for i, cell in enumerate(column)]

        return replace(
            self,
            onset=emptied(self.onset, None),
            offset=emptied(self.offset, None),
            label=emptied(self.label, ""),
        )

    def unused_confidences_note(self) -> list[str]:
        """Note confidences other than 1, if all rows are taken as reference events whatever they are."""
        if self.confidence is None or not any(map(_is_soft, self.confidence)):
            return []
        return [
            "The ground truth has confidences, but all its events were taken as references. Choose those "
            "that count with `confidence='> 0.5'`."
        ]

    def missing_confidences_notes(self, side: Side | None = None) -> list[str]:
        """Note detections without confidences: a column may hold them, or only other files have some."""
        if self.confidence is None:
            return unread_confidences_note(self.where, self.other_columns, side)
        phrase = "has no confidences, unlike the others, so (its|their) detections have the confidence 1"
        return note(self.unscored_files, "file", phrase, where=self.where)

    def usable_rows(
        self, problem_of: Callable[[tuple[Any, ...]], str | None] = lambda event: None
    ) -> tuple[EventTable, list[str]]:
        """Return the rows that can be used, and what is wrong with the others, as ``file:line: message``.

        ``problem_of`` may find more that is wrong with an event ``(onset, offset, label[, confidence])``.
        """
        rows, times, confidences, parsed = self._parsed()
        problems = [location.finding(problem) for location, problem in parsed]
        wrong: set[int] = set()
        for k, i in enumerate(rows):
            confidence = () if confidences is None else (confidences[k],)
            problem = problem_of((*times[k], self.label[i], *confidence))
            if problem:
                problems.append(self.row_location(i).finding(problem))
                wrong.add(i)
        without_events = [i for i, clip in enumerate(self.clip) if clip and self._is_empty(i)]
        kept = sorted({*rows, *without_events} - wrong)

        return replace(self._chosen(kept), weak=False), problems

    def _chosen(self, rows: Sequence[int]) -> EventTable:
        """Return some of the rows."""
        columns = ("clip", "onset", "offset", "label", "confidence", "ignored", "frequencies")
        chosen: dict[str, Any] = {
            name: None if (column := getattr(self, name)) is None else [column[i] for i in rows]
            for name in columns
        }
        return replace(self, **chosen, row_location=lambda k: self.row_location(rows[k]))

    def _is_empty(self, i: int) -> bool:
        return is_empty(self.onset[i]) and is_empty(self.offset[i]) and is_empty(self.label[i])

    def checked_rows(self) -> tuple[Sequence[int], FloatArray, FloatArray | None]:
        """Return the rows that are events, their (rows × 2) times and their confidences.

        Rows that are neither events nor clips without events are refused.
        """
        numbers = self._all_numbers()
        if numbers is not None:
            return range(len(self)), *numbers
        rows, times, confidences, parsed = self._parsed()
        if parsed:
            problems = listing(by_kind([f"{location}: {problem}" for location, problem in parsed]))
            noun = "an event" if len(parsed) == 1 else "events"
            raise SedscopeError(
                f"{self.where}: {subject(len(parsed), 'row', 'is')} not {noun}: {problems}."
            )
        seconds = np.array(times, np.float64).reshape(-1, 2)
        return rows, seconds, None if confidences is None else np.array(confidences, np.float64)

    def _all_numbers(self) -> tuple[FloatArray, FloatArray | None] | None:
        """Return times and confidences if all rows are events, which most tables have; None if not."""
        if not (all(self.clip) and all(self.label)):
            return None
        onset, offset = cell_numbers(self.onset), cell_numbers(self.offset)
        confidence = None if self.confidence is None else cell_numbers(self.confidence)
        if onset is None or offset is None or (confidence is None) != (self.confidence is None):
            return None
        times = np.stack([onset, offset], axis=1)
        return (times, confidence) if (np.abs(times) <= LONGEST_SECONDS).all() else None

    def _parsed(
        self,
    ) -> tuple[list[int], list[tuple[float, float]], list[float] | None, list[tuple[RowLocation, str]]]:
        rows: list[int] = []
        times: list[tuple[float, float]] = []
        confidences: list[float] | None = None if self.confidence is None else []
        problems: list[tuple[RowLocation, str]] = []
        for i, (clip, onset, offset, label) in enumerate(
            zip(self.clip, self.onset, self.offset, self.label, strict=True)
        ):
            if not clip:
                problems.append((self.row_location(i), "no file name"))
                continue
            if self._is_empty(i):
                continue
            try:
                event = (cell_number(onset), cell_number(offset))
                to_ticks(event)
            except ValueError:
                cells = f"onset {quoted_cell(onset)}, offset {quoted_cell(offset)}"
                problems.append((self.row_location(i), cells))
                continue
            if not label:
                problems.append((self.row_location(i), "no label"))
                continue
            if self.confidence is not None and confidences is not None:
                try:
                    confidences.append(cell_number(self.confidence[i]))
                except ValueError:
                    cell = quoted_cell(self.confidence[i])
                    problems.append((self.row_location(i), f"confidence {cell}"))
                    continue
            rows.append(i)
            times.append(event)
        return rows, times, confidences, problems


def concatenate(tables: Sequence[EventTable], where: str) -> EventTable:
    """Put the events of several files into one table. Files without confidences get the confidence 1."""
    starts = np.cumsum([0, *(len(table) for table in tables)])
    scored = any(table.confidence is not None for table in tables)

    def row_location(row: int) -> RowLocation:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[k].row_location(row - int(starts[k]))

    def column(name: str, otherwise: Any = None) -> Any:
        """Return all cells of a column, with others for tables without it; None if no table has it."""
        if all(getattr(table, name) is None for table in tables):
            return None
        columns = (getattr(table, name) for table in tables)
        filled = (
            [otherwise] * len(table) if cells is None else cells
            for table, cells in zip(tables, columns, strict=True)
        )
        return [cell for cells in filled for cell in cells]

    return EventTable(
        where=where,
        clip=column("clip"),
        onset=column("onset"),
        offset=column("offset"),
        label=column("label"),
        confidence=column("confidence", 1.0),
        row_location=row_location,
        durations={name: end for table in tables for name, end in table.durations.items()},
        weak=any(table.weak for table in tables),
        ignored=column("ignored", ""),
        other_columns=[*dict.fromkeys(name for table in tables for name in table.other_columns)],
        frequencies=column("frequencies", ("", "")),
        unscored_files=[table.where for table in tables if table.confidence is None and any(table.label)]
        if scored
        else (),
    )


def unread_confidences_note(where: str, columns: Iterable[str], side: Side | None = None) -> list[str]:
    """Note a column with a name of confidences, among columns of detections that were not read."""
    name = next((name for name in columns if name.strip().lower() in _LIKE_CONFIDENCE), None)
    if name is None:
        return []
    return [
        f"{where}: the detections are read without confidences, because there is no column 'confidence'. If "
        f"the column {name!r} holds them, name it: {_naming(side, confidence=name)}."
    ]


def check_roles(columns: Mapping[str, str]) -> None:
    """Refuse names of columns for something that a column cannot hold."""
    unknown = [repr(role) for role in columns if role not in (*ROLES, "namespace", "subset")]
    if unknown:
        raise SedscopeError(f"columns= has no role {listing(unknown)}. Choose from {', '.join(ROLES)}.")


def events_by_role(
    cells: CellTable,
    roles: Mapping[str, str],
    clip: str | None,
    label: str | None = None,
    side: Side | None = None,
) -> EventTable:
    """Read events from columns.

    ``roles``: the name of the column for each role. ``clip`` and ``label`` apply to all events if no
    column holds them. ``side``: what the file is read as, for messages.
    """
    onset = roles.get("onset", "onset")
    cells.require([*roles.values()], _columns_advice(cells.header, roles, side))
    required = ["onset", "label"] if label is None else ["onset"]
    required += [] if clip is not None else ["filename"]
    missing = [role for role in required if role not in roles]
    missing += [] if {"offset", "duration"} & set(roles) else ["offset"]
    if missing:
        advice = f" {_offset_advice(cells.header, onset, side)}" if missing == ["offset"] else ""
        header = listing([repr(shortened(name, 60)) for name in cells.header], limit=20)
        raise SedscopeError(
            f"{cells.where}: no column is named for {listing(missing)}. Name it with "
            f"{_naming(side, **{missing[0]: '…'})}. The columns are {header}.{advice}"
        )
    if "filename" not in roles:
        _refuse_unread_clips(cells, roles, side)
    onsets = cells.column(onset)
    if "offset" in roles:
        offset = cells.column(roles["offset"])
    else:
        lengths = cells.column(roles["duration"])
        offset = [_offset(begin, length) for begin, length in zip(onsets, lengths, strict=True)]
    rows = len(onsets)
    return EventTable(
        where=cells.where,
        clip=cells.text_column(roles["filename"]) if "filename" in roles else [clip or ""] * rows,
        onset=onsets,
        offset=offset,
        label=cells.text_column(roles["label"]) if "label" in roles else [label or ""] * rows,
        confidence=cells.column(roles["confidence"]) if "confidence" in roles else None,
        row_location=cells.row_location,
        other_columns=[name for name in cells.header if name not in roles.values()],
    )


def _refuse_unread_clips(cells: CellTable, roles: Mapping[str, str], side: Side | None) -> None:
    """Refuse a column that seems to name clips, but is not read: all rows would be of one clip."""
    first = [column[0] if len(cells) else "" for column in cells.columns]
    for number, (name, cell) in enumerate(zip(cells.header, first, strict=True)):
        letters = "".join(filter(str.isalnum, normalize("NFKC", name).casefold()))
        is_audio = str(cell).rpartition(".")[2].lower() in AUDIO_SUFFIXES
        leads = (
            number == 0 and not is_empty(cell) and cell_numbers([cell]) is None and letters != "channel"
        )
        if name not in roles.values() and (letters in _LIKE_FILENAME or is_audio or leads):
            shown = repr(shortened(name, 60))
            raise SedscopeError(
                f"{cells.where}: no column is named 'filename', but {shown} may hold the clips of the rows. "
                f"If it does, name it: {_naming(side, filename=name)}, or rename it "
                "in the file. If all rows are of one clip, after which the file is named, remove it."
            )


def _columns_advice(header: Sequence[str], roles: Mapping[str, str], side: Side | None) -> str:
    """Say how to name the columns of a table that lacks some."""
    missing = [role for role, name in roles.items() if name not in header]
    if missing == ["offset"]:
        return _offset_advice(header, roles.get("onset", "onset"), side)
    if not missing:
        return ""
    naming = _naming(side, **dict.fromkeys(missing, "…"))
    if len(missing) == 1:
        advice = f"If another column holds the {missing[0]}, name it with {naming}."
    else:
        advice = f"If other columns hold {listing(missing)}, name them with {naming}."
    if missing == ["label"]:
        advice += " If all events have the same label, give it with `label=`."
    return advice


def _offset_advice(header: Sequence[str], onset: str, side: Side | None) -> str:
    """Say what to do about a table without offsets."""
    length = next((name for name in header if name.strip().lower() in _LIKE_DURATION), None)
    if length is not None:
        named = _naming(side, duration=length)
        return f"If the column {length!r} holds the lengths of the events, name it: {named}."
    named = _naming(side, offset=onset)
    return f"If the events are points in time, take the offsets from the onsets: {named}."


def _naming(side: Side | None, **columns: str) -> str:
    """Return the parameter that names columns by role, for a message. ``…`` stands for any name."""
    names = [f"{role!r}: {name if name == '…' else repr(name)}" for role, name in columns.items()]
    parameter = f"columns={{{', '.join(names)}}}"
    return f"`SystemReading({parameter})`" if side == "system" else f"`{parameter}`"


def _is_soft(confidence: Cell) -> bool:
    """Return whether a cell is a number other than 1."""
    try:
        return not is_empty(confidence) and cell_number(confidence) != 1
    except ValueError:
        return False  # the row is refused later


def _offset(onset: Cell, length: Cell) -> Cell:
    """Add a length to an onset. If one of them is not a number, return the length, which is refused
    later."""
    try:
        begin, duration = (int(to_ticks(cell_number(cell))) for cell in (onset, length))
    except ValueError:
        return length
    return (begin + duration) / TICKS_PER_SECOND


_CONDITION = re.compile(r"\s*(>=?)\s*(\S+)\s*")


def confidence_condition(text: str) -> Callable[[float], bool]:
    """Read the condition on the confidence of an event that counts as a reference.

    >>> confidence_condition("> 0.5")(0.5), confidence_condition(">=0.5")(0.5)
    (False, True)
    """
    match = _CONDITION.fullmatch(text) if isinstance(text, str) else None
    limit = parse_number(match[2]) if match is not None and is_number(match[2]) else math.nan
    if match is None or not math.isfinite(limit):
        raise SedscopeError(
            f"confidence={shortened(repr(text), 60)} is not a condition. Write '> 0.5' or '>= 0.5'."
        )
    inclusive = match[1] == ">="
    return lambda confidence: confidence >= limit if inclusive else confidence > limit
