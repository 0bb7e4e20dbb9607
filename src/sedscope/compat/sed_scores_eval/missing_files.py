"""Files that do not exist, which sed_scores_eval reports as :class:`FileNotFoundError`."""

from __future__ import annotations

from pathlib import Path

from ...errors import SedscopeError
from ...io.locations import location


class MissingFileError(SedscopeError, FileNotFoundError):
    """A file or folder to read does not exist."""


def require_file(path: str | Path) -> None:
    """Refuse a path on this machine at which there is no file or folder."""
    source = location(path)
    if isinstance(source, Path) and not source.exists():
        raise MissingFileError(f"Cannot read {path}: there is no such file or folder.")
