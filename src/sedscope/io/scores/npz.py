"""Scores in one ``.npz`` file, in any of the layouts of :mod:`.arrays`; no pickle is ever loaded."""

from __future__ import annotations

import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.scores import ClipScores, Scores
from ...errors import SedscopeError
from ..atomic_write import refuse_claims, replacing
from .format import Given, ScoreFormat, starts_with
from .named_arrays import SCORES, TICKS, ArrayFile, described, scores_of
from .npy_files import GrowingArray, mapped_array, read_header

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_BROKEN = (zipfile.BadZipFile, OSError, RuntimeError, ValueError, EOFError, zlib.error, struct.error)


def recognise(path: Path) -> bool:
    """A zip archive."""
    return starts_with(path, b"PK\x03\x04", b"PK\x05\x06")


def read(path: Path, given: Given) -> Scores:
    """The scores of an archive. Arrays that are not compressed are memory maps, others are read when
    they are needed."""
    try:
        return scores_of(_opened(path), given)
    except _BROKEN as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"{path}: not an npz file: {error}") from None


def _opened(path: Path) -> ArrayFile:
    with zipfile.ZipFile(path) as archive:
        members = {
            info.filename.removesuffix(".npy"): info
            for info in archive.infolist()
            if info.filename.endswith(".npy")
        }
        shapes: dict[str, tuple[int, ...]] = {}
        types: dict[str, np.dtype[Any]] = {}
        for name, info in members.items():
            where = f"{path}, array {name!r}"
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise SedscopeError(f"{where}: compressed in a way that numpy does not write")
            refuse_claims(info.file_size, info.compress_size, where)
            with archive.open(info) as file:
                shapes[name], _, types[name] = read_header(file, where)
                size = int(np.prod(shapes[name], dtype=object)) * types[name].itemsize
            if size > info.file_size:
                raise SedscopeError(f"{where}: cut short: it has no room for shape {shapes[name]}")
    kept: dict[str, NDArray[Any]] = {}
    lock = threading.Lock()

    def array(name: str) -> NDArray[Any]:
        info = members[name]
        if info.compress_type == zipfile.ZIP_STORED:
            return mapped_array(path, _start(path, info))
        with zipfile.ZipFile(path) as archive:
            content = BytesIO(archive.read(info))
        shape, columns_first, dtype = read_header(content, f"{path}, array {name!r}")
        flat = np.frombuffer(content.getbuffer(), dtype, int(np.prod(shape)), content.tell())
        return flat.reshape(shape, order="F" if columns_first else "C")

    def part(name: str, rows: slice | int) -> NDArray[Any]:
        try:
            if rows == slice(None):
                return array(name)
            with lock:
                if name not in kept:
                    kept[name] = array(name)
            cut: NDArray[Any] = kept[name][rows]
            return cut
        except _BROKEN as error:
            raise SedscopeError(f"{path}, array {name!r}: {error}") from None

    return ArrayFile(str(path), shapes, types, part, {}, thread_safe=True)


def _start(path: Path, info: zipfile.ZipInfo) -> int:
    """Where the content of a member that is not compressed begins."""
    with path.open("rb") as file:
        file.seek(info.header_offset)
        *_, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    return int(info.header_offset + _LOCAL_HEADER.size + name + extra)


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write an archive, not compressed: all frames × classes, ids, numbers of frames, boundaries."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        values, ticks = (temporary.with_suffix(f".{part}") for part in (SCORES[0], TICKS))
        try:
            names, frames = write_frames(scores, clips, values, ticks)
            for name, array in described(scores, names, frames).items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
            archive.write(ticks, f"{TICKS}.npy")
            archive.write(values, f"{SCORES[0]}.npy")
        finally:
            values.unlink(missing_ok=True)
            ticks.unlink(missing_ok=True)


def write_frames(
    scores: Scores, clips: Iterator[tuple[str, ClipScores]], values: Path, ticks: Path
) -> tuple[list[str], list[int]]:
    """Append the frames and boundaries of all clips to two files; the clips and their frames."""
    names: list[str] = []
    frames: list[int] = []
    with ExitStack() as open_files:
        rows: GrowingArray | None = None
        times = open_files.enter_context(GrowingArray(ticks, np.int64, None))
        for clip, of_clip in clips:
            if rows is None:
                grown = GrowingArray(values, of_clip.values.dtype, len(scores.classes))
                rows = open_files.enter_context(grown)
            rows.append(of_clip.values)
            times.append(of_clip.ticks)
            names.append(clip)
            frames.append(len(of_clip.values))
        if rows is None:
            raise SedscopeError("there is no clip to write")
    return names, frames


FORMATS = (
    ScoreFormat(
        name="npz",
        about="one npz file: classes, clips, and one array of scores for all clips or one a clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"frames of no length", "unknown ends"}),
        needs_words=True,
        suffixes=(".npz",),
    ),
)
