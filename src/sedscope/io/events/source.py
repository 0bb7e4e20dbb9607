"""A file of events before its format is known: text, Parquet or JSON, opened once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...data.event_table import Cell, EventTable, cell_number
from ...data.frames import as_frame
from ...data.times import TICKS_PER_SECOND, to_ticks
from ...errors import SedscopeError, listing, shortened
from ..atomic_write import refuse_claims
from ..locations import Place
from ..parquet_files import look_over_parquet, reading_parquet
from ..text_tables import (
    decode,
    delimiter_of,
    even_rows,
    is_number,
    read_bytes,
    split_rows,
    unique_names,
)

ROLES = ("filename", "onset", "offset", "duration", "label", "confidence")
_LOOKED_AT = 100


@dataclass(frozen=True)
class Choices:
    """What the user says of a file that does not speak for itself."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Names of columns by what they hold: see :data:`ROLES`."""
    label: str | None = None
    """The label of events that have none."""

    def __post_init__(self) -> None:
        unknown = [name for name in self.columns if name not in (*ROLES, "namespace")]
        if unknown:
            raise SedscopeError(
                f"columns: there is no {listing([repr(name) for name in unknown])}; "
                f"choose from {', '.join(ROLES)}"
            )


@dataclass(frozen=True)
class Cells:
    """A table with a header."""

    where: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    place: Callable[[int], str]

    def column(self, name: str) -> list[Any]:
        """The cells of a column."""
        k = list(self.header).index(name)
        return [row[k] for row in self.rows]

    def require(self, names: Sequence[str]) -> None:
        """Refuse a table without these columns."""
        missing = [name for name in names if name not in self.header]
        if missing:
            raise SedscopeError(
                f"{self.where}: no column {listing([repr(name) for name in missing])}; found "
                f"{listing([repr(shortened(name, 60)) for name in self.header])}"
            )


class Source:
    """A file, and what can be seen of it."""

    def __init__(self, path: Place, content: bytes | None = None) -> None:
        self.path = path
        self.content = read_bytes(path) if content is None else content
        self.is_parquet = self.content[:4] == b"PAR1"
        self.is_json = self.content.lstrip()[:1] == b"{"
        self.is_text = not (self.is_parquet or self.is_json)

    @property
    def clip(self) -> str:
        """The clip that the file is named after, where it is of one clip."""
        name = self.path.name
        for suffix in _SUFFIXES:
            if name.lower().endswith(suffix) and len(name) > len(suffix):
                return name[: -len(suffix)]
        return self.path.stem

    @cached_property
    def text(self) -> str:
        """The file as text."""
        return decode(self.content, self.path)

    @cached_property
    def rows(self) -> tuple[list[list[str]], list[int]]:
        """The cells of all lines, and where the lines stand."""
        first = next((line for line in self.text.splitlines() if line.strip()), "")
        rows, lines = split_rows(self.text, self.path, delimiter_of(first))
        return [[cell.strip() for cell in row] for row in rows], lines

    @property
    def first_rows(self) -> list[list[str]]:
        """Enough lines to tell what they are."""
        return self.rows[0][:_LOOKED_AT] if self.is_text else []

    @cached_property
    def cells(self) -> Cells:
        """The file as a table with a header."""
        if self.is_parquet:
            import polars

            look_over_parquet(self.path, self.content)
            with reading_parquet(self.path):
                table = polars.scan_parquet(self.content)
                rows = table.select(polars.len()).collect().item()
                refuse_claims(16 * rows, len(self.content), str(self.path))
                frame = table.collect()
            return cells_of(frame, str(self.path))
        rows, lines = self.rows
        if not rows:
            raise SedscopeError(f"{self.path} is empty")
        header = unique_names(rows[0], str(self.path))
        body = even_rows(rows[1:], lines[1:], len(header), self.path)
        return Cells(str(self.path), header, body, lambda i: self.place(lines[i + 1]))

    @cached_property
    def header(self) -> list[str]:
        """The names of columns; none if the first line has numbers, or there are no columns."""
        if self.is_parquet:
            return list(self.cells.header)
        first = self.first_rows[:1]
        return [] if not first or any(map(is_number, first[0])) else first[0]

    @property
    def is_score_table(self) -> bool:
        """Whether the header is that of scores of frames."""
        return self.header[:2] == ["onset", "offset"] and "event_label" not in self.header

    @cached_property
    def json(self) -> Any:
        """The file as JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise SedscopeError(f"{self.path}: not a JSON file: {error}") from None

    def place(self, line: int) -> str:
        """A line of the file, in words."""
        return f"{self.path.name} line {line}"


# what tools put behind the name of the recording
_SUFFIXES = (
    ".birdnet.selection.table.txt",
    ".birdnet.results.kaleidoscope.csv",
    ".birdnet.results.parquet",
    ".birdnet.results.csv",
    ".birdnet.results.txt",
    ".table.1.selections.txt",
    ".selections.txt",
)


def cells_of(table: Any, where: str) -> Cells:
    """A frame of pandas, polars or pyarrow, or a mapping of columns, as cells."""
    frame = as_frame(table, where)
    return Cells(
        where,
        list(frame.columns),
        [[_cell(cell) for cell in row] for row in frame.iter_rows()],
        lambda i: f"row {i}",
    )


def events_by_role(
    cells: Cells, roles: Mapping[str, str], clip: str | None, label: str | None = None
) -> EventTable:
    """Events from columns by what they hold. ``clip``: where no column names it; ``label``: likewise."""
    cells.require([*roles.values()])
    wanted = ["onset", "label"] if label is None else ["onset"]
    wanted += [] if clip is not None else ["filename"]
    missing = [role for role in wanted if role not in roles]
    if missing or not {"offset", "duration"} & set(roles):
        missing += [] if {"offset", "duration"} & set(roles) else ["offset"]
        raise SedscopeError(
            f"{cells.where}: which columns hold {listing(missing)}? Say so with columns= "
            f"(--columns {missing[0]}=NAME); found "
            f"{listing([repr(shortened(name, 60)) for name in cells.header], limit=20)}"
        )
    onset = cells.column(roles["onset"])
    offset = cells.column(roles.get("offset", roles.get("duration", "")))
    if "offset" not in roles:
        offset = [_later(begin, length) for begin, length in zip(onset, offset, strict=True)]
    names = [clip or ""] * len(onset) if "filename" not in roles else _texts(cells, roles["filename"])
    return EventTable(
        where=cells.where,
        clip=names,
        onset=onset,
        offset=offset,
        label=[label or ""] * len(onset) if "label" not in roles else _texts(cells, roles["label"]),
        confidence=cells.column(roles["confidence"]) if "confidence" in roles else None,
        place=cells.place,
    )


def _texts(cells: Cells, name: str) -> list[str]:
    return ["" if cell is None else str(cell).strip() for cell in cells.column(name)]


def _later(onset: Cell, more: Cell) -> Cell:
    """The end of an event of some length; what is no number is left to be refused."""
    try:
        begin, length = (int(to_ticks(cell_number(cell))) for cell in (onset, more))
    except ValueError:
        return more
    return (begin + length) / TICKS_PER_SECOND


def _cell(cell: Any) -> Any:
    """A cell of a frame; the libraries' marks for a missing value are empty."""
    missing = cell is None or (not isinstance(cell, str) and str(cell) in ("nan", "<NA>", "NaT"))
    if missing:
        return ""
    return cell if isinstance(cell, (str, float)) else str(cell)
