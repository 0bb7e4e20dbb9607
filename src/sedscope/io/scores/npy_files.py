"""Arrays in ``.npy`` files, written row by row and read as memory maps."""

from __future__ import annotations

import mmap
import os
from concurrent.futures import Future
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ...errors import SedscopeError
from ..locations import Address, Location, download_limit, explained, open_input

_LONGEST_HEADER = 2**16 + 16  # bytes
_PART = 2**26  # bytes of a mapped file that are asked for and let go together
_PARTS_USED = 4  # at a time; a batch of clips takes half of them
_REQUEST = 2**24  # bytes of a file at an address that one request reads, where much of it is needed
_REQUESTS_KEPT = 8


class NpyWriter:
    """Writes a ``.npy`` file row by row. The number of rows goes into the header at the end."""

    def __init__(self, path: Path, dtype: Any, columns: int | None) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        self.columns = columns
        self.rows = 0
        self._file = path.open("wb")
        self._head = self._write_header()

    def append(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        self._file.write(np.ascontiguousarray(rows, self.dtype).data)
        self.rows += len(rows)

    def __enter__(self) -> NpyWriter:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Write the number of rows, unless there was an error."""
        with self._file as file:
            if error is None:
                file.seek(0)
                if self._write_header() != self._head:
                    raise SedscopeError(
                        f"Cannot write {self.path}: the header has no room for the number of rows."
                    )
                file.flush()
                os.fsync(file.fileno())

    def _write_header(self) -> int:
        shape = (self.rows,) if self.columns is None else (self.rows, self.columns)
        dtype = np.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": dtype, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)
        return self._file.tell()


def read_header(file: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether columns go first, and the type of an array. Refuse pickles."""
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, columns_first, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, columns_first, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"version {version} of the format is unknown")
    except Exception as error:  # numpy's parser may raise anything for a broken header
        raise SedscopeError(f"{where}: not an array: {error}.") from None
    if any(length < 0 for length in shape) or not dtype.itemsize:
        raise SedscopeError(f"{where}: not an array: its type is {dtype}, and its shape is {shape}.")
    if dtype.fields and not dtype.hasobject:
        raise SedscopeError(f"{where} holds records of several fields. Store plain arrays of numbers.")
    if dtype.hasobject:
        raise SedscopeError(f"{where} holds Python objects, which are never loaded. Store plain arrays.")
    return shape, columns_first, dtype


class RemoteArray:
    """An array in a file at an address. Rows are read when they are needed.

    The file is divided into blocks. The first request of a block reads only the rows that are needed. If
    more are needed later, the next one reads all of it, so that the clips of a set take few requests.
    """

    def __init__(self, file: Address) -> None:
        self._file = file
        self._lock = Lock()
        self._request = min(_REQUEST, download_limit())
        self._touched: set[int] = set()
        self._blocks: dict[int, Future[NDArray[Any]]] = {}
        header = BytesIO(file.read_range(0, _LONGEST_HEADER))
        self.shape, self._columns_first, self.dtype = read_header(header, str(file))
        self._start = header.tell()
        if self._start + self.nbytes > file.stat().st_size:
            raise _cut_short(file, self.shape)

    @property
    def nbytes(self) -> int:
        """Size of the array in bytes."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        first, last, _ = rows.indices(self.shape[0])
        if self._columns_first and len(self.shape) > 1:
            return self._read(0, self.shape, "F")[first:last]
        together = max(1, self._request // max(1, self.nbytes // max(1, self.shape[0])))
        begin, end = first // together, max(first, last - 1) // together
        with self._lock:
            known = all(block in self._touched for block in range(begin, end + 1))
            self._touched.update(range(begin, end + 1))
        if not known or last - first > together:
            return self._read(first, (max(0, last - first), *self.shape[1:]), "C")
        parts = [
            self._block(block, together)[max(first - block * together, 0) : last - block * together]
            for block in range(begin, end + 1)
        ]
        return np.concatenate(parts)  # a copy, which does not keep the blocks in memory

    def _block(self, block: int, together: int) -> NDArray[Any]:
        """Return all rows of a block. Threads that need the same one wait for one request."""
        with self._lock:
            future = self._blocks.pop(block, None)
            is_new = future is None
            if future is None:
                future = Future()
                while len(self._blocks) >= _REQUESTS_KEPT:
                    self._blocks.pop(next(iter(self._blocks)))
            self._blocks[block] = future  # the last one used comes last
        if is_new:
            rows = min(together, self.shape[0] - block * together)
            try:
                future.set_result(self._read(block * together, (rows, *self.shape[1:]), "C"))
            except BaseException as error:
                with self._lock:
                    self._blocks.pop(block, None)
                future.set_exception(error)
        return future.result()

    def _read(self, first: int, shape: tuple[int, ...], order: Literal["C", "F"]) -> NDArray[Any]:
        row = int(np.prod(self.shape[1:], dtype=object)) * self.dtype.itemsize
        start, size = self._start + first * row, shape[0] * row
        content = self._file.read_range(start, start + size) if size else b""
        if len(content) != size:
            raise _cut_short(self._file, self.shape)
        return np.frombuffer(content, self.dtype).reshape(shape, order=order)


class SlidingWindow:
    """Keeps only those pages of a mapped array in memory that were used last, and asks for the next ones.

    The pages that are let go come from the file again if anyone needs them, so nothing is lost. Systems
    that take no such advice manage the pages on their own.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        mapped: Any = array
        while isinstance(mapped, np.ndarray):
            mapped = mapped.base
        self._map: mmap.mmap | None = mapped if hasattr(mapped, "madvise") else None
        self._row = array.strides[0]
        self._used: list[int] = []

    def move_to(self, first: int, last: int) -> None:
        """Say that the rows from number ``first`` to before ``last`` will be used."""
        if self._map is None:
            return
        for part in range(first * self._row // _PART, last * self._row // _PART + 1):
            if part in self._used:
                continue
            follows = part - 1 in self._used
            self._used.append(part)
            if follows:
                _advise(self._map, mmap.MADV_WILLNEED, part + 1)
            if len(self._used) > _PARTS_USED:
                _advise(self._map, mmap.MADV_DONTNEED, self._used.pop(0))


def _advise(mapped: mmap.mmap, advice: int, part: int) -> None:
    start = part * _PART
    if start < len(mapped):
        mapped.madvise(advice, start, min(_PART, len(mapped) - start))


def _cut_short(path: Location, shape: tuple[int, ...]) -> SedscopeError:
    return SedscopeError(f"{path} is cut short. It has no room for an array of shape {shape}.")


@overload
def mapped_array(path: Path, offset: int = 0) -> NDArray[Any]: ...
@overload
def mapped_array(path: Location, offset: int = 0) -> NDArray[Any] | RemoteArray: ...
def mapped_array(path: Location, offset: int = 0) -> NDArray[Any] | RemoteArray:
    """Map an array in a file into memory, or open it at an address to read it in parts."""
    if isinstance(path, Address):
        return RemoteArray(path)
    with explained(f"Cannot read {path}", OSError, ValueError), open_input(path) as file:
        file.seek(offset)
        shape, columns_first, dtype = read_header(file, str(path))
        start, size = file.tell(), os.fstat(file.fileno()).st_size
        count = int(np.prod(shape, dtype=object))
        if start + count * dtype.itemsize > size:
            raise _cut_short(path, shape)
        if not count:
            return np.empty(shape, dtype)
        mapped: NDArray[Any] = np.memmap(path, dtype, "r", start, shape, "F" if columns_first else "C")
        return mapped.view(np.ndarray)
