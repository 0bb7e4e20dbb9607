"""The format ``store``: a folder with a memory-mapped array of all scores and a small index.

``float32.npy`` (or ``float64.npy``): the frames of all clips, one after the other, × classes.
``ticks.npy``: frame boundaries in microseconds. Clips with the same boundaries share them.
``index.json``: classes, clips, the number of frames of each clip, where its boundaries begin, and
checksums of the scores of each clip, of ``ticks.npy``, and of the index itself.

An index made by hand can state ``"frame"``, the length of all frames in seconds, instead of using
``ticks.npy``, and needs no checksums.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np

from ... import _native
from ...data.arrays import ScoreArray
from ...data.clip_scores import ClipScores
from ...data.scores import Scores, ScoreSource
from ...data.times import Ticks, check_ticks, frame_ticks
from ...errors import SedscopeError, counted, listing, located
from ..atomic_write import filling, write_text
from ..locations import Location, explained, read_input
from .format import ScoreFormat, ScoreReadOptions
from .npy_files import NpyWriter, SlidingWindow, mapped_array

_FORMAT, _VERSION = "sedscope scores", 2
_INDEX, _TICKS = "index.json", "ticks.npy"
_INDEX_CRC, _TICKS_CRC, _CHECKSUMS = "crc32", "ticks_crc32", "checksums"
_KEYS = frozenset(
    {"format", "version", "classes", "clips", "frames", "frame", "ticks", "type", "whole_clips"}
    | {_INDEX_CRC, _TICKS_CRC, _CHECKSUMS}
)
_TYPES = ("float32", "float64")
_LARGEST_INDEX = 2**30  # bytes
_ALL_AT_ONCE = 2**28  # bytes


def recognise(path: Location) -> bool:
    """Look for an index in a folder."""
    return (path / _INDEX).is_file()


def read(path: Location, _: ScoreReadOptions) -> Scores:
    """Read the scores of a store. A clip is a view of the memory map."""
    index = FolderIndex(path)
    files = {name: mapped_array(path / f"{name}.npy") for name in sorted(set(index.types))}
    for name, array in files.items():
        rows = sum(
            frames for frames, dtype in zip(index.frames, index.types, strict=True) if dtype == name
        )
        if array.dtype != name or array.shape != (rows, len(index.classes)):
            raise SedscopeError(
                f"{path / name}.npy: the array is {array.dtype} of shape {array.shape}, but the index "
                f"describes {counted(rows, 'frame')} of {counted(len(index.classes), 'class')}."
            )
    clips: dict[str, tuple[str, int, int]] = {}
    rows_of = dict.fromkeys(files, 0)
    for k, (clip, frames, name) in enumerate(zip(index.clips, index.frames, index.types, strict=True)):
        clips[clip] = name, rows_of[name], k
        rows_of[name] += frames
    if len(clips) < len(index.clips):
        raise SedscopeError(f"{path / _INDEX}: some clips are named twice.")

    # Views cost nothing, and the core reads their pages in all of its threads, so all clips at once is
    # fastest. A large set goes in batches, so that memory can be released in between. At an address,
    # each clip is a request, so several threads help.
    is_local = isinstance(path, Path)
    size = sum(array.nbytes for array in files.values())
    large = is_local and size > _ALL_AT_ONCE
    windows = {
        name: SlidingWindow(array)
        for name, array in files.items()
        if large and isinstance(array, np.ndarray)
    }

    unverified = set(clips) if index.checksums else set()

    def load(clip: str) -> ClipScores:
        name, first, k = clips[clip]
        last = first + index.frames[k]
        if large:
            windows[name].move_to(first, last)
        values = files[name][first:last]
        if clip in unverified:
            if _checksum(values) != index.checksums[k]:
                raise SedscopeError(
                    f"{path / name}.npy is damaged: the checksum of the scores of clip {clip} is not the one "
                    f"in {_INDEX}. Write the store again."
                )
            if is_local:
                unverified.discard(clip)
        return ClipScores.unchecked(values, index.boundaries(k))

    source = ScoreSource(
        load,
        tuple(index.classes),
        in_memory=is_local and not large,
        thread_safe=not is_local,
        whole_clips=index.whole_clips,
    )
    return Scores._of(clips, source)


def _checksum(values: ScoreArray) -> int:
    """Return a checksum of the scores of a clip, which takes little longer than reading them."""
    if not values.size:
        return 0
    contiguous = np.ascontiguousarray(values, values.dtype.name)
    return int(_native.summarise_clips(contiguous[None], np.array([len(values)]), 1)[1][0])


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
            self.types = self._types(content.get("type", "float32"))
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

    def _types(self, entry: Any) -> Sequence[str]:
        types = [entry] * len(self.clips) if isinstance(entry, str) else entry
        if not isinstance(types, list) or len(types) != len(self.clips) or not set(types) <= {*_TYPES}:
            raise ValueError("'type' must be float32 or float64, one for all clips or one per clip")
        return types

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
        names, frames, grid_numbers, types, checksums = [], [], [], [], []
        arrays: dict[str, NpyWriter] = {}
        with ExitStack() as open_files:
            for clip, clip_scores in clips:
                name = clip_scores.values.dtype.name
                if name not in arrays:
                    writer = NpyWriter(folder / f"{name}.npy", name, len(scores.classes))
                    arrays[name] = open_files.enter_context(writer)
                arrays[name].append(clip_scores.values)
                names.append(clip)
                frames.append(len(clip_scores.values))
                grid_numbers.append(grids.add(clip_scores.ticks))
                types.append(name)
                checksums.append(_checksum(clip_scores.values))
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
            "type": types if len(arrays) > 1 else next(iter(arrays), "float32"),
            "whole_clips": scores.whole_clips,
        }
        index[_INDEX_CRC] = _index_checksum(index)
        write_text(folder / _INDEX, json.dumps(index, ensure_ascii=False) + "\n")


FORMATS = (
    ScoreFormat(
        name="store",
        about="sedscope's own: a folder with a memory-mapped array of all scores and an index",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset(
            {"frames of no length", "unknown ends", "types that differ", "clips without frames"}
        ),
        suffixes=("", ".store"),
    ),
)
