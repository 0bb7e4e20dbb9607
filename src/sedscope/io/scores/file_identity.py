"""What identifies the scores of a clip without reading them: the state of the files that hold it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ..locations import Location

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
        state = _state(self.files if self.files_of_clip is None else self.files_of_clip(clip))
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
        return FileIdentity(definition, _OfSource(files_of_clip, source), (), None)
    try:
        files = (*sorted(source.iterdir()),) if source.is_dir() else (source,)
    except OSError:
        return None  # reading says what is wrong
    return FileIdentity(definition, None, files, _state(files))


@dataclass(frozen=True)
class _OfSource:
    """A function of a clip that can be sent to other processes."""

    files_of_clip: FilesOfClip
    source: Path

    def __call__(self, clip: str) -> Sequence[Path]:
        return self.files_of_clip(self.source, clip)


def _state(files: Sequence[Path]) -> str | None:
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
