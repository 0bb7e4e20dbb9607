"""What an output may be written to: a regular file or a folder, in a folder that exists."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from ..errors import SedscopeError, counted, listing
from .locations import Location, error_reason

OutputKind: TypeAlias = Literal["file", "folder", "either"]
_WINDOWS = os.name == "nt"
_UNFIT_ON_WINDOWS = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[ .]$')


def check_file_names(names: Iterable[str], target: Path) -> None:
    """Refuse names that files of this system cannot have.

    Windows would write a file named ``a:b`` into a hidden part of the file ``a``.
    """
    if not _WINDOWS:
        return
    unfit = [repr(name) for name in names if _UNFIT_ON_WINDOWS.search(name)]
    if unfit:
        raise SedscopeError(
            f"Cannot write {target}: on Windows, no file can be named after {counted(len(unfit), 'clip')}: "
            f"{listing(unfit)}. Write a single file instead, such as scores.npz or scores.parquet."
        )


def check_output(target: Location, kind: OutputKind = "file") -> None:
    """Refuse an output that cannot be written, before any work is done for it.

    What exists must be a regular file, or a folder if ``kind`` allows one. The folder around a file must
    exist; folders around a folder are made.
    """
    if not isinstance(target, Path):
        return
    try:
        problem = _problem(target, kind)
    except (OSError, ValueError) as error:
        problem = f"{error_reason(error)}."
    if problem is not None:
        raise SedscopeError(f"Cannot write {target}: {problem}")


def _problem(target: Path, kind: OutputKind) -> str | None:
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _problem_around(Path(os.path.realpath(target)) if target.is_symlink() else target, kind)
    if stat.S_ISDIR(mode):
        return "it is a folder." if kind == "file" else None
    if kind == "folder":
        return "it is not a folder."
    if not stat.S_ISREG(mode) or _is_descriptor(target):
        return "it is not a regular file. Give the name of a file."
    return None


def _problem_around(target: Path, kind: OutputKind) -> str | None:
    """Return what is wrong with the folders around something that does not exist."""
    around = next((folder for folder in target.parents if folder.exists()), None)
    if around is not None and not around.is_dir():
        return f"{around} is a file, not a folder."
    if kind == "file" and around != target.parent:
        return f"the folder {target.parent} does not exist."
    return None


def _is_descriptor(path: Path) -> bool:
    """Return whether a path is an open file of a process, such as ``/dev/stdout``.

    What is written there later would be lost if the file were replaced.
    """
    while path.is_symlink():
        folder = os.path.realpath(path.parent)
        if folder.startswith(("/proc/", "/dev/fd")):
            return True
        path = Path(folder, path.readlink())
    return os.path.realpath(path.parent).startswith("/dev/fd")
