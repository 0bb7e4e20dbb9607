"""What is known of a format of scores, and what is written to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ...data.scores import ClipScores, Scores
from ...errors import SedscopeError
from ..locations import Address, Place

Part: TypeAlias = Literal["frames of no length", "unknown ends", "types that differ"]
Progress: TypeAlias = Callable[[int, int], None]

_SAID: dict[Part, str] = {
    "frames of no length": "frames of no length, which keep events that touch apart",
    "unknown ends": "that scores made from events do not say how long their clips are",
    "types that differ": "that some clips are float32 and some float64",
}


@dataclass(frozen=True)
class Given:
    """What the user says of a file that does not say it itself."""

    classes: Sequence[str] | None = None
    frame: float | None = None


@dataclass(frozen=True)
class ScoreFormat:
    """A format: how to tell it, how to read and write it, and what it can hold."""

    name: str
    about: str
    recognise: Callable[[Any], bool]
    read: Callable[[Any, Given], Scores]
    """Takes a path; of a folder, also its address."""
    write: Callable[[Scores, Path, Iterator[tuple[str, ClipScores]]], None]
    """Takes the set and its clips, which have nothing that the format cannot hold."""
    holds: frozenset[Part]
    suffixes: tuple[str, ...] = ()
    """Names of files that mean this format when scores are written."""
    travels: bool = False
    """Whether what loads clips goes to other processes as it is."""
    needs_words: bool = False
    """Whether files may leave it to the user to say their classes and the length of frames."""

    def clips_for(
        self, scores: Scores, path: Path, *, lossy: bool, progress: Progress | None
    ) -> Iterator[tuple[str, ClipScores]]:
        """The clips, one by one; what the format cannot hold is an error, or left out if ``lossy``."""

        def refuse(part: Part, where: str = "") -> None:
            if part not in self.holds and not lossy:
                raise SedscopeError(
                    f"{path}: {where}the format {self.name} cannot hold {_SAID[part]}. Choose another "
                    "format (write events with write_events), or accept that with lossy=True (--lossy)"
                )

        if not scores.whole_clips:
            refuse("unknown ends")
        first: np.dtype[np.float32 | np.float64] | None = None
        for number, (clip, of_clip) in enumerate(scores.items(), 1):
            first = first or of_clip.values.dtype
            if of_clip.values.dtype != first:
                refuse("types that differ", f"clip {clip}: ")
            if not np.all(np.diff(of_clip.ticks)):
                refuse("frames of no length", f"clip {clip}: ")
                if "frames of no length" not in self.holds:
                    of_clip = without_empty_frames(of_clip)
            yield clip, of_clip
            if progress:
                progress(number, len(scores))


def without_empty_frames(clip: ClipScores) -> ClipScores:
    """The same scores without frames of no length."""
    kept = np.diff(clip.ticks) > 0
    return ClipScores.unchecked(
        clip.values[kept], np.concatenate([clip.ticks[:-1][kept], clip.ticks[-1:]])
    )


def starts_with(path: Place, *marks: bytes) -> bool:
    """Whether a file begins with one of some marks."""
    if not path.is_file():
        return False
    if isinstance(path, Address):
        return path.read_range(0, max(map(len, marks))).startswith(marks)
    try:
        with path.open("rb") as file:
            head = file.read(max(map(len, marks)))
    except OSError as error:
        raise SedscopeError(f"cannot read {path}: {error.strerror or error}") from None
    return head.startswith(marks)
