"""The store of sedscope: a folder with one memory-mapped array of all scores and a small index.

``float32.npy`` (or ``float64.npy``): the frames of all clips, one after the other, × classes.
``ticks.npy``: frame boundaries in microseconds; clips of the same boundaries share them.
``index.json``: classes, clips, the number of frames of each, and where its boundaries begin.

By hand, ``"frame"``, the length of all frames in seconds, can take the place of ``ticks.npy``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ...data.scores import ClipScores, Scores
from ...data.times import Ticks, frame_ticks
from ...errors import SedscopeError, counted
from ..atomic_write import filling, write_text
from ..locations import Place
from .format import Given, ScoreFormat
from .npy_files import GrowingArray, mapped_array

_FORMAT, _VERSION = "sedscope scores", 1
_INDEX, _TICKS = "index.json", "ticks.npy"
_TYPES = ("float32", "float64")
_LARGEST_INDEX = 2**30
_ALL_AT_ONCE = 2**28


def recognise(path: Place) -> bool:
    """A folder with an index."""
    return (path / _INDEX).is_file()


def read(path: Place, _: Given) -> Scores:
    """The scores of a store; a clip is a view of the memory map."""
    index = _Index(path)
    files = {name: mapped_array(path / f"{name}.npy") for name in sorted(set(index.types))}
    for name, array in files.items():
        rows = sum(
            frames for frames, of_clip in zip(index.frames, index.types, strict=True) if of_clip == name
        )
        if array.dtype != name or array.shape != (rows, len(index.classes)):
            raise SedscopeError(
                f"{path / name}.npy: {array.dtype} of shape {array.shape}; the index speaks of "
                f"{counted(rows, 'frame')} of {counted(len(index.classes), 'class')}"
            )
    clips: dict[str, tuple[str, int, int]] = {}
    rows_of = dict.fromkeys(files, 0)
    for k, (clip, frames, name) in enumerate(zip(index.clips, index.frames, index.types, strict=True)):
        clips[clip] = name, rows_of[name], k
        rows_of[name] += frames
    if len(clips) < len(index.clips):
        raise SedscopeError(f"{path / _INDEX}: clips named twice")

    def load(clip: str) -> ClipScores:
        name, first, k = clips[clip]
        return ClipScores.unchecked(files[name][first : first + index.frames[k]], index.boundaries(k))

    # Views take no time to hand out, and the core reads their pages in as many threads as there are. All
    # at once is fastest; a large set goes in batches, so that what is found in them can be let go.
    # Elsewhere, the rows of a clip are a request.
    here = isinstance(path, Path)
    size = sum(array.nbytes for array in files.values())
    return Scores(
        clips,
        load,
        classes=index.classes,
        in_memory=here and size <= _ALL_AT_ONCE,
        thread_safe=not here,
        whole_clips=index.whole_clips,
    )


class _Index:
    """What the index of a store says, checked."""

    def __init__(self, folder: Place) -> None:
        self.path = folder / _INDEX
        try:
            if self.path.stat().st_size > _LARGEST_INDEX:
                raise ValueError("it is too large")
            said = json.loads(self.path.read_text(encoding="utf-8"))
            if not isinstance(said, dict) or said.get("format") != _FORMAT:
                raise ValueError(f"it does not say that its format is {_FORMAT!r}")
            if said.get("version") != _VERSION:
                version = said.get("version")
                raise ValueError(f"version {version!r}, where {_VERSION} is known: update sedscope")
            self.classes = _texts(said, "classes")
            self.clips = _texts(said, "clips")
            self.frames = _numbers(said, "frames", len(self.clips))
            self.types = self._types(said.get("type", "float32"))
            self.whole_clips = bool(said.get("whole_clips", True))
            self.frame = said.get("frame")
            if self.frame is None:
                self.starts = _numbers(said, "ticks", len(self.clips))
                self.ticks = self._checked_ticks(folder)
            elif not isinstance(self.frame, (int, float)) or not 1e-6 <= self.frame < 1e9:
                raise ValueError(f"frame={self.frame!r} is no length in seconds")
        except (OSError, ValueError, RecursionError) as error:
            if isinstance(error, SedscopeError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise SedscopeError(f"{self.path}: not the index of a store: {reason}") from None

    def boundaries(self, k: int) -> Ticks:
        """The frame boundaries of the k-th clip."""
        if self.frame is not None:
            return frame_ticks(self.frames[k], float(self.frame))
        return self.ticks[self.starts[k] : self.starts[k] + self.frames[k] + 1]

    def _types(self, said: Any) -> Sequence[str]:
        types = [said] * len(self.clips) if isinstance(said, str) else said
        if not isinstance(types, list) or len(types) != len(self.clips) or not set(types) <= {*_TYPES}:
            raise ValueError("'type' must be float32 or float64, for all clips or one each")
        return types

    def _checked_ticks(self, folder: Place) -> Ticks:
        ticks = mapped_array(folder / _TICKS)[:]
        if ticks.dtype != np.int64 or ticks.ndim != 1:
            raise ValueError(f"{_TICKS} must be int64 numbers in a row")
        backwards = np.concatenate([[0], np.cumsum(np.diff(ticks) < 0)])
        for start, frames, clip in zip(self.starts, self.frames, self.clips, strict=True):
            if start + frames >= len(ticks):
                raise ValueError(f"clip {clip}: {_TICKS} has no such boundaries")
            if backwards[start] != backwards[start + frames]:
                raise ValueError(f"clip {clip}: frames that end before they begin")
        return ticks


def _texts(said: dict[str, Any], key: str) -> list[str]:
    texts = said.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{key!r} must be a list of names")
    return texts


def _numbers(said: dict[str, Any], key: str, length: int) -> list[int]:
    numbers = said.get(key)
    whole = isinstance(numbers, list) and all(type(n) is int and 0 <= n < 2**62 for n in numbers)
    if not whole or len(said[key]) != length:
        raise ValueError(f"{key!r} must be a list of whole numbers, one a clip")
    assert isinstance(numbers, list)
    return numbers


class _Boundaries:
    """Frame boundaries of all clips; those of a clip may be the first ones of another's."""

    def __init__(self) -> None:
        self.grids: list[Ticks] = []
        self._numbers: dict[bytes, int] = {}

    def add(self, ticks: Ticks) -> int:
        """The number of the grid that begins with these boundaries."""
        key = ticks[:2].tobytes()
        number = self._numbers.get(key)
        if number is not None:
            grid = self.grids[number]
            common = min(len(grid), len(ticks))
            if np.array_equal(grid[:common], ticks[:common]):
                self.grids[number] = max(grid, ticks, key=len)
                return number
        self.grids.append(ticks)
        self._numbers[key] = len(self.grids) - 1
        return len(self.grids) - 1


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write a store, clip by clip, into a new folder."""
    with filling(path) as folder:
        boundaries = _Boundaries()
        names, frames, grids, types = [], [], [], []
        arrays: dict[str, GrowingArray] = {}
        with ExitStack() as open_files:
            for clip, of_clip in clips:
                name = of_clip.values.dtype.name
                if name not in arrays:
                    grown = GrowingArray(folder / f"{name}.npy", name, len(scores.classes))
                    arrays[name] = open_files.enter_context(grown)
                arrays[name].append(of_clip.values)
                names.append(clip)
                frames.append(len(of_clip.values))
                grids.append(boundaries.add(of_clip.ticks))
                types.append(name)
        starts = []
        with GrowingArray(folder / _TICKS, np.int64, None) as ticks:
            for grid in boundaries.grids:
                starts.append(ticks.rows)
                ticks.append(grid)
        index = {
            "format": _FORMAT,
            "version": _VERSION,
            "classes": list(scores.classes),
            "clips": names,
            "frames": frames,
            "ticks": [starts[grid] for grid in grids],
            "type": types if len(arrays) > 1 else next(iter(arrays), "float32"),
            "whole_clips": scores.whole_clips,
        }
        write_text(folder / _INDEX, json.dumps(index, ensure_ascii=False) + "\n")


FORMATS = (
    ScoreFormat(
        name="store",
        about="sedscope's own: a folder with a memory-mapped array of all scores and an index",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"frames of no length", "unknown ends", "types that differ"}),
        suffixes=("", ".store"),
    ),
)
