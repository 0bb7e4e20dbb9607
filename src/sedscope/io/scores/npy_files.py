"""Arrays in ``.npy`` files: written row by row, read as memory maps."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ...errors import SedscopeError
from ..locations import Address, Place

_LONGEST_HEADER = 2**16 + 16


class GrowingArray:
    """A ``.npy`` file of rows that are appended; its header says how many once it is closed."""

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

    def __enter__(self) -> GrowingArray:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Write how many rows there are, if all went well."""
        with self._file as file:
            if error is None:
                file.seek(0)
                if self._write_header() != self._head:
                    raise SedscopeError(f"cannot write {self.path}: no room for the number of rows")
                file.flush()
                os.fsync(file.fileno())

    def _write_header(self) -> int:
        shape = (self.rows,) if self.columns is None else (self.rows, self.columns)
        described = np.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": described, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)
        return self._file.tell()


def read_header(file: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether columns go first, and the type of an array; nothing that needs a pickle."""
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, columns_first, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, columns_first, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"version {version} of the format")
    except Exception as error:  # whatever a broken header makes numpy's parser say
        raise SedscopeError(f"{where}: not an array: {error}") from None
    if dtype.hasobject or dtype.fields:
        raise SedscopeError(f"{where}: holds Python objects, which are never loaded; store plain arrays")
    return shape, columns_first, dtype


class RemoteArray:
    """An array in a file at an address: rows are read when they are asked for."""

    def __init__(self, file: Address) -> None:
        self._file = file
        header = BytesIO(file.read_range(0, _LONGEST_HEADER))
        self.shape, self._columns_first, self.dtype = read_header(header, str(file))
        self._start = header.tell()
        if self._start + self.nbytes > file.stat().st_size:
            raise _cut_short(file, self.shape)

    @property
    def nbytes(self) -> int:
        """How large the array is."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        first, last, _ = rows.indices(self.shape[0])
        if self._columns_first and len(self.shape) > 1:
            return self._read(0, self.shape, "F")[first:last]
        return self._read(first, (max(0, last - first), *self.shape[1:]), "C")

    def _read(self, first: int, shape: tuple[int, ...], order: Literal["C", "F"]) -> NDArray[Any]:
        row = int(np.prod(self.shape[1:], dtype=object)) * self.dtype.itemsize
        start, size = self._start + first * row, shape[0] * row
        content = self._file.read_range(start, start + size) if size else b""
        if len(content) != size:
            raise _cut_short(self._file, self.shape)
        return np.frombuffer(content, self.dtype).reshape(shape, order=order)


def _cut_short(path: Place, shape: tuple[int, ...]) -> SedscopeError:
    return SedscopeError(f"{path}: cut short: it has no room for an array of shape {shape}")


@overload
def mapped_array(path: Path, offset: int = 0) -> NDArray[Any]: ...
@overload
def mapped_array(path: Place, offset: int = 0) -> NDArray[Any] | RemoteArray: ...
def mapped_array(path: Place, offset: int = 0) -> NDArray[Any] | RemoteArray:
    """An array in a file as a memory map; at an address, one that is read in parts."""
    if isinstance(path, Address):
        return RemoteArray(path)
    try:
        with path.open("rb") as file:
            file.seek(offset)
            shape, columns_first, dtype = read_header(file, str(path))
            start, size = file.tell(), os.fstat(file.fileno()).st_size
            count = int(np.prod(shape, dtype=object))
            if start + count * dtype.itemsize > size:
                raise _cut_short(path, shape)
            if not count:
                return np.empty(shape, dtype)
            mapped: NDArray[Any] = np.memmap(
                path, dtype, "r", start, shape, "F" if columns_first else "C"
            )
            return mapped.view(np.ndarray)
    except (OSError, ValueError) as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
