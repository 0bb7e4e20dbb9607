"""Parquet files, checked before they are read: polars crashes on some broken files.

Footers and page headers are structs of the compact Thrift protocol. Here they are mappings from field
numbers to values.

Files that sedscope writes have a checksum of the whole file before the footer, where readers do not look."""

from __future__ import annotations

import math
import mmap
import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.choices import refuse_oversized
from ..errors import SedscopeError
from .atomic_write import replacing
from .locations import Location

if TYPE_CHECKING:
    from polars import DataFrame


_TASKS = Path("/proc/self/task")
_NAMES = ("polars-0", "async-executor")


class _Forks:
    """Whether polars had started its threads before this process was forked.

    A fork copies only the thread that forks. Polars would wait forever for the others.
    """

    used = False
    at_fork = False
    lost = False

    def before(self) -> None:
        self.at_fork = self.started()

    def in_child(self) -> None:
        self.lost = self.lost or self.at_fork
        self.used = False

    def started(self) -> bool:
        """Whether the threads of polars run."""
        try:
            names = [(task / "comm").read_text() for task in _TASKS.iterdir()]
        except OSError:  # another system, which does not tell
            return self.used
        return any(name.startswith(_NAMES) for name in names)


_forks = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forks.before, after_in_child=_forks.in_child)


def require_polars_threads(path: object) -> None:
    """Refuse to read or write a file if polars would wait forever for threads that a fork left behind, or
    would end this process because there is no room for them."""
    if _forks.lost:
        raise SedscopeError(
            f"{path} cannot be read or written here: this process was forked after polars had started its "
            "threads, which a fork does not copy. Start processes with the method 'spawn' or "
            "'forkserver' (of a torch DataLoader: multiprocessing_context='spawn'), or convert scores to a "
            "store first (sedscope convert)."
        )
    room, needed = _address_space(), _space_of_threads()
    if room < needed and not _forks.started():
        raise SedscopeError(
            f"{path} cannot be read or written here: the threads of polars need {needed / 1e6:.0f} MB of "
            f"address space, and the limit of this process (ulimit -v) leaves {max(0, room) / 1e6:.0f} MB. "
            "Raise the "
            "limit, set POLARS_MAX_THREADS=1, or convert scores to npz (sedscope convert)."
        )
    _forks.used = True


