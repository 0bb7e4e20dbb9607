"""A file of events before its format is known: text, Parquet or JSON, opened once."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...data.choices import Side, refuse_oversized
from ...data.event_table import EventTable, check_roles
from ...data.tables import CellTable, RowLocation, cells_from_frame, is_number, parse_number
from ...errors import SedscopeError, counted, listing, shortened
from ..locations import Location, utf8_name
from ..parquet_files import check_parquet, reading_parquet
from ..text_tables import (
    decode,
    delimiter_of,
    even_columns,
    even_rows,
    read_bytes,
    split_rows,
    unique_names,
)

_ROWS_LOOKED_AT = 100
_BYTES_PER_ROW = 16  # at least, in memory
_JSON_ARRAY = re.compile(rb"(\xef\xbb\xbf)?\s*\[\s*[\[{]")


@dataclass(frozen=True)
class EventReadOptions:
    """What the user says about a file that does not say it itself."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Names of columns by role."""
    label: str | None = None
    """The label of events that have none, and of all speakers of an RTTM file."""
    side: Side | None = None
    """What the file is read as, if that matters."""

    def __post_init__(self) -> None:
        check_roles(self.columns)


class Source:
    """A file and the views of it that formats need."""

    def __init__(
        self, path: Location, content: bytes | None = None, problems: list[str] | None = None
    ) -> None:
        """``problems``: collects what is wrong with rows, which are left out. By default, the first kind
        of problem is an error."""
        self.path = path
        self.problems = problems
        self.content = read_bytes(path) if content is None else content
        self.is_parquet = self.content[:4] == b"PAR1"
        self.is_json_array = _JSON_ARRAY.match(self.content) is not None
        self.is_json_lines = not (self.is_parquet or self.is_json_array) and _holds_queries(self.content)
        self.is_json = self.content.lstrip()[:1] == b"{" and not self.is_json_lines
        self.is_text = not (self.is_parquet or self.is_json or self.is_json_array or self.is_json_lines)

    @property
    def clip(self) -> str:
        """The clip that the file is named after, for formats with one file per clip."""
        name = utf8_name(self.path, self.path.name)
        for ending in _ENDINGS:
            if name.lower().endswith(ending) and len(name) > len(ending):
                return name[: -len(ending)]
        return self.path.stem

    @cached_property
    def text(self) -> str:
        """The file as text."""
        return decode(self.content, self.path)

    @cached_property
    def rows(self) -> tuple[list[list[str]], list[int]]:
        """The cells of all lines that are not blank, and the numbers of these lines."""
        return self._split()

    @cached_property
    def first_rows(self) -> list[list[str]]:
        """Enough rows to recognise a format. The others are not read for this."""
        return self._split(_ROWS_LOOKED_AT)[0] if self.is_text else []

    @property
    def _delimiter(self) -> str:
        """What separates cells, as the first line that is not blank tells.

        If it has one cell, it may be a clip without events. Then the first line of several cells tells, if
        numbers are among them.
        """
        lines = (line for chunk in io.StringIO(self.text) for line in chunk.splitlines() if line.strip())
        first = next(lines, "")
        if not _has_several_cells(first):
            event = next(filter(_has_several_cells, lines), "")
            if any(map(is_number, event.split(delimiter_of(event)))):
                return delimiter_of(event)
        return delimiter_of(first)

    def _split(self, most: int | None = None) -> tuple[list[list[str]], list[int]]:
        """Return the cells of all lines that are not blank, or of as many as are wanted."""
        rows, lines = split_rows(self.text, self.path, self._delimiter, most=most)
        for row in rows:  # in place, as there may be millions
            row[:] = map(str.strip, row)
        return rows, lines

    @cached_property
    def cells(self) -> CellTable:
        """The file as a table with a header."""
        if self.is_parquet:
            import polars

            check_parquet(self.path, self.content)
            with reading_parquet(self.path):
                table = polars.scan_parquet(self.content)
                number = table.select(polars.len()).collect().item()
                refuse_oversized(_BYTES_PER_ROW * number, len(self.content), str(self.path))
                frame = table.collect()
            return cells_from_frame(frame, str(self.path))
        path = self.path  # so that the table does not keep the whole file in memory
        columns = even_columns(self.text, self._delimiter)
        if columns is not None:
            header = unique_names([column[0] for column in columns], str(path))
            cells = [column[1:] for column in columns]
            return CellTable(str(path), header, cells, lambda i: _line_location(path, i + 2))
        rows, lines = self.rows
        if not rows:
            raise SedscopeError(f"{self.path} is empty.")
        header = unique_names(rows[0], str(self.path))
        return self.table(header, rows[1:], lines[1:])

    def table(self, header: Sequence[str], rows: list[list[str]], lines: list[int]) -> CellTable:
        """Return rows as a table. Those that do not have a cell for each column are a problem."""
        path = self.path
        even, numbers = self._even_rows(rows, lines, len(header))
        columns = [[row[k] for row in even] for k in range(len(header))]
        return CellTable(str(path), header, columns, lambda i: _line_location(path, numbers[i]))

    def _even_rows(
        self, rows: list[list[str]], lines: list[int], columns: int
    ) -> tuple[list[list[str]], list[int]]:
        """Return the rows that have a cell for each column, and their lines. Others are a problem."""
        if self.problems is None:
            return even_rows(rows, lines, columns, self.path), lines
        even = [i for i, row in enumerate(rows) if len(row) == columns]
        for row, line in zip(rows, lines, strict=True):
            if len(row) != columns:
                cells = f"{counted(len(row), 'cell')} instead of {columns}"
                self.problems.append(self.line_location(line).finding(f"the row has {cells}"))
        return [rows[i] for i in even], [lines[i] for i in even]

    @cached_property
    def header(self) -> list[str]:
        """The names of columns, or an empty list if the first line has numbers."""
        if self.is_parquet:
            return list(self.cells.header)
        first = self.first_rows[:1]
        return [] if not first or any(map(is_number, first[0])) else first[0]

    @property
    def is_score_table(self) -> bool:
        """Whether the header is that of a score table."""
        return self.header[:2] == ["onset", "offset"] and "event_label" not in self.header

    @cached_property
    def json(self) -> Any:
        """The file as JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise SedscopeError(f"{self.path}: not a JSON file: {error}.") from None

    def refuse_rows(self, rows: list[RowLocation], problem: str) -> None:
        """Collect the problem of some rows, or refuse the file if there are any."""
        self.refuse_all([(row, problem) for row in rows])

    def refuse_all(self, wrong: list[tuple[RowLocation, str]]) -> None:
        """Collect what is wrong with rows, or refuse the file and name all of them."""
        findings = [location.finding(problem) for location, problem in wrong]
        if self.problems is not None:
            self.problems += findings
        elif wrong:
            rows = listing([f"{location}: {problem}" for location, problem in wrong])
            raise SedscopeError(
                f"{self.path}: {counted(len(wrong), 'problem')}: {rows}.", lines=findings
            )

    def place(self, text: str) -> RowLocation:
        """Say where something is that is not in a line of its own. ``text``: where it is in the file."""
        return RowLocation(f"{self.path.name} {text}", f"{self.path}: {text}")

    def line_location(self, line: int) -> RowLocation:
        """Say where a line is."""
        return _line_location(self.path, line)

    def duration(self, cell: str, location: RowLocation) -> float:
        """Return the duration of the clip, as a cell states it."""
        try:
            seconds = parse_number(cell)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds < math.inf:
            raise SedscopeError(
                f"{self.path}: the duration {shortened(cell, 60)!r} is not a positive number of seconds: "
                f"{location}."
            )
        return seconds

    def without_events(self) -> EventTable:
        """Return the table of a file of one clip in which nothing was labelled."""
        return EventTable(
            where=str(self.path),
            clip=[self.clip],
            onset=[None],
            offset=[None],
            label=[""],
            row_location=lambda _: RowLocation(self.path.name, f"{self.path}:1"),
        )


def _line_location(path: Location, line: int) -> RowLocation:
    return RowLocation(f"{path.name} line {line}", f"{path}:{line}")


def _has_several_cells(line: str) -> bool:
    return delimiter_of(line) in line


def is_json_number(value: object) -> bool:
    """Return whether a value of a JSON file is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _holds_queries(content: bytes) -> bool:
    """Return whether one of the first lines is a JSON object of its own, with the id of a query."""
    for line in content.split(b"\n", _ROWS_LOOKED_AT)[:_ROWS_LOOKED_AT]:
        if b'"qid"' not in line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "qid" in value:
            return True
    return False


# what tools append to the name of the recording, the longer ones first
_ENDINGS = (
    ".birdnet.selection.table.txt",
    ".birdnet.results.kaleidoscope.csv",
    ".birdnet.results.parquet",
    ".birdnet.results.csv",
    ".birdnet.results.txt",
    ".table.1.selections.txt",
    ".selections.txt",
)
