"""Tables as users bring them: data frames, and cells that are not checked yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import SedscopeError, listing, shortened
from .arrays import FloatArray

if TYPE_CHECKING:
    from narwhals import DataFrame

FrameLike: TypeAlias = Any
"""A frame of pandas, polars or pyarrow, or a mapping of columns. narwhals finds out which."""


def as_frame(table: FrameLike, where: str) -> DataFrame[Any]:
    """Wrap a frame, or a mapping of columns, with narwhals."""
    import narwhals

    try:
        if isinstance(table, Mapping):
            import polars

            table = polars.DataFrame(dict(table), strict=False)
        frame: DataFrame[Any] = narwhals.from_native(table, eager_only=True)
        frame.columns  # noqa: B018  # raises if a name occurs twice
        return frame
    except (TypeError, ValueError, narwhals.exceptions.NarwhalsError) as error:
        raise SedscopeError(
            f"{where}: expected a pandas, polars or pyarrow table, not {type(table).__name__}: {error}"
        ) from None


def is_frame(table: object) -> bool:
    """Return whether something is a frame of pandas, polars or pyarrow."""
    return hasattr(table, "columns") and hasattr(table, "shape")


_TABLE_METHODS = (
    *("get_fragments", "to_pyarrow_dataset", "plan_files", "current_snapshot"),
    *("to_arrow_refs", "mapInArrow"),
)
"""Methods of Arrow datasets, Delta tables, scans and tables of Iceberg, Ray datasets and tables in Spark, by
which these are known."""


def is_table(system: object) -> bool:
    """Return whether something is a table that another library reads, as a stream."""
    return any(hasattr(system, method) for method in _TABLE_METHODS)


def is_columns(table: Mapping[str, Any]) -> bool:
    """Return whether a mapping has the columns of a table of events or frames, not clips."""
    return "filename" in table or "onset" in table


Cell: TypeAlias = "str | float | None"
_EMPTY = ("", "nan", "NaN", "None", "null")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")


@dataclass(frozen=True)
class RowLocation:
    """Where a row of a table is."""

    text: str
    """In words, for messages: ``truth.tsv line 3``."""
    origin: str = ""
    """File and line as editors write them, ``folder/truth.tsv:3``; empty for tables in memory."""

    def __str__(self) -> str:
        return self.text

    def finding(self, message: str) -> str:
        """Return a message about the row, as ``file:line: message``."""
        return f"{self.origin or self.text}: {message}"


@dataclass(frozen=True)
class CellTable:
    """A table with a header."""

    where: str
    """Name of the file or table, for messages."""
    header: Sequence[str]
    columns: Sequence[Sequence[Cell]]
    """The cells of each column, as many as there are rows."""
    row_location: Callable[[int], RowLocation]
    """Says where a row is, for messages."""

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> list[Cell]:
        """Return the cells of a column."""
        return [*self.columns[[*self.header].index(name)]]

    def text_column(self, name: str) -> list[str]:
        """Return the cells of a column as text."""
        return ["" if cell is None else str(cell).strip() for cell in self.column(name)]

    def require(self, names: Sequence[str], advice: str = "") -> None:
        """Refuse a table without these columns. ``advice``: what to do about it."""
        check_columns(names, self.header, self.where, advice)


def check_columns(names: Sequence[str], header: Sequence[str], where: str, advice: str = "") -> None:
    """Refuse a header without these names. ``advice``: what to do about it."""
    missing = [repr(name) for name in names if name not in header]
    if missing:
        absent = "is no column" if len(missing) == 1 else "are no columns"
        text = f"{where}: there {absent} {listing(missing)}. The columns are "
        text += f"{listing([repr(shortened(name, 60)) for name in header])}. {advice}"
        raise SedscopeError(text.rstrip(), advice=advice)


def cells_from_frame(frame: FrameLike, where: str) -> CellTable:
    """Read the cells of a frame of pandas, polars or pyarrow, or of a mapping of columns."""
    table = as_frame(frame, where)
    return CellTable(
        where,
        list(table.columns),
        [_frame_cells(table[name].to_list()) for name in table.columns],
        lambda i: RowLocation(f"row {i}"),
    )


def _frame_cells(cells: list[Any]) -> list[Cell]:
    """Convert a column of a frame. Most hold texts alone, or numbers alone."""
    kinds = {*map(type, cells)}
    done = kinds == {str} or (kinds == {float} and not np.isnan(cells).any())
    return cells if done else [*map(_frame_cell, cells)]


def _frame_cell(cell: object) -> Cell:
    """Convert a cell of a frame. Whatever a library uses for a missing value becomes an empty cell."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float):
        return cell if cell == cell else ""
    return "" if cell is None or str(cell) in ("<NA>", "NaT") else str(cell)


def is_empty(cell: Cell) -> bool:
    """Return whether a cell has no value."""
    return cell is None or cell in _EMPTY or cell != cell


def cell_number(cell: Cell) -> float:
    """Convert a cell to a number, or raise ValueError."""
    if isinstance(cell, str):
        return parse_number(cell)
    try:
        return float(cell if cell is not None else "")
    except (TypeError, OverflowError):
        raise ValueError(f"{cell!r} is not a number") from None


def cell_numbers(cells: Sequence[Cell]) -> FloatArray | None:
    """Convert a column at once, as :func:`cell_number` does; None if a cell is not a number."""
    try:
        texts = "".join(cells)  # type: ignore[arg-type]  # most columns hold text alone, or none
    except TypeError:
        texts = "".join(cell for cell in cells if isinstance(cell, str))
    if "_" in texts or not texts.isascii():
        return None
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def parse_number(text: str) -> float:
    """Convert a number as other programs write it, without digit groups or digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        parse_number(text)
    except ValueError:
        return False
    return True


def quoted_cell(cell: Cell) -> str:
    """Quote a cell for a message, with a hint if it has a decimal comma."""
    text = "" if cell is None else str(cell)
    hint = " (write decimals with a point)" if _DECIMAL_COMMA.fullmatch(text) else ""
    return f"{shortened(text, 60)!r}{hint}"