def _address_space() -> float:
    """Return how many bytes this process may still map; ``inf`` if there is no limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return float(limit - pages * resource.getpagesize())
    except (ImportError, OSError):  # another system, which does not tell
        return math.inf


def _space_of_threads() -> float:
    """Return how many bytes polars maps for its threads, with an arena of memory for most of them.

    That covers what was measured with 1 to 32 threads. With less, it aborts, hangs or raises, as it happens.
    """
    cores = os.cpu_count() or 1
    number = os.environ.get("POLARS_MAX_THREADS", "")
    threads = 3 * (int(number) if number.isdecimal() else cores) + 8
    return 2.0**26 * min(threads, 8 * cores) + 2**22 * threads


_MARK = b"PAR1"
_SEAL = b"sedscope CRC-32 "
_MOST_NESTED = 16
_ROW_GROUPS, _COLUMNS, _ROWS, _ELSEWHERE, _META = 4, 1, 3, 1, 3
_VALUES, _UNPACKED, _PACKED, _DATA_AT, _DICTIONARY_AT = 5, 6, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _DICTIONARY = 2, 3, 7
_COUNTS = {5: (1,), _DICTIONARY: (1,), 8: (1, 2, 3)}
"""By kind of page, the fields of its header that hold numbers of values, nulls and rows."""
_LEVELS = (5, 6)
"""Fields that hold the number of bytes of levels, in newer data pages."""


@contextmanager
def reading_parquet(path: Location | str, kind: str = "Parquet file") -> Iterator[None]:
    """Turn any error while a file is read into one that names the file."""
    import polars

    broken = (
        polars.exceptions.PolarsError,
        polars.exceptions.PanicException,
        OSError,
        ValueError,
        MemoryError,
    )
    require_polars_threads(path)
    unfit = (AttributeError, IndexError, KeyError, OverflowError, TypeError)
    try:
        yield
    except (*broken, *unfit) as error:
        if isinstance(error, SedscopeError):
            raise
        reason = f"its parts do not fit ({error})" if isinstance(error, unfit) else error
        raise SedscopeError(f"{path}: not a readable {kind}: {reason}") from None


def check_parquet(path: Location, content: bytes | None = None) -> list[int]:
    """Refuse a file that polars must not read. Return the number of rows of each row group.

    ``content``: the file, if it is in memory already.
    """
    with reading_parquet(path):
        if content is not None:
            return _check_file(content, str(path))
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return _check_file(view, str(path))


def write_parquet(path: str | Path, make_frame: Callable[[], DataFrame], **options: Any) -> None:
    """Write a polars frame as a Parquet file."""
    import polars

    require_polars_threads(path)
    with replacing(path) as temporary, temporary.open("w+b") as file:
        try:
            with _interrupted_once():
                make_frame().write_parquet(file, **options)
            checksum = 0
            file.seek(0)
            while block := file.read(2**20):
                checksum = zlib.crc32(block, checksum)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                start = _footer_start(content)
                footer = content[start:]
            file.seek(start)
            file.write(_SEAL + checksum.to_bytes(4, "little") + footer)
        except polars.exceptions.PolarsError as error:
            raise SedscopeError(f"Cannot write {path}: {error}") from None


@contextmanager
def _interrupted_once() -> Iterator[None]:
    """Let Ctrl-C arrive once. Polars raises it, and then Python delivers the same signal again, which
    would interrupt the removal of the temporary file."""
    try:
        yield
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            time.sleep(0.001)
        raise


def _check_file(content: bytes | mmap.mmap, where: str) -> list[int]:
    """Refuse a file whose pages are not inside it, or hold more values than their column has.

    Return the number of rows of each row group.
    """
    size = len(content)
    if size < 12 or content[:4] != _MARK or content[-4:] != _MARK:
        raise ValueError("It does not begin and end like one.")
    footer = _footer_start(content)
    if footer < 4:
        raise ValueError("Its footer is longer than the file.")
    if content[max(0, seal := footer - len(_SEAL) - 4) : footer - 4] == _SEAL:
        checksum = zlib.crc32(content[footer:], zlib.crc32(memoryview(content)[:seal]))
        if checksum.to_bytes(4, "little") != content[footer - 4 : footer]:
            raise ValueError("Its checksum is wrong, so it is damaged.")
    unpacked = 0
    groups = _Struct(content, footer, size - 8).fields[_ROW_GROUPS]
    for group in groups:
        for column in group[_COLUMNS]:
            if _ELSEWHERE in column:
                raise ValueError("Its data is in other files, which are not read.")
            _check_pages(content, footer, column[_META])
            unpacked += column[_META][_UNPACKED]
    refuse_oversized(unpacked, size, where)
    return [group[_ROWS] for group in groups]


def _footer_start(content: bytes | mmap.mmap) -> int:
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def _check_pages(content: bytes | mmap.mmap, footer: int, column: dict[int, Any]) -> None:
    position = column.get(_DICTIONARY_AT) or column[_DATA_AT]
    end = position + column[_PACKED]
    if not (
        4 <= position <= column[_DATA_AT] <= end <= footer and column[_VALUES] >= 0 <= column[_UNPACKED]
    ):
        raise ValueError("A column is outside the file.")
    values = 0
    while position < end:
        page = _Struct(content, position, end)
        packed, unpacked = page.fields[_PAGE_PACKED], page.fields[_PAGE_UNPACKED]
        position = page.end + packed
        if packed < 0 or not 0 <= unpacked <= column[_UNPACKED] or position > end:
            raise ValueError("A page is outside its column.")
        kind = next((kind for kind in _COUNTS if kind in page.fields), None)
        if kind is None:
            raise ValueError("A page is of an unknown kind.")
        header = page.fields[kind]
        counts = [header[count] for count in _COUNTS[kind]]
        levels = [header[level] for level in _LEVELS if kind == 8]
        if not all(0 <= n <= column[_VALUES] for n in counts):
            raise ValueError("A page claims more values than its column has.")
        if not all(0 <= n <= packed for n in levels):
            raise ValueError("A page claims more levels than it has room for.")
        values += counts[0] if kind != _DICTIONARY else 0
    if values != column[_VALUES]:
        raise ValueError("The pages and their column differ in the number of values.")


class _Struct:
    """A struct of the compact protocol: its fields by number, and the position of its end."""

    def __init__(self, content: bytes | mmap.mmap, position: int, limit: int) -> None:
        self._content, self._limit = content, limit
        self.end = position
        self.fields = self._struct(0)

    def _byte(self) -> int:
        if self.end >= self._limit:
            raise ValueError("A header is cut off.")
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
                raise ValueError("A number is too long.")

    def _signed(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _struct(self, depth: int) -> dict[int, Any]:
        if depth > _MOST_NESTED:
            raise ValueError("Structs are nested too deeply.")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _MOST_NESTED:
            raise ValueError("Values are nested too deeply.")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (7, 8):
            length = 8 if kind == 7 else self._varint()  # doubles and texts are skipped
            self.end += length
            return None
        if kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            if size > self._limit - self.end:
                raise ValueError("A list is longer than the file.")
            return [self._value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self._struct(depth + 1)
        raise ValueError("A header is not valid.")
