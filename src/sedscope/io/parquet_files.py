"""Parquet files, looked over before they are read: some broken numbers end the whole program in polars.

Footers and page headers are structs of the compact Thrift protocol, here mappings from field numbers.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SedscopeError
from .atomic_write import refuse_claims, replacing
from .locations import Place

if TYPE_CHECKING:
    from polars import DataFrame

_MARK = b"PAR1"
_MOST_NESTED = 16
_ROW_GROUPS, _COLUMNS, _ELSEWHERE, _META = 4, 1, 1, 3
_VALUES, _UNPACKED, _PACKED, _DATA_AT, _DICTIONARY_AT = 5, 6, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _DICTIONARY = 2, 3, 7
_COUNTS = {5: (1,), _DICTIONARY: (1,), 8: (1, 2, 3)}
"""By the kind of a page, the numbers of values, nulls and rows in its header."""
_LEVELS = (5, 6)
"""How many bytes the levels of newer data pages take."""


@contextmanager
def reading_parquet(path: Place) -> Iterator[None]:
    """Whatever is wrong with a file is a word on it."""
    import polars

    broken = (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError)
    try:
        yield
    except (*broken, OverflowError, MemoryError, IndexError, TypeError, KeyError) as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"{path}: not a Parquet file that can be read: {error}") from None


def look_over_parquet(path: Place, content: bytes | None = None) -> None:
    """Refuse a file that must not be read. ``content``: of a file that is in memory already."""
    with reading_parquet(path):
        if content is not None:
            _look_over(content, str(path))
        else:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                _look_over(view, str(path))


def write_parquet(path: str | Path, frame: DataFrame, **options: Any) -> None:
    """Write a polars frame as a Parquet file."""
    import polars

    with replacing(path) as temporary:
        try:
            frame.write_parquet(temporary, **options)
        except polars.exceptions.PolarsError as error:
            raise SedscopeError(f"cannot write {path}: {error}") from None


def _look_over(content: bytes | mmap.mmap, where: str) -> None:
    """Refuse a file whose pages do not lie in it, or hold more values than their column has."""
    size = len(content)
    if size < 12 or content[:4] != _MARK or content[-4:] != _MARK:
        raise ValueError("it does not begin and end as one")
    footer = size - 8 - int.from_bytes(content[size - 8 : size - 4], "little")
    if footer < 4:
        raise ValueError("its footer is longer than the file")
    unpacked = 0
    for group in _Struct(content, footer, size - 8).fields[_ROW_GROUPS]:
        for column in group[_COLUMNS]:
            if _ELSEWHERE in column:
                raise ValueError("its data lies in other files, which are not read")
            _look_over_pages(content, footer, column[_META])
            unpacked += column[_META][_UNPACKED]
    refuse_claims(unpacked, size, where)


def _look_over_pages(content: bytes | mmap.mmap, footer: int, column: dict[int, Any]) -> None:
    at = column.get(_DICTIONARY_AT) or column[_DATA_AT]
    end = at + column[_PACKED]
    if not (4 <= at <= column[_DATA_AT] <= end <= footer and column[_VALUES] >= 0 <= column[_UNPACKED]):
        raise ValueError("a column lies outside the file")
    values = 0
    while at < end:
        page = _Struct(content, at, end)
        packed, unpacked = page.fields[_PAGE_PACKED], page.fields[_PAGE_UNPACKED]
        at = page.end + packed
        if packed < 0 or not 0 <= unpacked <= column[_UNPACKED] or at > end:
            raise ValueError("a page lies outside its column")
        kind = next((kind for kind in _COUNTS if kind in page.fields), None)
        if kind is None:
            raise ValueError("a page is of no known kind")
        header = page.fields[kind]
        counts = [header[count] for count in _COUNTS[kind]]
        levels = [header[level] for level in _LEVELS if kind == 8]
        if not all(0 <= n <= column[_VALUES] for n in counts):
            raise ValueError("a page claims more values than its column has")
        if not all(0 <= n <= packed for n in levels):
            raise ValueError("a page claims more levels than it has room for")
        values += counts[0] if kind != _DICTIONARY else 0
    if values != column[_VALUES]:
        raise ValueError("pages and column differ in the number of values")


class _Struct:
    """A struct of the compact protocol: its fields by number, and where it ends."""

    def __init__(self, content: bytes | mmap.mmap, at: int, limit: int) -> None:
        self._content, self._limit = content, limit
        self.end = at
        self.fields = self._struct(0)

    def _byte(self) -> int:
        if self.end >= self._limit:
            raise ValueError("a header is cut off")
        self.end += 1
        return self._content[self.end - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number is too long")

    def _signed(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _struct(self, depth: int) -> dict[int, Any]:
        if depth > _MOST_NESTED:
            raise ValueError("structs within structs within structs")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (7, 8):
            length = 8 if kind == 7 else self._varint()  # doubles and texts are of no interest
            self.end += length
            return None
        if kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            if size > self._limit - self.end:
                raise ValueError("a list is longer than the file")
            return [self._value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self._struct(depth + 1)
        raise ValueError("a header is none")
