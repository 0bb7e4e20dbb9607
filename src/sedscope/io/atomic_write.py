"""Files and folders that are written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import SedscopeError
from .locations import Address, Location, error_reason, location
from .output_targets import check_output


@contextmanager
def replacing(path: str | Location) -> Iterator[Path]:
    """Give a temporary file that becomes ``path`` once it is written without an error.

    The temporary file is next to ``path``, or on this machine if ``path`` is an address. It is removed
    after any error or interruption. Do not give its name to libraries that write in the background,
    because they might make it again; give them the open file.
    """
    import tempfile

    destination = location(path)
    if isinstance(destination, Address):
        with tempfile.TemporaryDirectory(prefix="sedscope-") as folder:
            yield Path(folder) / "new"
            destination.write_from(Path(folder) / "new")
        return
    check_output(destination)
    try:
        target = Path(os.path.realpath(destination))  # a link stays a link
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
    except (OSError, ValueError) as error:
        raise SedscopeError(f"Cannot write {path}: {error_reason(error)}.") from None
    temporary = Path(name)
    try:
        os.close(handle)
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except (OSError, UnicodeError) as error:
        raise SedscopeError(f"Cannot write {path}: {error_reason(error)}.") from None
    except SedscopeError as error:
        raise _naming(error, temporary, path) from None
    finally:
        try:
            temporary.unlink(missing_ok=True)
        except KeyboardInterrupt:  # a second one
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def filling(folder: str | Path, *, replaces: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Give a temporary folder that becomes ``folder`` once it is filled without an error.

    ``replaces``: tells whether a folder that is not empty may be replaced as a whole. It is moved aside
    first. If the process is killed before the new folder is in its place, the next one moves it back.
    Folders that anyone else writes to in the meantime are not replaced.
    """
    import shutil
    import tempfile

    check_output(Path(folder), "folder")
    target = Path(os.path.realpath(folder))  # a link stays a link
    aside = target.with_name(f".{target.name}.replaced")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        was_killed = os.path.lexists(aside) and replaces(aside)
        if was_killed and not _content(target):
            _place(aside, target)
        before = _content(target)
        if before and not replaces(target):
            raise SedscopeError(f"{folder} is not empty. Choose a new folder.")
        work = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=target.parent))
    except (OSError, ValueError) as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"Cannot write to {folder}: {error_reason(error)}.") from None
    temporary = work / "new"
    try:
        temporary.mkdir()
        yield temporary
        if _content(target) not in ({}, before):
            raise _changed(folder)
        if was_killed and os.path.lexists(aside):  # and the new folder was in its place
            aside.replace(work / "left")
        if not _content(target):
            _place(temporary, target)
            return
        try:
            target.replace(aside)
            if _content(aside) != before:
                raise _changed(folder)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                aside.replace(target)
            raise
        aside.replace(work / "old")
    except OSError as error:
        raise SedscopeError(f"Cannot write to {folder}: {error_reason(error)}.") from None
    except SedscopeError as error:
        raise _naming(error, temporary, folder) from None
    finally:
        try:
            shutil.rmtree(work, ignore_errors=True)
        except KeyboardInterrupt:  # a second one
            shutil.rmtree(work, ignore_errors=True)
            raise


def _place(folder: Path, target: Path) -> None:
    """Move a folder to where there is none, or an empty one, which Windows does not replace."""
    if target.exists():
        target.rmdir()
    folder.replace(target)


def _content(folder: str | Path) -> dict[str, Any]:
    """Describe what is in a folder, such that any change to it changes the description."""
    if not os.path.lexists(folder):
        return {}
    with os.scandir(folder) as entries:
        return {
            entry.name: _content(entry.path)
            if entry.is_dir(follow_symlinks=False)
            else (
                entry.stat(follow_symlinks=False).st_size,
                entry.stat(follow_symlinks=False).st_mtime_ns,
            )
            for entry in entries
        }


def _changed(folder: str | Path) -> SedscopeError:
    return SedscopeError(
        f"Cannot write to {folder}: another process has written to it in the meantime. What is there was "
        "left as it is. Choose a new folder."
    )


def _naming(error: SedscopeError, temporary: Path, target: str | Location) -> SedscopeError:
    """Name the target in an error about the temporary file or folder."""
    message = str(error).replace(str(temporary), str(target))
    return error if message == str(error) else SedscopeError(message)


def _umask() -> int:
    """Return the permissions that new files do not get. Temporary files start with fewer ones."""
    umask = os.umask(0)
    os.umask(umask)
    return umask


def write_text(path: str | Location, text: str) -> None:
    """Write a text file as UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
