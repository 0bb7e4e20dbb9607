"""Tab-separated text files, read fast, and read again with care when something is wrong."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SedscopeError, counted, listing


@dataclass(frozen=True)
class TextTable:
    """A text file with a header line: names of columns, and rows of cells as they are."""

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    """Where each row stands, as an editor counts lines (the header is line 1)."""

    def place(self, row: int) -> str:
        """Where a row stands, in words."""
        return f"{self.path.name} line {self.lines[row]}"


def read_bytes(path: Path) -> bytes:
    """The content of a file, or a clear word why there is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SedscopeError(f"cannot read {path}: {error.strerror or error}") from None
    if not content.strip():
        raise SedscopeError(f"{path} is empty")
    return content.removeprefix(b"\xef\xbb\xbf")


def split_header(content: bytes, path: Path) -> tuple[list[str], int]:
    """The names in the first line, and where the next line starts."""
    end = content.find(b"\n")
    end = len(content) if end < 0 else end
    line = _decode(content[:end], path).rstrip("\r")
    try:
        names = next(csv.reader([line], delimiter="\t", strict=True), [])
    except csv.Error as error:
        raise SedscopeError(f"{path}: line 1 is no tab-separated header: {error}") from None
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SedscopeError(f"{path}: columns named twice: {listing(twice)}")
    return names, min(end + 1, len(content))


def read_text_table(path: str | Path) -> TextTable:
    """Read a whole table as text. Every row must have as many cells as the header."""
    file = Path(path)
    content = read_bytes(file)
    header, start = split_header(content, file)
    text = _decode(content[start:], file, first_line=2)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 2
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 2
    except csv.Error as error:
        raise SedscopeError(f"{file}: line {line} is no row of a tab-separated table: {error}") from None
    uneven = [
        f"line {line} has {counted(len(row), 'cell')}"
        for line, row in zip(lines, rows, strict=True)
        if len(row) != len(header)
    ]
    if uneven:
        raise SedscopeError(
            f"{file}: {counted(len(header), 'column')} in the header, but {listing(uneven)}"
        )
    return TextTable(file, header, rows, lines)


def number(text: str) -> float:
    """A number as other programs write it: no digit groups, no digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


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
                wrong.append(f"line {table.lines[i]}, column {table.header[k]}: {row[k]!r}")
                column.append(float("nan"))
        values.append(column)
    if wrong:
        raise SedscopeError(
            f"{table.path}: {counted(len(wrong), 'cell')} not a {what}: {listing(wrong)}"
        )
    return values


def _decode(content: bytes, path: Path, first_line: int = 1) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + first_line
        raise SedscopeError(f"{path}: line {line} is not UTF-8 text") from None
