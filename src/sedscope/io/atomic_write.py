"""Files and folders that are written completely or not at all, by one process at a time."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import SedscopeError, counted, listing
from .locations import Address, Location, error_reason, explained, location, read_input

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
    with explained(f"Cannot write {path}", OSError, ValueError):
        target = Path(os.path.realpath(destination))  # a link stays a link
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
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
    with explained(f"Cannot write to {folder}", OSError, ValueError):
        target.parent.mkdir(parents=True, exist_ok=True)
        was_killed = os.path.lexists(aside) and replaces(aside)
        if was_killed and not _content(target):
            _place(aside, target)
        before = _content(target)
        if not before and os.path.lexists(aside):
            raise SedscopeError(
                f"{aside} holds what a run that was interrupted took out of {folder}. Rename or remove "
                "it first."
            )
        if before and not replaces(target):
            raise SedscopeError(f"{folder} is not empty. Choose a new folder.")
        work = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=target.parent))
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
            try:
                aside.replace(target)
            except OSError:
                raise SedscopeError(f"{_changed(folder)} What was there before is in {aside}.") from None
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


_PATIENCE = 300.0  # seconds
_POLL = 0.05
_ON_WINDOWS = os.name == "nt"
_IN_USE = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Wait until no other process holds the lock of a file, and hold it for the ``with`` block.

    The lock is that of a file next to ``path``. The operating system frees it when the process ends,
    however it ends. So a lock file that is left behind locks nothing.
    """
    check_output(Path(path))
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    deadline = time.monotonic() + _PATIENCE
    while (handle := _acquire(lock, path)) is None:
        if time.monotonic() > deadline:
            raise SedscopeError(
                f"Another process is changing {path} and has not finished after {_PATIENCE:g} s. "
                "Run the command again when it has."
            )
        time.sleep(_POLL)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps the file while it is open
            lock.unlink()
        os.close(handle)


def _acquire(lock: Path, path: str | Path) -> int | None:
    """Open and lock the lock file. Return None if another process holds it."""
    with explained(f"Cannot write {path}", OSError):
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(handle)
        # The process that held it before may have deleted the file in the meantime.
        if os.path.samestat(os.fstat(handle), lock.stat()):
            return handle
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno not in _IN_USE:
            os.close(handle)
            raise SedscopeError(
                f"Cannot lock {path}, so that no other process changes it: {error_reason(error)}. Write "
                "to another disk."
            ) from None
    os.close(handle)
    return None


def _lock(handle: int) -> None:
    """Lock an open file, or raise an OSError if another process holds the lock."""
    if _ON_WINDOWS:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_checked(path: Location, content: bytes) -> None:
    """Write a file, and a digest of it at its end."""
    with replacing(path) as temporary:
        temporary.write_bytes(content + _digest(content))


def read_checked(path: Location) -> bytes | None:
    """Read what :func:`write_checked` wrote; None if there is no file, or an incomplete or altered one."""
    if not path.exists():
        return None
    try:
        content = read_input(path)
    except (OSError, SedscopeError):
        return None
    end = len(content) - len(_digest(b""))
    return content[:end] if end >= 0 and _digest(content[:end]) == content[end:] else None


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
