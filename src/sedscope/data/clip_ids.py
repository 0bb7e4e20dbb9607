"""Clip ids: file names with or without a folder and an audio suffix refer to the same clip."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import SedscopeError, counted, listing, refuse_nul
from .arrays import sha256

if TYPE_CHECKING:
    from .tables import RowLocation

AUDIO_SUFFIXES = frozenset(["wav", "flac", "mp3", "ogg", "opus", "m4a", "aac", "aif", "aiff", "w64"])


def clip_id(name: str) -> str:
    """Return the id of the clip that a file name refers to.

    >>> clip_id("audio/eval/Y1_30.000_40.000.wav")
    'Y1_30.000_40.000'
    """
    if not isinstance(name, str):
        raise SedscopeError(f"Clip names must be strings, not {name!r}.")
    return _without_folder_and_suffix(name)


@lru_cache(maxsize=2**16)
def _without_folder_and_suffix(name: str) -> str:
    refuse_nul([name], "clip")
    last = re.split(r"[/\\]", name)[-1]
    end = len(last)
    while (point := last.rfind(".", 0, end)) >= 0 and last[point + 1 : end].lower() in AUDIO_SUFFIXES:
        end = point
    return last[:end]


def clip_ids(
    names: Iterable[str], where: str, locate: Callable[[str], RowLocation] | None = None
) -> dict[str, str]:
    """Map each distinct name to its clip id, in order. Two names for one clip are an error.

    ``locate``: says where a name first occurs, for the message.
    """
    ids: dict[str, str] = {}
    first_name: dict[str, str] = {}
    clashes: list[tuple[str, str]] = []
    for name in names:
        if name in ids:
            continue
        clip = clip_id(name)
        ids[name] = clip
        if not clip:
            raise SedscopeError(f"{where}: {name!r} is not the name of a clip.")
        if clip in first_name:
            clashes.append((first_name[clip], name))
        first_name.setdefault(clip, name)
    if clashes:
        pairs = [
            " and ".join(f"{name!r} ({locate(name)})" if locate else repr(name) for name in pair)
            for pair in clashes
        ]
        advice = "Folders and audio suffixes are ignored, so name each clip once."
        raise SedscopeError(
            f"{where}: {counted(len(clashes), 'duplicate clip')}: {listing(pairs)}. {advice}",
            lines=[
                locate(name).finding(f"{name!r} is the same clip as {first!r} in {locate(first)}")
                for first, name in clashes
                if locate is not None
            ],
            advice=advice,
        )
    return ids


def clip_list_digest(clips: Iterable[str]) -> str:
    """Return the SHA-256 hash of a list of clips: their ids in order, one per line.

    >>> clip_list_digest(["b", "a"]) == sha256(b"a\\nb\\n").hexdigest()
    True
    """
    lines = "".join(f"{clip}\n" for clip in sorted(clips))
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
