"""Files are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import SedscopeError
from .locations import Address, Place, place


@contextmanager
def replacing(path: str | Place) -> Iterator[Path]:
    """A temporary file beside ``path`` to write to, which takes its place when all went well; a file on
    this machine, if ``path`` is an address."""
    import tempfile

    elsewhere = place(path)
    if isinstance(elsewhere, Address):
        with tempfile.TemporaryDirectory(prefix="sedscope-") as folder:
            yield Path(folder) / "new"
            elsewhere.write_from(Path(folder) / "new")
        return
    try:
        target = Path(os.path.realpath(elsewhere))  # a link stays a link
        if target.exists() and not target.is_file():
            raise ValueError("it is a folder" if target.is_dir() else "it is not a regular file")
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
    except (OSError, ValueError) as error:
        raise SedscopeError(f"cannot write {path}: {_reason(error)}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except (OSError, UnicodeError) as error:
        raise SedscopeError(f"cannot write {path}: {_reason(error)}") from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def filling(folder: str | Path) -> Iterator[Path]:
    """A temporary folder to fill, which becomes ``folder`` when all went well."""
    import shutil
    import tempfile

    target = Path(folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and any(target.iterdir()):
            raise SedscopeError(f"{target} is not empty: choose a new folder")
        temporary = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=target.parent))
    except (OSError, ValueError) as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"cannot write to {target}: {_reason(error)}") from None
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if target.exists():
            target.rmdir()
        temporary.replace(target)
    except OSError as error:
        raise SedscopeError(f"cannot write to {target}: {_reason(error)}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _umask() -> int:
    """What new files are not to allow; temporary ones are for their maker alone."""
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def refuse_claims(claimed: int, stored: int, where: str) -> None:
    """Refuse data that would take much more memory than the file can honestly hold."""
    if claimed > 2**28 and claimed > 200 * stored:
        raise SedscopeError(
            f"{where}: {stored / 1e6:.3g} MB in the file would become {claimed / 1e6:.3g} MB in memory: "
            "it is not read. If it is what you want, store it without compression"
        )


def write_text(path: str | Place, text: str) -> None:
    """Write a text file as UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
