"""What a format of scores is, what is written to one, and what identifies its clips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ...data.choices import Gaps
from ...data.clip_scores import ClipScores
from ...data.scores import Scores
from ...errors import SedscopeError, listing
from ...progress import Progress as Progress
from ..locations import Address, Location, is_utf8, open_input

FilesOfClip: TypeAlias = Callable[[Path, str], Sequence[Path]]
"""Takes the folder and a clip, and returns the files that the clip is read from."""


@dataclass(frozen=True)
class FileIdentity:
    """Identifies clips by the state of their files on this machine.

    Files that are opened once and then read identify their clips only while they are in the state in
    which they were opened.
    """

    definition: str
    """The format and the options that the files are read with."""
    files_of_clip: Callable[[str], Sequence[Path]] | None
    """The files of a clip, if they are opened anew for each clip."""
    files: Sequence[Path]
    """Otherwise, the files of all clips."""
    opened: str | None
    """The state of these files before they were opened."""

    def __call__(self, clip: str) -> str | None:
        state = file_state(self.files if self.files_of_clip is None else self.files_of_clip(clip))
        if state is None or (self.files_of_clip is None and state != self.opened):
            return None
        return f"{self.definition}: {state}"


def identity_before_reading(
    definition: str, source: Location, files_of_clip: FilesOfClip | None
) -> FileIdentity | None:
    """Look at the files before they are opened. None for an address, whose state is not known."""
    if not isinstance(source, Path):
        return None
    if files_of_clip is not None:
        return FileIdentity(definition, partial(files_of_clip, source), (), None)
    try:
        files = (*sorted(source.rglob("*")),) if source.is_dir() else (source,)
    except OSError:
        return None  # reading says what is wrong
    return FileIdentity(definition, None, files, file_state(files))


def file_state(files: Sequence[Path]) -> str | None:
    """Describe the state of some files: to write to one of them, or to replace it, changes it."""
    states = []
    try:
        for file in files:
            status = file.stat()
            times = (status.st_mtime_ns, status.st_ctime_ns)
            states.append((str(file.absolute()), status.st_size, times, status.st_ino))
    except OSError:
        return None  # reading says what is wrong
    return repr(states) if states else None


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
    columns: tuple[tuple[str, str], ...] = ()
    """Pairs of a role and the name of its column, for tables with columns of any name."""


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
                    f"{path}: {where}the format {self.name} cannot hold {_PHRASES[feature]}. Choose another "
                    "format (write events with write_events), or accept the loss with `lossy=True`."
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
