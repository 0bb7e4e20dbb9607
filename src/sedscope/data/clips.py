"""Clips: their ids, which ignore folders and audio suffixes, and their durations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..errors import SedscopeError, counted, listing, refuse, refuse_nul
from .arrays import sha256
from .tables import FrameLike, cells_from_frame
from .times import to_ticks

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
    return sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


DURATION_COLUMNS = ("filename", "duration")


def duration_ticks(durations: Mapping[str, float]) -> dict[str, int]:
    """Check durations and convert them to microseconds, by clip id."""
    if not isinstance(durations, Mapping):
        raise SedscopeError(
            f"durations must be a mapping from clips to seconds, not {type(durations).__name__}."
        )
    names = clip_ids(durations, "durations")
    try:
        values = to_ticks([float(durations[name]) for name in names])
        if (values > 0).all():
            return dict(zip(names.values(), values.tolist(), strict=True))
    except (TypeError, ValueError):
        pass  # the loop says which ones are wrong
    ticks: dict[str, int] = {}
    wrong: list[str] = []
    for name, clip in names.items():
        duration = durations[name]
        try:
            ticks[clip] = int(to_ticks(float(duration)))
        except (TypeError, ValueError):
            ticks[clip] = 0
        if ticks[clip] <= 0:
            shown = f"{duration:g}" if isinstance(duration, float) else f"{duration}"
            wrong.append(f"{name} ({shown} s)")
    if wrong:
        raise SedscopeError(f"durations must be numbers of seconds above zero: {listing(wrong)}.")
    return ticks


def require_durations(clips: Iterable[str], ticks: Mapping[str, int], where: str) -> None:
    """Refuse clips without a duration."""
    missing = [clip for clip in clips if clip not in ticks]
    refuse(missing, "clip", "has no duration", "Add them to `durations=`.", where=where)


def is_duration(seconds: float) -> bool:
    """Return whether a number is one of seconds above zero."""
    try:
        return int(to_ticks(seconds)) > 0
    except ValueError:
        return False


def as_durations(durations: Mapping[str, float] | FrameLike | None) -> Mapping[str, float] | None:
    """Accept a mapping from clips to seconds, or a frame or mapping of the columns ``filename
    duration``."""
    if durations is None or (isinstance(durations, Mapping) and not _is_columns(durations)):
        return durations
    cells = cells_from_frame(durations, "durations")
    cells.require(DURATION_COLUMNS)
    names, seconds = (cells.column(name) for name in DURATION_COLUMNS)
    return unique_durations(names, seconds, "durations")


def _is_columns(mapping: Mapping[str, Any]) -> bool:
    return set(mapping) == set(DURATION_COLUMNS) and not isinstance(mapping["duration"], (int, float))


def unique_durations(names: Sequence[Any], seconds: Sequence[Any], where: str) -> dict[str, Any]:
    """Map names to durations. A name that occurs twice is an error."""
    durations = dict(zip(names, seconds, strict=True))
    if len(durations) < len(names):
        twice = sorted(str(name) for name, number in Counter(names).items() if number > 1)
        raise SedscopeError(f"{where}: {counted(len(twice), 'duplicate clip')}: {listing(twice)}.")
    return durations
