"""Tables in text files: header, rows, cells, and the line that each row is in."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from ..data.tables import check_columns, parse_number, quoted_cell
from ..errors import SedscopeError, by_kind, counted, listing, refuse, shortened, subject
from ..escaping import csv_cell, csv_name, has_escaped_cells
from .locations import Location, input_location, read_input

_LONGEST_LINE = 16 * 2**20
_MOST_COLUMNS = 100_000
_BINARY_STARTS = {
    b"\xff\xfe": "It is UTF-16. Save it as UTF-8.",
    b"\xfe\xff": "It is UTF-16. Save it as UTF-8.",
    b"\x1f\x8b": "It is compressed with gzip. Decompress it first.",
    b"PK\x03\x04": "It is a ZIP archive, as npz files and Excel workbooks are. Save it as a text table.",
}
"""How files begin that are not text, and what to do about them."""


@dataclass(frozen=True)
class TextTable:
    """A text file with a header line: names of columns, and rows of unchecked cells."""

    path: Location
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    """The line of each row, as an editor counts lines (the header is line 1)."""

    def columns(self, names: Sequence[str], advice: str = "") -> list[list[str]]:
        """Return the cells of some columns without white space around them. ``advice``: if one is missing."""
        check_columns(names, [name.strip() for name in self.header], str(self.path), advice)
        return [[row[k].strip() for row in self.rows] for k in map(self.place, names)]

    def place(self, name: str) -> int:
        """Return the number of a column, from 0."""
        return [other.strip() for other in self.header].index(name)

    def refuse(self, wrong: Mapping[int, str], phrase: str) -> None:
        """Refuse rows, if there are any. ``phrase``: what is wrong with each; ``wrong``: more, by row."""
        if wrong:
            verb, what = phrase.split(" ", 1)
            rows = by_kind(f"line {self.lines[row]}: {problem}" for row, problem in wrong.items())
            raise SedscopeError(
                f"{self.path}: {subject(len(wrong), 'row', verb)} {what}: {listing(rows)}.",
                lines=[f"{self.path}:{self.lines[row]}: {problem}" for row, problem in wrong.items()],
            )


def read_bytes(path: Location) -> bytes:
    """Read a file that must not be empty."""
    content = read_input(path, _refuse_endless_lines)
    marks = re.match(rb"(?:\xef\xbb\xbf)*", content)  # more than one where programs have added their own
    content = content[marks.end() if marks else 0 :]
    if not content or content.isspace():
        raise SedscopeError(f"{path} is empty.")
    return content


def _refuse_endless_lines(file: IO[bytes], size: int, path: Location) -> None:
    """Refuse a file that is not a table before it is read completely: its lines are too long."""
    if size <= _LONGEST_LINE:
        return
    chunks = iter(lambda: file.read(2**20), b"")
    length, line = 0, 1
    for chunk in chunks:
        first = chunk.find(b"\n")
        length = length + len(chunk) if first < 0 else len(chunk) - 1 - chunk.rfind(b"\n")
        line += chunk.count(b"\n")
        if length > _LONGEST_LINE:
            raise SedscopeError(
                f"{path}: line {line} is longer than {_LONGEST_LINE // 2**20} MB, so the file is not a table."
            )


def split_header(content: bytes, path: Location, delimiter: str = "\t") -> tuple[list[str], int]:
    """Return the names in the first line, and where the next line starts."""
    end = content.find(b"\n")
    end = len(content) if end < 0 else end
    line = decode(content[:end], path).rstrip("\r")
    if line.count(delimiter) >= _MOST_COLUMNS:
        raise SedscopeError(f"{path}: there are more than {_MOST_COLUMNS} columns.")
    try:
        names = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise SedscopeError(f"{path}: line 1 is not the header of a table: {error}.") from None
    return unique_names(names, str(path)), min(end + 1, len(content))


def unique_names(names: list[str], where: str) -> list[str]:
    """Return the names of columns. A name that occurs twice is an error."""
    if len(set(names)) < len(names):
        twice = sorted(name for name, number in Counter(names).items() if number > 1)
        refuse(twice, "column", "is named twice", where=where)
    return names


def delimiter_of(line: str) -> str:
    """Return what separates the cells of a line: tabs, else semicolons, else commas."""
    return next((mark for mark in "\t;," if mark in line), "\t")


def read_text_table(path: str | Location, delimiter: str | None = "\t") -> TextTable:
    """Read a whole table as text. Every row must have as many cells as the header.

    If ``delimiter`` is None, the header tells which one the file has.
    """
    file = input_location(path)
    content = read_bytes(file)
    if delimiter is None:
        delimiter = delimiter_of(decode(content.split(b"\n", 1)[0], file))
    header, start = split_header(content, file, delimiter)
    rows, lines = split_rows(decode(content[start:], file, first_line=2), file, delimiter, first_line=2)
    return TextTable(file, header, even_rows(rows, lines, len(header), file), lines)


def split_rows(
    text: str, file: Location, delimiter: str, first_line: int = 1, most: int | None = None
) -> tuple[list[list[str]], list[int]]:
    """Return the cells of each line that is not blank, and the numbers of these lines.

    ``most``: how many are wanted; the others are not looked at.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = first_line
    try:
        for row in reader:
            if len(row) > _MOST_COLUMNS:
                raise SedscopeError(f"{file}: line {line} has more than {_MOST_COLUMNS} columns.")
            if row:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + first_line
            if len(rows) == most:
                break
    except csv.Error as error:
        raise SedscopeError(
            f"{file}: line {line} is not a row of a table: {error}.",
            lines=[f"{file}:{line}: the line is not a row of a table: {error}"],
        ) from None
    if delimiter != "\t":
        rows = [[*map(csv_name, row)] for row in rows] if has_escaped_cells(text) else rows
    return rows, lines


