"""The format ``store``: a folder with arrays of scores, its shards, and a small index.

``scores-0.npy``, ``scores-1.npy``, …: the frames of some clips, one after the other, × classes. They have up
to 64 MB, unless one clip has more, and one type each, float32 or float64.
``ticks.npy``: frame boundaries in microseconds. Clips with the same boundaries share them.
``index.json``: classes, clips, the number of frames and the shard of each clip, where its boundaries begin,
and checksums of the scores of each clip, of ``ticks.npy``, and of the index itself.

An index made by hand can state ``"frame"``, the length of all frames in seconds, instead of using
``ticks.npy``, and needs no shards if there is only one, and no checksums.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ...data.arrays import ScoreArray
from ...data.clip_scores import ChecksummedClip, ClipScores
from ...data.scores import Scores, ScoreSource
from ...data.times import Ticks, check_ticks, frame_ticks
from ...errors import SedscopeError, counted, listing, located
from ..atomic_write import filling, write_text
from ..locations import Address, Location, explained, read_input
from .format import FileIdentity, ScoreFormat, ScoreReadOptions, file_state
from .npy_files import Blocks, NpyWriter, RemoteArray, let_go, mapped_array

_FORMAT, _VERSION = "sedscope scores", 3
_INDEX, _TICKS = "index.json", "ticks.npy"
_INDEX_CRC, _TICKS_CRC, _CHECKSUMS = "crc32", "ticks_crc32", "checksums"
_KEYS = frozenset(
    {"format", "version", "classes", "clips", "frames", "frame", "ticks", "shards", "whole_clips"}
    | {_INDEX_CRC, _TICKS_CRC, _CHECKSUMS}
)
_SHARD = "scores-{}.npy"
_SHARD_BYTES = 2**26
_MAPPED = 3  # shards of a large store in memory, of which a batch of clips takes two
_LARGEST_INDEX = 2**30  # bytes
_ALL_AT_ONCE = 2**28  # bytes


def recognise(path: Location) -> bool:
    """Look for an index in a folder."""
    return (path / _INDEX).is_file()


def read(path: Location, _: ScoreReadOptions) -> Scores:
    """Read the scores of a store. A clip is a view of a memory map, or is requested from its address."""
    written = (path / _INDEX, path / _TICKS)
    local = [file for file in written if isinstance(file, Path)]
    state = file_state(local)
    index = FolderIndex(path)
    clips: dict[str, tuple[int, int]] = {}
    rows = [0] * (1 + max(index.shards, default=-1))
    for k, (clip, frames, shard) in enumerate(zip(index.clips, index.frames, index.shards, strict=True)):
        clips[clip] = k, rows[shard]
        rows[shard] += frames
    if len(clips) < len(index.clips):
        raise SedscopeError(f"{path / _INDEX}: some clips are named twice.")
    shards = _Shards(path, rows, len(index.classes))
    unverified = set(clips) if index.checksums else set()

    def load(clip: str) -> ClipScores:
        k, first = clips[clip]
        values = shards.array(index.shards[k])[first : first + index.frames[k]]
        if clip in unverified:
            checksum = _checksum(values)
            if checksum != index.checksums[k]:
                raise SedscopeError(
                    f"{shards.file(index.shards[k])} is damaged: the checksum of the scores of clip {clip} "
                    f"is not the one in {_INDEX}. Write the store again."
                )
            if local:
                unverified.discard(clip)
            return ChecksummedClip.of(values, index.boundaries(k), checksum)
        return ClipScores.unchecked(values, index.boundaries(k))

    # Views cost nothing, and the core reads their pages in all of its threads, so all clips at once is
    # fastest. A large set goes in batches, so that memory can be released in between. Then several threads
    # read ahead, and compute checksums; at an address, they send requests.
    source = ScoreSource(
        load,
        tuple(index.classes),
        in_memory=bool(local) and not shards.large,
        thread_safe=not local or shards.large,
        whole_clips=index.whole_clips,
        # a store that is written again has another index, and a shard that was altered is refused
        identify=FileIdentity("store", None, local, state) if local and index.checksums else None,
    )
    return Scores._of(clips, source)


class _Shards:
    """The arrays of a store.

    Those on this machine are mapped into memory. Of a large store, only the last ones that were used stay
    there, and the next one is asked for. At an address, each is opened when it is needed.
    """

    def __init__(self, folder: Location, rows: Sequence[int], classes: int) -> None:
        """``rows``: of each array."""
        self._folder, self._rows, self._classes = folder, rows, classes
        self._arrays: dict[int, NDArray[Any] | RemoteArray] = {}
        self._states: dict[int, tuple[int, ...]] = {}  # of files, when they were opened first
        self._lock, self._blocks = Lock(), Blocks()
        is_local = isinstance(folder, Path)
        self.large = is_local and 4 * classes * sum(rows) > _ALL_AT_ONCE
        for number in range(len(rows)) if is_local else ():
            array = self._opened(number)  # a missing one is reported at once
            if not self.large:
                self._arrays[number] = array

    def file(self, number: int) -> Location:
        """Return the file of an array."""
        return self._folder / _SHARD.format(number)

    def array(self, number: int) -> NDArray[Any] | RemoteArray:
        """Return an array by its number."""
        with self._lock:
            array = self._arrays.pop(number, None)
            if array is None:
                array = self._opened(number)
                if self.large and number - 1 in self._arrays and number + 1 < len(self._rows):
                    _ask_for(self.file(number + 1))
            self._arrays[number] = array  # the last one used comes last
            if self.large and len(self._arrays) > _MAPPED:
                let_go(self._arrays.pop(next(iter(self._arrays))))
        return array

    def _opened(self, number: int) -> NDArray[Any] | RemoteArray:
        file, shape = self.file(number), (self._rows[number], self._classes)
        array = RemoteArray(file, self._blocks) if isinstance(file, Address) else mapped_array(file)
        if isinstance(file, Path):
            status = file.stat()
            state = status.st_ino, status.st_size, status.st_mtime_ns
            if self._states.setdefault(number, state) != state:
                raise SedscopeError(f"{file} changed after the store was opened. Read the store again.")
        if array.dtype not in (np.float32, np.float64) or array.shape != shape:
            raise SedscopeError(
                f"{file}: the array is {array.dtype} of shape {array.shape}, but the index describes "
                f"{counted(shape[0], 'frame')} of {counted(shape[1], 'class')}."
            )
        return array


def _ask_for(file: Location) -> None:
    """Ask the system to read a file, without waiting for it."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError), file.open("rb") as opened:  # reading says what is wrong
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)


