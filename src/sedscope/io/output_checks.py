"""Outputs that would overwrite an input, or each other."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..errors import SedscopeError
from .events.files import EVENT_FORMATS
from .locations import Location, location
from .scores.files import SCORE_FORMATS, recognise_score_format

_WRITTEN = frozenset({"", ".html", ".json", ".md", ".tex", ".toml", ".deltas"})
"""Suffixes of what sedscope writes and does not read from a folder."""
_READ = frozenset(
    {
        *(suffix for format in EVENT_FORMATS.values() for suffix in format.file_suffixes),
        *(suffix for format in SCORE_FORMATS.values() for suffix in format.suffixes),
        ".npy",
    }
)
_INDEX = "index.json"
"""The one JSON file that a store consists of."""


def refuse_overwriting(
    outputs: Iterable[str | Location | None], inputs: Iterable[str | Location | None]
) -> None:
    """Refuse an output that is an input or another output, also by way of links.

    In a folder that is an input, an output must not be what could be read as part of it.
    """
    targets = [location(path) for path in outputs if path is not None]
    sources = [location(path) for path in inputs if path is not None]
    for number, target in enumerate(targets):
        for other in targets[:number]:
            if _same(target, other):
                raise SedscopeError(
                    f"Two outputs would be written to the same file, {target}. Give each its own."
                )
        for source in sources:
            _refuse_input(target, source)


def _refuse_input(target: Location, source: Location) -> None:
    if _same(target, source):
        link = "" if str(target) == str(source) else f", {source}"
        raise SedscopeError(
            f"Cannot write {target}: it is also an input{link}, which would be overwritten. Choose "
            "another name for the output."
        )
    if not isinstance(target, Path) or not isinstance(source, Path):
        return
    real = Path(os.path.realpath(target))
    if real.parent == Path(os.path.realpath(source)) and (_is_read(real) or _is_event_file(real)):
        raise SedscopeError(
            f"Cannot write {target}: the folder {source} is an input, and the file would be part of it. "
            "Choose another folder for the output."
        )
    link_in_source = _link_to(real, source)
    if link_in_source is not None:
        raise SedscopeError(
            f"Cannot write {target}: it is also the input {link_in_source}, which would be overwritten. "
            "Choose another name for the output."
        )


def _same(first: Location, second: Location) -> bool:
    """Return whether two locations are the same file or folder."""
    if not isinstance(first, Path) or not isinstance(second, Path):
        return str(first).rstrip("/") == str(second).rstrip("/")
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    try:
        return first.samefile(second)
    except (OSError, ValueError):  # one of them does not exist
        return False


def _is_read(file: Path) -> bool:
    """Return whether a file in a folder may be read as part of it. That is so of audio, too."""
    suffix = file.suffix.lower()
    if suffix in _WRITTEN:
        return file.name == _INDEX
    return suffix in _READ or os.path.lexists(file)


def _is_event_file(file: Path) -> bool:
    """Return whether a file may be read as part of its folder, if that is a folder of events.

    Formats of events have suffixes that results have, too. Folders of scores are not read that way.
    """
    if not any(file.suffix.lower() in format.file_suffixes for format in EVENT_FORMATS.values()):
        return False
    try:
        return recognise_score_format(file.parent) is None
    except SedscopeError:
        return True


def _link_to(target: Path, folder: Path) -> Path | None:
    """Return a file in a folder that is a link to a file, or a hard link of it."""
    with suppress(OSError, ValueError):  # no such file, or no folder
        status = target.stat()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.inode() == status.st_ino or entry.is_symlink():
                    file = folder / entry.name
                    if (_is_read(file) or _is_event_file(file)) and _same(file, target):
                        return file
    return None
