"""Audio of clips, embedded into the page."""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import SedscopeError, SedscopeWarning, counted
from ..io.locations import check_input, folder_content, input_location, read_input

MAX_BYTES = 30 * 2**20
"""Of all embedded audio, as base64 text."""

_MEDIA_TYPES = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
}


@dataclass(frozen=True)
class EmbeddedAudio:
    """The audio of some clips as ``data:`` URLs, by clip."""

    urls: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Which clips have none, and why."""


def embed_audio(folder: str | Path, clips: Sequence[str]) -> EmbeddedAudio:
    """Embed the audio files of clips, in order, until they take ``MAX_BYTES``.

    A file belongs to the clip of the same name.
    """
    here = input_location(folder)
    if not here.is_dir():
        raise SedscopeError(f"There is no folder {folder}. Name a folder with audio files.")
    files = {file.stem: file for file in folder_content(here) if file.suffix in _MEDIA_TYPES}
    unreadable: list[str] = []
    audio = EmbeddedAudio()
    room = MAX_BYTES
    too_large = 0
    for clip in clips:
        if clip not in files:
            continue
        try:
            check_input(files[clip])
            size = files[clip].stat().st_size * 4 // 3
            if size > room:
                too_large += 1
                continue
            content = b64encode(read_input(files[clip])).decode("ascii")
        except SedscopeError as error:
            unreadable.append(str(error))
            continue
        room -= size
        audio.urls[clip] = f"data:{_MEDIA_TYPES[files[clip].suffix]};base64,{content}"
    notes = []
    missing = sum(clip not in files for clip in clips)
    if missing:
        notes.append(f"The folder has no audio file for {counted(missing, 'clip')} of this page.")
    if unreadable:
        notes.append(
            f"The audio of {counted(len(unreadable), 'clip')} is left out, because it cannot be read. "
            f"The first: {unreadable[0]}"
        )
        warnings.warn(notes[-1], SedscopeWarning, stacklevel=2)
    if too_large:
        notes.append(
            f"The audio of {counted(too_large, 'clip')} is left out, because a page holds at most "
            f"{MAX_BYTES // 2**20} MB of audio."
        )
    return EmbeddedAudio(audio.urls, tuple(notes))