def _checksum(values: ScoreArray) -> int:
    """Return a checksum of the scores of a clip, which takes little longer than reading them."""
    if not values.size:
        return 0
    contiguous = np.ascontiguousarray(values, values.dtype.name)
    return _native.checksum(contiguous)


def _index_checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content).encode())


def _refuse_large_index(_: IO[bytes], size: int, path: Location) -> None:
    if size > _LARGEST_INDEX:
        raise SedscopeError(f"{path}: not the index of a store: it is too large.")


class FolderIndex:
    """The index of a folder, checked."""

    def __init__(self, folder: Location) -> None:
        self.path = folder / _INDEX
        with explained(f"{self.path}: not the index of a store", OSError, ValueError, RecursionError):
            content = json.loads(read_input(self.path, _refuse_large_index).decode("utf-8"))
            if not isinstance(content, dict) or content.get("format") != _FORMAT:
                raise ValueError(f"its format is not {_FORMAT!r}")
            if content.get("version") != _VERSION:
                version = content.get("version")
                raise ValueError(
                    f"its version is {version!r}, but this sedscope reads version {_VERSION}. Write the "
                    "store again, or update sedscope"
                )
            if content.keys() - _KEYS:
                raise ValueError(f"it has unknown keys: {listing(sorted(content.keys() - _KEYS))}")
            checksum = content.pop(_INDEX_CRC, None)
            if checksum is not None and checksum != _index_checksum(content):
                raise ValueError("its checksum is wrong, so it is damaged. Write the store again")
            self.classes = _texts(content, "classes")
            self.clips = _texts(content, "clips")
            self.frames = _numbers(content, "frames", len(self.clips))
            self.shards: Sequence[int] = [0] * len(self.clips)
            if "shards" in content:
                self.shards = _numbers(content, "shards", len(self.clips))
            if max(self.shards, default=0) > len(self.clips):
                raise ValueError("'shards' has a number beyond that of the clips")
            self.whole_clips = bool(content.get("whole_clips", True))
            self.checksums = content.get(_CHECKSUMS, [])
            if self.checksums:
                self.checksums = _numbers(content, _CHECKSUMS, len(self.clips))
            self.frame = content.get("frame")
            if self.frame is None:
                self.starts = _numbers(content, "ticks", len(self.clips))
                self.ticks = self._checked_ticks(folder, content.get(_TICKS_CRC))
            elif not isinstance(self.frame, (int, float)) or not 1e-6 <= self.frame < 1e9:
                raise ValueError(f"frame={self.frame!r} is not a length in seconds")

    def boundaries(self, k: int) -> Ticks:
        """Return the frame boundaries of the k-th clip."""
        if self.frame is not None:
            return frame_ticks(self.frames[k], float(self.frame))
        return self.ticks[self.starts[k] : self.starts[k] + self.frames[k] + 1]

    def _checked_ticks(self, folder: Location, checksum: Any) -> Ticks:
        ticks = mapped_array(folder / _TICKS)[:]
        if ticks.dtype != np.int64 or ticks.ndim != 1:
            raise ValueError(f"{_TICKS} must be a one-dimensional int64 array")
        if checksum is not None and zlib.crc32(np.ascontiguousarray(ticks).data) != checksum:
            raise SedscopeError(
                f"{folder / _TICKS} is damaged: its checksum is not the one in {_INDEX}. Write the store "
                "again."
            )
        with located(folder / _TICKS):
            check_ticks(ticks)
        backwards = np.concatenate([[0], np.cumsum(np.diff(ticks) < 0)])
        for start, frames, clip in zip(self.starts, self.frames, self.clips, strict=True):
            if start + frames >= len(ticks):
                raise ValueError(f"clip {clip}: {_TICKS} does not have its boundaries")
            if backwards[start] != backwards[start + frames]:
                raise ValueError(f"clip {clip}: some frames end before they begin")
        return ticks