def even_columns(text: str, delimiter: str) -> list[list[str]] | None:
    """Return the columns of a table, much faster than row by row; None if it is not simple enough.

    It must have several columns, as many cells in each line, and no quotes, escaped cells or blank lines.
    """
    lines = text.removesuffix("\n")
    width = 1 + lines.partition("\n")[0].count(delimiter)
    if not 1 < width <= _MOST_COLUMNS or any(mark in text for mark in '"\r\0'):
        return None
    if delimiter != "\t" and has_escaped_cells(text):
        return None
    content = np.frombuffer(lines.encode(), np.uint8)
    ends = content[(content == ord(delimiter)) | (content == ord("\n"))] == ord("\n")  # of cells
    is_last = np.arange(1, len(ends) + 1) % width == 0
    if len(ends) % width != width - 1 or not np.array_equal(ends, is_last):
        return None
    cells = lines.replace("\n", delimiter).split(delimiter)
    return [[*map(str.strip, cells[column::width])] for column in range(width)]


def even_rows(
    rows: list[list[str]], lines: Sequence[int], columns: int, file: Location
) -> list[list[str]]:
    """Return the rows. A row with another number of cells than columns is an error."""
    uneven = {
        line: counted(len(row), "cell")
        for line, row in zip(lines, rows, strict=True)
        if len(row) != columns
    }
    if uneven:
        shown = listing([f"line {line} has {cells}" for line, cells in uneven.items()], limit=3)
        raise SedscopeError(
            f"{file}: the header has {counted(columns, 'column')}, but {shown}.",
            lines=[
                f"{file}:{line}: the row has {cells} instead of {columns}"
                for line, cells in uneven.items()
            ],
        )
    return rows


def numbers(table: TextTable, columns: Sequence[int]) -> list[list[float]]:
    """Convert columns to numbers. Cells that are not numbers are an error that lists them."""
    wrong: list[tuple[int, str]] = []
    values: list[list[float]] = []
    for k in columns:
        column = []
        for i, row in enumerate(table.rows):
            try:
                column.append(parse_number(row[k]))
            except ValueError:
                cell = quoted_cell(row[k])
                wrong.append((table.lines[i], f"column {shortened(table.header[k], 60)}: {cell}"))
                column.append(float("nan"))
        values.append(column)
    if wrong:
        noun = "a number" if len(wrong) == 1 else "numbers"
        shown = listing([f"line {line}, {cell}" for line, cell in wrong], limit=3)
        raise SedscopeError(
            f"{table.path}: {subject(len(wrong), 'cell', 'is')} not {noun}: {shown}.",
            lines=[f"{table.path}:{line}: {cell} is not a number" for line, cell in sorted(wrong)],
        )
    return values


def decode(content: bytes, path: Location, first_line: int = 1) -> str:
    """Decode the text of a file, which must be UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + first_line
        kinds = (hint for start, hint in _BINARY_STARTS.items() if content.startswith(start))
        hint = next((f" {hint}" for hint in kinds), "")
        raise SedscopeError(
            f"{path}: line {line} is not UTF-8 text.{hint}",
            lines=[f"{path}:{line}: the line is not UTF-8 text"],
            advice=hint.strip(),
        ) from None


def quoted(cell: str, delimiter: str = "\t") -> str:
    """Quote a cell for a file, if that is necessary. Between commas, spreadsheets must not execute it."""
    cell = cell if delimiter == "\t" else csv_cell(cell)
    special = any(mark in cell for mark in f'"\r\n{delimiter}')
    return '"' + cell.replace('"', '""') + '"' if special else cell


def table_text(rows: Iterable[Sequence[str]], delimiter: str = "\t") -> str:
    """Return rows as the text of a table, with quotes around the cells that need them."""
    return "".join(delimiter.join(quoted(cell, delimiter) for cell in row) + "\n" for row in rows)
