"""Audio of clips, embedded into the page."""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from ..errors import SedscopeError, SedscopeWarning, counted, listing
from ..io.audio import open_cutter
from ..io.locations import Location, check_input, folder_content, input_location, read_input

MAX_BYTES = 30 * 2**20
"""Of all embedded audio, as base64 text."""

LONG_SECONDS = 60
"""Longer recordings are embedded in parts, if they are too large to be embedded whole."""

BLOCK_SECONDS = 10
"""The parts of long recordings are made of blocks of this length."""

_MARGIN = 2_000_000  # microseconds before and after an error that can be heard
_HEADER_BYTES = 1000  # of a part, at most
_MEDIA_TYPES = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
}


@dataclass(frozen=True)
class AudioPart:
    """The audio of a stretch of a clip, or of all of it."""

    start: int
    """In microseconds."""
    end: int
    """In microseconds."""
    url: str
    """A ``data:`` URL."""


@dataclass(frozen=True)
class EmbeddedAudio:
    """The audio of some clips, by clip, in order of time."""

    parts: dict[str, list[AudioPart]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Which clips have none, and why."""


def check_audio_folder(folder: str | Path) -> Location:
    """Return where audio files are. Refuse a folder that does not exist."""
    location = input_location(folder)
    if not location.is_dir():
        raise SedscopeError(f"There is no folder {folder}. Name a folder with audio files.")
    return location


def embed_audio(
    folder: str | Path, clips: Mapping[str, int], errors: Callable[[str], Iterable[tuple[int, int]]]
) -> EmbeddedAudio:
    """Embed the audio files of clips, in order, until they take ``MAX_BYTES``.

    A file belongs to the clip of the same name. A recording of more than a minute gets an equal share of
    the room that is left. If it needs more, only blocks around its errors are embedded.

    Parameters
    ----------
    folder : str or Path
        The folder with the files.
    clips : mapping of str to int
        The clips with their lengths in microseconds.
    errors : callable
        Takes a clip, and returns onset and offset of what a reader will look for in it, in microseconds.
    """
    location = check_audio_folder(folder)
    files = {file.stem: file for file in folder_content(location) if file.suffix in _MEDIA_TYPES}
    heard = [clip for clip in clips if clip in files]
    parts: dict[str, list[AudioPart]] = {}
    omitted = _Omitted(missing=len(clips) - len(heard))
    room = MAX_BYTES
    for i, clip in enumerate(heard):
        share = room // (len(heard) - i)
        try:
            of_clip = _clip_parts(files[clip], clips[clip], partial(errors, clip), room, share, omitted)
        except _CannotCut as error:
            omitted.uncut[clip] = str(error)
        except SedscopeError as error:
            omitted.unreadable.append(str(error))
        else:
            room -= sum(len(part.url) for part in of_clip)
            if of_clip:
                parts[clip] = of_clip
            else:
                omitted.too_large += 1
    return EmbeddedAudio(parts, tuple(omitted.notes()))


class _CannotCut(SedscopeError):
    """A recording is too long to be embedded whole, and cannot be cut."""


@dataclass
class _Omitted:
    """The audio that a page leaves out."""

    missing: int
    """Clips without a file."""
    unreadable: list[str] = field(default_factory=list)
    """Why files cannot be read."""
    uncut: dict[str, str] = field(default_factory=dict)
    """Why files cannot be cut, by clip."""
    too_large: int = 0
    """Clips for which there is no room."""
    blocks_heard: int = 0
    """Blocks of long recordings that are embedded, of ``blocks_wanted``."""
    blocks_wanted: int = 0

    def notes(self) -> list[str]:
        """Say what is left out, and why. Warn about files that cannot be used."""
        notes = []
        if self.missing:
            notes.append(
                f"The folder has no audio file for {counted(self.missing, 'clip')} of this page."
            )
        if self.unreadable:
            notes.append(
                f"The audio of {counted(len(self.unreadable), 'clip')} is left out, because it cannot be "
                f"read. The first: {self.unreadable[0]}"
            )
            warnings.warn(notes[-1], SedscopeWarning, stacklevel=3)
        if self.uncut:
            notes.append(
                f"The audio of {counted(len(self.uncut), 'clip')} is left out, because only parts of long "
                f"recordings fit into a page, and these files cannot be cut: {listing(self.uncut)}. "
                f"The first: {next(iter(self.uncut.values()))}"
            )
            warnings.warn(notes[-1], SedscopeWarning, stacklevel=3)
        if self.too_large:
            notes.append(
                f"The audio of {counted(self.too_large, 'clip')} is left out, because a page holds at most "
                f"{MAX_BYTES // 2**20} MB of audio."
            )
        if self.blocks_wanted:
            notes.append(
                f"Long recordings have audio only around errors: in {self.blocks_heard} of "
                f"{self.blocks_wanted} blocks of {BLOCK_SECONDS} s, those with the most errors first."
            )
        return notes


def _clip_parts(
    file: Location,
    length: int,
    errors: Callable[[], Iterable[tuple[int, int]]],
    room: int,
    share: int,
    omitted: _Omitted,
) -> list[AudioPart]:
    """Embed the audio of a clip: whole, or in parts if it is long. Return nothing if there is no room."""
    check_input(file)
    size = file.stat().st_size * 4 // 3
    if length <= LONG_SECONDS * 1_000_000 or size <= share:
        return [_whole(file, length)] if size <= room else []
    blocks = _blocks(errors(), length)
    try:
        parts, cut = _parts(file, blocks, length, share)
    except SedscopeError as error:
        raise _CannotCut(str(error)) from None
    omitted.blocks_heard += cut
    omitted.blocks_wanted += len(blocks)
    return parts


def _whole(file: Location, length: int) -> AudioPart:
    return AudioPart(0, length, _data_url(_MEDIA_TYPES[file.suffix], read_input(file)))


def _data_url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(content).decode('ascii')}"


def _blocks(errors: Iterable[tuple[int, int]], length: int) -> list[int]:
    """Return the numbers of the blocks with errors, those with the most errors first.

    Without errors they are all blocks.
    """
    block = BLOCK_SECONDS * 1_000_000
    changes = np.zeros(length // block + 2, np.int64)
    for onset, offset in errors:
        changes[max(0, onset - _MARGIN) // block] += 1
        changes[(min(length, offset + _MARGIN) - 1) // block + 1] -= 1
    numbers = np.cumsum(changes[:-1])
    order = np.argsort(-numbers, kind="stable")
    return [int(i) for i in order if numbers[i]] or list(range(-(-length // block)))


def _parts(file: Location, blocks: list[int], length: int, share: int) -> tuple[list[AudioPart], int]:
    """Cut as many of the blocks as a share of the room allows, adjacent ones together; and count them."""
    cutter = open_cutter(file)
    most = int(share * 3 / 4 / (cutter.bytes_per_second * BLOCK_SECONDS + _HEADER_BYTES))
    parts = []
    chosen = sorted(blocks[:most])
    for _, run in groupby(enumerate(chosen), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        start = numbers[0] * BLOCK_SECONDS
        end = min((numbers[-1] + 1) * BLOCK_SECONDS, length / 1_000_000)
        url = _data_url(cutter.media_type, cutter.cut(start, end))
        parts.append(AudioPart(start * 1_000_000, round(end * 1_000_000), url))
    return parts, len(chosen)
