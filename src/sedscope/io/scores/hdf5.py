"""Scores in one HDF5 file, in any layout of :mod:`.named_arrays`. Needs h5py, the extra ``hdf5``."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ... import _import_path
from ...data.choices import refuse_oversized
from ...data.clip_scores import ClipScores
from ...data.scores import Scores
from ...errors import SedscopeError, located
from ..atomic_write import replacing
from ..locations import Address, Location, explained, location
from .format import ScoreFormat, ScoreReadOptions, starts_with
from .named_arrays import SCORES, TICKS, ArrayFile, index_arrays, scores_from

SECONDS = 60.0
"""How long the process may take for a small file."""
BYTES_PER_SECOND = 20e6
"""How much longer it may take for a large one."""
_MEMORY = 2**33
_REFUSED = 3
_CODE = f"from {__name__} import run; run(sys.argv[1], float(sys.argv[2]))"
_checked: set[tuple[str, int, int]] = set()


def require_sound(path: Location) -> None:
    """Refuse a file on which the library crashes or does not come to an end.

    A file that is merely not one of scores passes: its reader has the better message.
    """
    identity = _identity(path)
    if identity is not None and identity in _checked:
        return
    seconds = SECONDS + (identity[1] if identity else 0) / BYTES_PER_SECOND
    # Isolated (-I), the process has nothing but this path to import from.
    code = f"import sys\nsys.path[:] = {_import_path()!a}\n{_CODE}"
    options = ["-I", "-W", "ignore", "-c", code, str(path), str(seconds)]
    command = [os.fsdecode(get_executable()), *options]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        child = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise SedscopeError(
            f"{path} is damaged, or is not an ordinary HDF5 file: going through it takes longer than "
            f"{seconds:.0f} s. If h5py can read it, convert it to npz."
        ) from None
    except OSError as error:
        raise SedscopeError(f"{path}: cannot start a process that checks the file: {error}.") from None
    if child.returncode == 1:
        reason = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise SedscopeError(f"{path}: the process that checks the file failed: {reason}.")
    if child.returncode not in (0, _REFUSED):
        raise SedscopeError(f"{path} is damaged: the HDF5 library crashes when it reads the file.")
    if identity is not None:
        _checked.add(identity)


def _identity(path: Location) -> tuple[str, int, int] | None:
    """Return what changes with the content of a file; None for a file on another machine."""
    if not isinstance(path, Path):
        return None
    status = path.stat()
    return str(path.absolute()), status.st_size, status.st_mtime_ns


def run(path: str, seconds: float) -> None:
    """Go through a file, as the process that may crash."""
    _limit(seconds)
    try:
        walk(location(path))
    except Exception:  # the library is well, and the reader says what is wrong
        sys.exit(_REFUSED)


def _limit(seconds: float) -> None:
    """Bound time and memory, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: int(seconds) + 1}
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + _MEMORY
    for kind, limit in limits.items():
        _, most = resource.getrlimit(kind)
        lowered = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(kind, (lowered, lowered))


_BROKEN = (OSError, RuntimeError, ValueError, KeyError, TypeError, OverflowError, MemoryError)
_MOST_ATTRIBUTE_BYTES = 2**24
_MOST_DATA_BYTES = 2**26
_CHUNK_BYTES = 2**16


def recognise(path: Location) -> bool:
    """Look for the signature of HDF5."""
    return starts_with(path, b"\x89HDF\r\n\x1a\n")


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise SedscopeError(
            "HDF5 files need h5py. Install it with: pip install 'sedscope[hdf5]'"
        ) from None
    return h5py


def read(path: Location, options: ScoreReadOptions) -> Scores:
    """Read the scores of a file. Links to other files are never followed."""
    h5py = _h5py()
    state = None if isinstance(path, Address) else _FileState.of(path)
    require_sound(path)
    with explained(f"{path}: not an HDF5 file of scores", *_BROKEN):
        file = _opened(h5py, path)  # stays open as long as the scores exist
        try:
            return scores_from(_arrays(h5py, file, path, state), options)
        except BaseException:
            file.close()
            raise


