"""Audio of clips, embedded into the page."""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
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


def embed_audio(
    folder: str | Path,
    clips: Mapping[str, int],
    errors: Callable[[str], Iterable[tuple[int, int]]],
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
    here = input_location(folder)
    if not here.is_dir():
        raise SedscopeError(f"There is no folder {folder}. Name a folder with audio files.")
    files = {file.stem: file for file in folder_content(here) if file.suffix in _MEDIA_TYPES}
    heard = [clip for clip in clips if clip in files]
    audio = EmbeddedAudio()
    unreadable: list[str] = []
    uncut: dict[str, str] = {}
    too_large = blocks_heard = blocks_wanted = 0
    room = MAX_BYTES
    for i, clip in enumerate(heard):
        file, length = files[clip], clips[clip]
        share = room // (len(heard) - i)
        try:
            check_input(file)
            size = file.stat().st_size * 4 // 3
            if length <= LONG_SECONDS * 1_000_000 or size <= share:
                parts = [_whole(file, length)] if size <= room else []
            else:
                blocks = _blocks(errors(clip), length)
                try:
                    parts, cut = _parts(file, blocks, length, share)
                except SedscopeError as error:
                    uncut[clip] = str(error)
                    continue
                blocks_heard, blocks_wanted = blocks_heard + cut, blocks_wanted + len(blocks)
        except SedscopeError as error:
            unreadable.append(str(error))
            continue
        if parts:
            room -= sum(len(part.url) for part in parts)
            audio.parts[clip] = parts
        else:
            too_large += 1
    notes = []
    if len(heard) < len(clips):
        missing = counted(len(clips) - len(heard), "clip")
        notes.append(f"The folder has no audio file for {missing} of this page.")
    if unreadable:
        notes.append(
            f"The audio of {counted(len(unreadable), 'clip')} is left out, because it cannot be read. "
            f"The first: {unreadable[0]}"
        )
        warnings.warn(notes[-1], SedscopeWarning, stacklevel=2)
    if uncut:
        notes.append(
            f"The audio of {counted(len(uncut), 'clip')} is left out, because only parts of long recordings "
            f"fit into a page, and these files cannot be cut: {listing(uncut)}. "
            f"The first: {next(iter(uncut.values()))}"
        )
        warnings.warn(notes[-1], SedscopeWarning, stacklevel=2)
    if too_large:
        notes.append(
            f"The audio of {counted(too_large, 'clip')} is left out, because a page holds at most "
            f"{MAX_BYTES // 2**20} MB of audio."
        )
    if blocks_wanted:
        notes.append(
            f"Long recordings have audio only around errors: in {blocks_heard} of {blocks_wanted} blocks "
            f"of {BLOCK_SECONDS} s, those with the most errors first."
        )
    return EmbeddedAudio(audio.parts, tuple(notes))


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
