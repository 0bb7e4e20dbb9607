"""Locks: only one process at a time changes a file."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import SedscopeError
from .locations import error_reason
from .output_targets import check_output

_PATIENCE = 300.0  # seconds
_POLL = 0.05
_WINDOWS = os.name == "nt"
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
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise SedscopeError(f"Cannot write {path}: {error_reason(error)}.") from None
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
    if _WINDOWS:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
