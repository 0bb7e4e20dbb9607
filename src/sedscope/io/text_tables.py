"""Tables as text files, read fast, and read again with care when something is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import SedscopeError, counted, listing, shortened
from .locations import Address, Place, place

_LONGEST_LINE = 16 * 2**20
_MOST_COLUMNS = 100_000
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")


@dataclass(frozen=True)
class TextTable:
    """A text file with a header line: names of columns, and rows of cells as they are."""

    path: Place
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    """Where each row stands, as an editor counts lines (the header is line 1)."""

    def place(self, row: int) -> str:
        """Where a row stands, in words."""
        return f"{self.path.name} line {self.lines[row]}"


def read_bytes(path: Place) -> bytes:
    """The content of a file, or a clear word why there is none."""
    try:
        with path.open("rb") as file:
            if isinstance(path, Address) or path.stat().st_size > _LONGEST_LINE:
                _refuse_endless_lines(iter(lambda: file.read(2**20), b""), path)
                file.seek(0)
            content = file.read()
    except OSError as error:
        raise SedscopeError(f"cannot read {path}: {error.strerror or error}") from None
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise SedscopeError(f"{path} is empty")
    return content


def _refuse_endless_lines(chunks: Iterable[bytes], path: Place) -> None:
    """Nothing that is no table of ours is read whole: its lines give it away."""
    length, line = 0, 1
    for chunk in chunks:
        first = chunk.find(b"\n")
        length = length + len(chunk) if first < 0 else len(chunk) - 1 - chunk.rfind(b"\n")
        line += chunk.count(b"\n")
        if length > _LONGEST_LINE:
            raise SedscopeError(
                f"{path}: line {line} is longer than {_LONGEST_LINE // 2**20} MB: no row of a table is"
            )


def split_header(content: bytes, path: Place, delimiter: str = "\t") -> tuple[list[str], int]:
    """The names in the first line, and where the next line starts."""
    end = content.find(b"\n")
    end = len(content) if end < 0 else end
    line = decode(content[:end], path).rstrip("\r")
    if line.count(delimiter) >= _MOST_COLUMNS:
        raise SedscopeError(f"{path}: more than {_MOST_COLUMNS} columns")
    try:
        names = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise SedscopeError(f"{path}: line 1 is no header of a table: {error}") from None
    return unique_names(names, str(path)), min(end + 1, len(content))


def unique_names(names: list[str], where: str) -> list[str]:
    """Names of columns, none of them twice."""
    if len(set(names)) < len(names):
        twice = sorted(name for name, number in Counter(names).items() if number > 1)
        raise SedscopeError(f"{where}: columns named twice: {listing(twice)}")
    return names


def delimiter_of(line: str) -> str:
    """What separates the cells of a line: tabs, else semicolons, else commas."""
    return next((mark for mark in "\t;," if mark in line), "\t")


def read_text_table(path: str | Place, delimiter: str = "\t") -> TextTable:
    """Read a whole table as text. Every row must have as many cells as the header."""
    file = place(path)
    content = read_bytes(file)
    header, start = split_header(content, file, delimiter)
    rows, lines = split_rows(decode(content[start:], file, first_line=2), file, delimiter, first_line=2)
    return TextTable(file, header, even_rows(rows, lines, len(header), file), lines)


def split_rows(
    text: str, file: Place, delimiter: str, first_line: int = 1
) -> tuple[list[list[str]], list[int]]:
    """The cells of each line that is not blank, and where it stands."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = first_line
    try:
        for row in reader:
            if len(row) > _MOST_COLUMNS:
                raise SedscopeError(f"{file}: more than {_MOST_COLUMNS} columns in line {line}")
            if row:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + first_line
    except csv.Error as error:
        raise SedscopeError(f"{file}: line {line} is no row of a table: {error}") from None
    return rows, lines


def even_rows(rows: list[list[str]], lines: Sequence[int], columns: int, file: Place) -> list[list[str]]:
    """Rows that have as many cells as there are columns."""
    uneven = [
        f"line {line} has {counted(len(row), 'cell')}"
        for line, row in zip(lines, rows, strict=True)
        if len(row) != columns
    ]
    if uneven:
        raise SedscopeError(f"{file}: {counted(columns, 'column')} in the header, but {listing(uneven)}")
    return rows


def number(text: str) -> float:
    """A number as other programs write it: no digit groups, no digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def is_number(text: str) -> bool:
    """Whether a cell is a number."""
    try:
        number(text)
    except ValueError:
        return False
    return True


def quoted_cell(text: str) -> str:
    """A cell for a message; a comma in the place of the decimal point is pointed out."""
    hint = " (write decimals with a point)" if _DECIMAL_COMMA.fullmatch(text) else ""
    return f"{shortened(text, 60)!r}{hint}"


def numbers(table: TextTable, columns: Sequence[int], what: str = "number") -> list[list[float]]:
    """Columns of a table as numbers; all cells that are none are named together."""
    wrong: list[str] = []
    values: list[list[float]] = []
    for k in columns:
        column = []
        for i, row in enumerate(table.rows):
            try:
                column.append(number(row[k]))
            except ValueError:
                cell = quoted_cell(row[k])
                wrong.append(f"line {table.lines[i]}, column {shortened(table.header[k], 60)}: {cell}")
                column.append(float("nan"))
        values.append(column)
    if wrong:
        raise SedscopeError(
            f"{table.path}: {counted(len(wrong), 'cell')} not a {what}: {listing(wrong)}"
        )
    return values


def decode(content: bytes, path: Place, first_line: int = 1) -> str:
    """Text of a file, which must be UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + first_line
        marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        hint = ": it is UTF-16; save it as UTF-8" if marked else ""
        raise SedscopeError(f"{path}: line {line} is not UTF-8 text{hint}") from None


def quoted(cell: str, delimiter: str = "\t") -> str:
    """A cell as it is written to a file."""
    special = any(mark in cell for mark in f'"\r\n{delimiter}')
    return '"' + cell.replace('"', '""') + '"' if special else cell