class _FileState:
    """The state of a file that is open. The library keeps what it knows of a file that changes later, and
    shares it with everyone who opens the file anew."""

    open_files: ClassVar[WeakValueDictionary[tuple[int, int], _FileState]] = WeakValueDictionary()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = self._look()

    @classmethod
    def of(cls, path: Path) -> _FileState:
        """Return the state of a file. Refuse a file that has changed since it was opened."""
        now = cls(path)
        number = now.state[:2]
        if number in cls.open_files and cls.open_files[number].state != now.state:
            gc.collect()  # scores that nobody needs any more
        known = cls.open_files.setdefault(number, now)
        with located(path):
            known.require_unchanged()
        return known

    def require_unchanged(self) -> None:
        """Refuse to read on if the file has changed."""
        if self._look() != self.state:
            raise SedscopeError(
                "The file has changed since it was opened. Delete the scores that were read from it before "
                "you read it again, or write new scores to a new file."
            )

    def _look(self) -> tuple[int, int, int, int]:
        status = self.path.stat()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def walk(path: Location) -> None:
    """Go through everything in a file that reading it relies on: small data, and where large data lies."""
    h5py = _h5py()
    with _opened(h5py, path) as file:
        arrays = _arrays(h5py, file, path)
        for name, shape in arrays.shapes.items():
            dataset = file[name]
            if dataset.dtype.kind == "O" or dataset.nbytes <= _MOST_DATA_BYTES:
                arrays.read(name, slice(None))
            elif dataset.chunks is not None:
                dataset.id.chunk_iter(lambda _: None)
            elif shape[0]:
                arrays.read(name, slice(shape[0] - 1, None))


def _opened(h5py: Any, path: Location) -> Any:
    return h5py.File(path.open_in_parts() if isinstance(path, Address) else path, "r")


def _arrays(h5py: Any, file: Any, path: Location, state: _FileState | None = None) -> ArrayFile:
    shapes: dict[str, tuple[int, ...]] = {}
    types: dict[str, np.dtype[Any]] = {}
    sets: dict[str, Any] = {}
    for name, dataset in _datasets(h5py, file, str(path)):
        if dataset.shape is None:
            continue
        where = f"{path}, data set {name!r}"
        if dataset.external or dataset.is_virtual:
            raise SedscopeError(f"{where}: its data is in other files, which are not read.")
        refuse_oversized(dataset.nbytes, dataset.id.get_storage_size() + 64, where)
        shapes[name], types[name], sets[name] = dataset.shape, dataset.dtype, dataset
    attributes = {
        name: file.attrs[name]
        for name in file.attrs
        if file.attrs.get_id(name).get_storage_size() <= _MOST_ATTRIBUTE_BYTES
    }

    def read_rows(name: str, rows: slice | int) -> NDArray[Any]:
        if state is not None:
            state.require_unchanged()
        with explained(f"Data set {name!r} cannot be read", *_BROKEN):
            return np.asarray(sets[name][()] if sets[name].shape == () else sets[name][rows])

    return ArrayFile(str(path), shapes, types, read_rows, attributes, thread_safe=True)


def _datasets(
    h5py: Any, group: Any, where: str, prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Iterate over all data sets with their paths. Links are refused, not followed."""
    if depth > 8:
        raise SedscopeError(f"{where}: groups are nested too deeply.")
    for name in group:
        path = f"{prefix}{name}"
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise SedscopeError(f"{where}: {path!r} is a link, and links are not followed.")
        item = group[name]
        if isinstance(item, h5py.Dataset):
            yield path, item
        elif isinstance(item, h5py.Group):
            yield from _datasets(h5py, item, where, f"{path}/", depth + 1)


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write one array of all frames × classes, with clips, numbers of frames and boundaries.

    The file is made in memory first, because the library crashes if the disk is full. All data is in
    chunks with checksums, and so is, in this version of the format, everything else.
    """
    h5py = _h5py()
    written = dict(clips)
    if not written:
        raise SedscopeError(f"{path}: there is no clip to write.")
    arrays = index_arrays(scores, [*written], [len(clip.values) for clip in written.values()])
    arrays[SCORES[0]] = np.concatenate([clip.values for clip in written.values()])
    arrays[TICKS] = np.concatenate([clip.ticks for clip in written.values()])
    try:
        with h5py.File(
            path.name, "w", driver="core", backing_store=False, libver=("v110", "v110")
        ) as file:
            for name, array in arrays.items():
                if not array.shape:
                    file.attrs[name] = array
                    continue
                data = array
                if array.dtype.kind == "U":  # of one length, as others have no checksums
                    data = np.char.encode(array, "utf-8")
                    data = data.astype(h5py.string_dtype(length=max(1, data.dtype.itemsize)))
                rows = max(1, _CHUNK_BYTES // max(1, data[:1].nbytes))
                chunks = (min(rows, len(data)), *data.shape[1:]) if data.size else None
                file.create_dataset(name, data=data, chunks=chunks, fletcher32=chunks is not None)
            file.flush()
            image = file.id.get_file_image()
    except _BROKEN as error:
        raise SedscopeError(f"Cannot write {path}: {error}.") from None
    with replacing(path) as temporary:
        temporary.write_bytes(image)


FORMATS = (
    ScoreFormat(
        name="hdf5",
        about="one HDF5 file: a data set per clip, or one for all clips with their ids (needs h5py)",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"frames of no length", "unknown ends", "clips without frames"}),
        needs_options=True,
        reads_parts=True,
        suffixes=(".h5", ".hdf5"),
    ),
)
