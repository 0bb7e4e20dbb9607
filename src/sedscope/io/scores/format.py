"""What a format of scores is, and what is written to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ...data.choices import Gaps
from ...data.progress import Progress as Progress
from ...data.score_arrays import ClipScores
from ...data.scores import Scores
from ...errors import SedscopeError, listing
from ..locations import Address, Location, is_utf8, open_input
from .file_identity import FilesOfClip

ScoreFeature: TypeAlias = Literal[
    "frames of no length", "unknown ends", "types that differ", "clips without frames"
]
"""Something that some formats can hold and others cannot."""

_PHRASES: dict[ScoreFeature, str] = {
    "frames of no length": "frames of no length, which keep apart events that touch",
    "unknown ends": "that scores made from events do not say how long their clips are",
    "types that differ": "that some clips are float32 and some float64",
    "clips without frames": "clips without frames",
}


@dataclass(frozen=True)
class ScoreReadOptions:
    """What the user says about a file that does not say it itself."""

    classes: Sequence[str] | None = None
    frame: float | None = None
    """Length of frames in seconds."""
    gaps: Gaps = "error"
    """What to do with gaps between frames."""


@dataclass(frozen=True)
class ScoreFormat:
    """A format: how it is recognised, read and written, and what it can hold."""

    name: str
    about: str
    """One line for ``sedscope formats``."""
    recognise: Callable[[Any], bool]
    read: Callable[[Any, ScoreReadOptions], Scores]
    """Takes a path, or an address if it is a folder or the format reads parts of files."""
    write: Callable[[Scores, Path, Iterator[tuple[str, ClipScores]]], None]
    """Takes the scores and their clips, which have nothing that the format cannot hold."""
    holds: frozenset[ScoreFeature]
    suffixes: tuple[str, ...] = ()
    """Suffixes of file names that select this format when scores are written."""
    load_pickles: bool = False
    """Whether the function that loads clips can be sent to other processes as it is."""
    needs_options: bool = False
    """Whether the user may have to state the classes and the frame length."""
    reads_parts: bool = False
    """Whether a file at an address is read in parts instead of copied."""
    files_of_clip: FilesOfClip | None = None
    """The files that a clip is read from, if they are opened anew for each clip."""

    def clips_for(
        self, scores: Scores, path: Path, *, lossy: bool, progress: Progress | None
    ) -> Iterator[tuple[str, ClipScores]]:
        """Iterate over the clips. What the format cannot hold is refused, or left out if ``lossy``."""

        def refuse(feature: ScoreFeature, where: str = "") -> None:
            if feature not in self.holds and not lossy:
                raise SedscopeError(
                    f"{path}: {where}the format {self.name} cannot hold {_PHRASES[feature]}. Choose "
                    "another format (write events with write_events), or accept the loss with "
                    "lossy=True (--lossy)."
                )

        odd = [ascii(clip) for clip in scores if not is_utf8(clip)]
        if odd:
            raise SedscopeError(
                f"Cannot write {path}: names of clips must be UTF-8 text: {listing(odd)}. Rename the clips."
            )
        if not scores.whole_clips:
            refuse("unknown ends")
        first: np.dtype[np.float32 | np.float64] | None = None
        for number, (clip, clip_scores) in enumerate(scores.items(), 1):
            first = first or clip_scores.values.dtype
            if clip_scores.values.dtype != first:
                refuse("types that differ", f"clip {clip}: ")
            if not len(clip_scores.values):
                refuse("clips without frames", f"clip {clip}: ")
                if "clips without frames" not in self.holds:
                    continue
            if not np.all(np.diff(clip_scores.ticks)):
                refuse("frames of no length", f"clip {clip}: ")
                if "frames of no length" not in self.holds:
                    clip_scores = without_empty_frames(clip_scores)
            yield clip, clip_scores
            if progress:
                progress(number, len(scores))


def without_empty_frames(clip: ClipScores) -> ClipScores:
    """Remove frames of no length."""
    kept = np.diff(clip.ticks) > 0
    return ClipScores.unchecked(
        clip.values[kept], np.concatenate([clip.ticks[:-1][kept], clip.ticks[-1:]])
    )


def starts_with(path: Location, *marks: bytes) -> bool:
    """Return whether a file begins with one of some byte strings."""
    if not path.is_file():
        return False
    if isinstance(path, Address):
        return path.read_range(0, max(map(len, marks))).startswith(marks)
    with open_input(path) as file:
        return file.read(max(map(len, marks))).startswith(marks)
