"""Files and folders that are written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

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

    ``replaces``: tells whether a folder that is not empty may be replaced as a whole.
    """
    import shutil
    import tempfile

    target = Path(folder)
    check_output(target, "folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and any(target.iterdir()) and not replaces(target):
            raise SedscopeError(f"{target} is not empty. Choose a new folder.")
        temporary = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=target.parent))
    except (OSError, ValueError) as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"Cannot write to {target}: {error_reason(error)}.") from None
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if target.exists() and any(target.iterdir()):
            aside = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=target.parent))
            old = aside / "old"  # Windows replaces no folder, not even an empty one
            try:
                target.replace(old)
                temporary.replace(target)
            except BaseException:
                if old.exists():
                    old.replace(target)
                aside.rmdir()
                raise
            shutil.rmtree(aside, ignore_errors=True)
        else:
            if target.exists():
                target.rmdir()
            temporary.replace(target)
    except OSError as error:
        raise SedscopeError(f"Cannot write to {target}: {error_reason(error)}.") from None
    except SedscopeError as error:
        raise _naming(error, temporary, target) from None
    finally:
        try:
            shutil.rmtree(temporary, ignore_errors=True)
        except KeyboardInterrupt:  # a second one
            shutil.rmtree(temporary, ignore_errors=True)
            raise


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
