"""Scores in one ``.npz`` file, in any layout of :mod:`.named_arrays`. Pickles are never loaded."""

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

from ...data.choices import refuse_oversized
from ...data.clip_scores import ClipScores
from ...data.scores import Scores
from ...errors import SedscopeError
from ..atomic_write import replacing
from ..locations import explained
from .format import ScoreFormat, ScoreReadOptions, starts_with
from .named_arrays import SCORES, TICKS, ArrayFile, index_arrays, scores_from
from .npy_files import NpyWriter, mapped_array, read_header

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_DESCRIPTOR = 24  # bytes that may follow a member
_UTF8 = 0x800  # the flag of names
_BROKEN = (
    zipfile.BadZipFile, OSError, RuntimeError, ValueError, EOFError, zlib.error, struct.error,
    TypeError, OverflowError, MemoryError,
)  # fmt: skip


def recognise(path: Path) -> bool:
    """Look for the signature of a zip archive."""
    return starts_with(path, b"PK\x03\x04", b"PK\x05\x06")


def read(path: Path, options: ScoreReadOptions) -> Scores:
    """Read the scores of an archive.

    Scores that are not compressed are mapped into memory. Other arrays are read when they are needed.
    """
    with explained(f"{path}: not an npz file", *_BROKEN):
        return scores_from(_open(path), options)


def _open(path: Path) -> ArrayFile:
    with zipfile.ZipFile(path) as archive:
        starts = _content_starts(path, archive)
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
                raise SedscopeError(f"{where} is compressed in a way that numpy does not use.")
            refuse_oversized(info.file_size, info.compress_size, where)
            with archive.open(info) as file:
                shapes[name], _, types[name] = read_header(file, where)
                size = int(np.prod(shapes[name], dtype=object)) * types[name].itemsize
                if file.tell() + size != info.file_size:
                    raise SedscopeError(
                        f"{where} is cut short or damaged: its size does not fit its shape {shapes[name]}."
                    )
    kept: dict[str, NDArray[Any]] = {}
    lock = threading.Lock()

    def array(name: str) -> NDArray[Any]:
        info = members[name]
        start = starts[info.filename]
        if info.compress_type == zipfile.ZIP_STORED and len(shapes[name]) > 1:
            _verify(np.memmap(path, np.uint8, "r", start, (info.file_size,)).data, info)
            return mapped_array(path, start)
        content = BytesIO(_content(path, info, start))
        shape, columns_first, dtype = read_header(content, f"{path}, array {name!r}")
        flat = np.frombuffer(content.getbuffer(), dtype, int(np.prod(shape)), content.tell())
        return flat.reshape(shape, order="F" if columns_first else "C")

    def read_rows(name: str, rows: slice | int) -> NDArray[Any]:
        with explained(f"{path}, array {name!r}", *_BROKEN):
            if rows == slice(None):
                return array(name)
            with lock:
                if name not in kept:
                    kept[name] = array(name)
            return kept[name][rows]

    return ArrayFile(str(path), shapes, types, read_rows, {}, thread_safe=True)


def _content_starts(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    """Return where the content of each member begins. Refuse a directory that does not fit the members.

    A directory that leaves out a member, or names it otherwise, would lose its clip without a word.
    """
    starts: dict[str, int] = {}
    end = 0
    with path.open("rb") as file:
        for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
            file.seek(info.header_offset)
            mark, _, flags, method, _, _, _, _, _, length, extra = _LOCAL_HEADER.unpack(
                file.read(_LOCAL_HEADER.size)
            )
            encoding = "utf-8" if flags & _UTF8 else "cp437"
            same = mark == b"PK\x03\x04" and method == info.compress_type
            same &= file.read(length).decode(encoding) == info.orig_filename
            if not same or not end <= info.header_offset <= end + _DESCRIPTOR:
                break
            starts[info.filename] = info.header_offset + _LOCAL_HEADER.size + length + extra
            end = starts[info.filename] + info.compress_size
    if len(starts) < len(archive.infolist()) or not end <= archive.start_dir <= end + _DESCRIPTOR:
        raise zipfile.BadZipFile("its directory does not list what it contains, so it is damaged")
    return starts


def _content(path: Path, info: zipfile.ZipInfo, start: int) -> bytes:
    """Read a member and verify its checksum.

    zipfile would read the list of all members again for each of them, or keep the file open.
    """
    with path.open("rb") as file:
        file.seek(start)
        content = file.read(info.compress_size)
    if info.compress_type == zipfile.ZIP_DEFLATED:
        content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, info.file_size + 1)
    _verify(content, info)
    return content


def _verify(content: bytes | memoryview, info: zipfile.ZipInfo) -> None:
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile("its checksum is wrong, so the file is damaged")


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write an uncompressed archive with all frames × classes, clips, numbers of frames, boundaries."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        values, ticks = (temporary.with_suffix(f".{part}") for part in (SCORES[0], TICKS))
        try:
            names, frames = write_frames(scores, clips, values, ticks)
            for name, array in index_arrays(scores, names, frames).items():
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
    """Write the frames and boundaries of all clips to two files. Return the clips and their lengths."""
    names: list[str] = []
    frames: list[int] = []
    with ExitStack() as open_files:
        rows: NpyWriter | None = None
        times = open_files.enter_context(NpyWriter(ticks, np.int64, None))
        for clip, clip_scores in clips:
            if rows is None:
                writer = NpyWriter(values, clip_scores.values.dtype, len(scores.classes))
                rows = open_files.enter_context(writer)
            rows.append(clip_scores.values)
            times.append(clip_scores.ticks)
            names.append(clip)
            frames.append(len(clip_scores.values))
        if rows is None:
            raise SedscopeError("There is no clip to write.")
    return names, frames


FORMATS = (
    ScoreFormat(
        name="npz",
        about="one npz file: classes, clips, and one array of scores for all clips or one per clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"frames of no length", "unknown ends", "clips without frames"}),
        needs_options=True,
        suffixes=(".npz",),
    ),
)