def _texts(content: dict[str, Any], key: str) -> list[str]:
    texts = content.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{key!r} must be a list of names")
    return texts


def _numbers(content: dict[str, Any], key: str, length: int) -> list[int]:
    numbers = content.get(key)
    if (
        not isinstance(numbers, list)
        or not all(type(n) is int and 0 <= n < 2**64 for n in numbers)
        or len(numbers) != length
    ):
        raise ValueError(f"{key!r} must be a list of whole numbers, one per clip")
    return numbers


class _Grids:
    """The distinct frame boundaries of all clips. A short clip may share those of a longer one."""

    def __init__(self) -> None:
        self.arrays: list[Ticks] = []
        self._numbers: dict[bytes, int] = {}

    def add(self, ticks: Ticks) -> int:
        """Add boundaries and return the number of the grid that begins with them."""
        key = ticks[:2].tobytes()
        number = self._numbers.get(key)
        if number is not None:
            grid = self.arrays[number]
            common = min(len(grid), len(ticks))
            if np.array_equal(grid[:common], ticks[:common]):
                self.arrays[number] = max(grid, ticks, key=len)
                return number
        self.arrays.append(ticks)
        self._numbers[key] = len(self.arrays) - 1
        return len(self.arrays) - 1


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write a store into a new folder, clip by clip."""
    with filling(path) as folder:
        grids = _Grids()
        names, frames, grid_numbers, shards, checksums = [], [], [], [], []
        of_type: dict[np.dtype[Any], tuple[int, NpyWriter]] = {}  # the shard that is being written
        number = -1  # of the last one
        with ExitStack() as open_files:
            for clip, clip_scores in clips:
                values = clip_scores.values
                shard, writer = of_type.get(values.dtype, (0, None))
                if writer is None or writer.rows * values[:1].nbytes + values.nbytes > _SHARD_BYTES:
                    if writer is not None:
                        writer.close()
                    shard = number = number + 1
                    writer = NpyWriter(folder / _SHARD.format(shard), values.dtype, len(scores.classes))
                    of_type[values.dtype] = shard, open_files.enter_context(writer)
                writer.append(values)
                names.append(clip)
                frames.append(len(values))
                shards.append(shard)
                grid_numbers.append(grids.add(clip_scores.ticks))
                checksums.append(_checksum(values))
        starts, checksum = [], 0
        with NpyWriter(folder / _TICKS, np.int64, None) as ticks:
            for grid in grids.arrays:
                starts.append(ticks.rows)
                ticks.append(grid)
                checksum = zlib.crc32(np.ascontiguousarray(grid).data, checksum)
        index = {
            "format": _FORMAT,
            "version": _VERSION,
            "classes": list(scores.classes),
            "clips": names,
            "frames": frames,
            "ticks": [starts[number] for number in grid_numbers],
            _TICKS_CRC: checksum,
            _CHECKSUMS: checksums,
            "shards": shards,
            "whole_clips": scores.whole_clips,
        }
        index[_INDEX_CRC] = _index_checksum(index)
        write_text(folder / _INDEX, json.dumps(index, ensure_ascii=False) + "\n")


FORMATS = (
    ScoreFormat(
        name="store",
        about="sedscope's own: a folder with memory-mapped arrays of scores and an index",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset(
            {"frames of no length", "unknown ends", "types that differ", "clips without frames"}
        ),
        suffixes=("", ".store"),
    ),
)
