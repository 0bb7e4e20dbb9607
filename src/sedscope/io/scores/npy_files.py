"""Arrays in ``.npy`` files, written row by row and read as memory maps."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial as bound
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ...errors import SedscopeError
from ..locations import Address, Location, download_limit, explained, open_input

_LONGEST_HEADER = 2**16 + 16  # bytes
_REQUEST = 2**24  # bytes of a file at an address that one request reads, where much of it is needed
_REQUESTS_KEPT = 8
_REQUESTS_AT_ONCE = 4


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

    def close(self) -> None:
        """Write the number of rows, unless that was done before."""
        if self._file.closed:
            return
        with self._file as file:
            file.seek(0)
            if self._write_header() != self._head:
                raise SedscopeError(
                    f"Cannot write {self.path}: the header has no room for the number of rows."
                )
            file.flush()
            os.fsync(file.fileno())

    def __enter__(self) -> NpyWriter:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Finish the file, unless there was an error."""
        if error is None:
            self.close()
        self._file.close()

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


class Blocks:
    """The blocks of some arrays at addresses that were requested last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks: dict[Hashable, Future[NDArray[Any]]] = {}
        self._pool = ThreadPoolExecutor(_REQUESTS_AT_ONCE)

    def request(self, key: Hashable, read: Callable[[], NDArray[Any]]) -> Future[NDArray[Any]]:
        """Begin to read a block in the background, unless that was done before. Threads that need the same
        one wait for one request."""
        with self._lock:
            future = self._blocks.pop(key, None)
            if future is None or (future.done() and future.exception()):
                future = self._pool.submit(read)
            self._blocks[key] = future  # the last one used comes last
            if len(self._blocks) > _REQUESTS_KEPT:
                self._blocks.pop(next(iter(self._blocks)))
        return future


class RemoteArray:
    """An array in a file at an address. Rows are read when they are needed.

    The file is divided into blocks. The first request of a block reads only the rows that are needed. If
    more are needed later, the next one reads all of it, and the next block in advance, so that the clips of
    a set take few requests.
    """

    def __init__(self, file: Address, blocks: Blocks) -> None:
        self._file, self._blocks = file, blocks
        self._request = min(_REQUEST, download_limit())
        self._touched: set[int] = set()
        content = file.read_range(0, _LONGEST_HEADER)
        header = BytesIO(content)
        self.shape, self._columns_first, self.dtype = read_header(header, str(file))
        self._start = header.tell()
        self._content = content if self._start + self.nbytes <= len(content) else None
        """All of a small file."""

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
        known = self._touched.issuperset(range(begin, end + 1))
        self._touched.update(range(begin, end + 1))
        if not known or not 0 < last - first <= together:
            return self._rows(first, last)
        self._touched.add(end + 1)  # which is requested in advance
        blocks = [
            self._blocks.request((self._file.url, at), bound(self._rows, at, at + together))
            for at in range(begin * together, min((end + 2) * together, self.shape[0]), together)
        ]
        parts = [
            blocks[block].result()[max(first - at, 0) : last - at]
            for block, at in enumerate(range(begin * together, last, together))
        ]
        return np.concatenate(parts)  # a copy, which does not keep the blocks in memory

    def _rows(self, first: int, last: int) -> NDArray[Any]:
        rows = max(0, min(last, self.shape[0]) - first)
        return self._read(first, (rows, *self.shape[1:]), "C")

    def _read(self, first: int, shape: tuple[int, ...], order: Literal["C", "F"]) -> NDArray[Any]:
        row = int(np.prod(self.shape[1:], dtype=object)) * self.dtype.itemsize
        start, size = self._start + first * row, shape[0] * row
        if self._content is not None:
            content = self._content[start : start + size]
        else:
            content = self._file.read_range(start, start + size) if size else b""
        if len(content) != size:
            raise _cut_short(self._file, self.shape)
        return np.frombuffer(content, self.dtype).reshape(shape, order=order)


def let_go(array: object) -> None:
    """Let go of the pages of a mapped array. They come from the file again if anyone needs them, as a clip
    does that is kept. Systems that take no such advice manage the pages on their own."""
    while isinstance(array, np.ndarray):
        array = array.base
    if hasattr(array, "madvise"):
        array.madvise(mmap.MADV_DONTNEED)


def _cut_short(path: Location, shape: tuple[int, ...]) -> SedscopeError:
    return SedscopeError(f"{path} is cut short. It has no room for an array of shape {shape}.")


@overload
def mapped_array(path: Path, offset: int = 0) -> NDArray[Any]: ...
@overload
def mapped_array(path: Location, offset: int = 0) -> NDArray[Any] | RemoteArray: ...
def mapped_array(path: Location, offset: int = 0) -> NDArray[Any] | RemoteArray:
    """Map an array in a file into memory, or open it at an address to read it in parts."""
    if isinstance(path, Address):
        return RemoteArray(path, Blocks())
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
