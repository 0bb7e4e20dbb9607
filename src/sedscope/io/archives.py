"""Submissions in archives: a ``.zip`` or ``.tar.gz`` is unpacked where it can harm nothing."""

from __future__ import annotations

import atexit
import gzip
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, NamedTuple, cast

from ..errors import SedscopeError
from .locations import Location, error_reason, shown_name

MOST_BYTES = 10 * 2**30
"""How much an archive may hold, unpacked."""
MOST_FILES = 100_000
"""How many files and folders an archive may hold."""
_SUFFIXES = (".zip", ".tar.gz", ".tgz", ".tar")
_BLOCK = 1 << 20  # bytes that are copied at a time
_MOST_AT_ONCE = 1 << 26  # bytes; headers of an archive are shorter
_IGNORED = ("__MACOSX", ".DS_Store")  # what computers add

_unpacked: dict[tuple[str, int, int], Path] = {}
"""The folders of archives, by path, time of change and size."""


class _Entry(NamedTuple):
    """A file or folder in an archive."""

    name: str
    kind: str
    """``"file"``, ``"folder"``, or what it is instead."""
    content: IO[bytes] | None = None
    size: int = 0
    """How many bytes the archive says that it has."""


def archive_stem(name: str) -> str:
    """Return the name of an archive without its suffixes; other names stay as they are.

    >>> archive_stem("ours.tar.gz"), archive_stem("ours.zip"), archive_stem("ours.npz")
    ('ours', 'ours', 'ours.npz')
    """
    suffix = next((suffix for suffix in _SUFFIXES if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(suffix)] or name


def unpacked(path: Location, parts: Collection[str] | None = None) -> Location:
    """Return the folder of what an archive holds, or the path itself if it is no archive.

    The archive is unpacked once, to a temporary folder that is removed at the end of the process, or of
    :func:`unpacked_meanwhile`. If all is inside one folder, that is returned.

    ``parts``: the names of what a submission holds; a folder with such a name is part of the submission.
    Without them, the only file of an archive is returned as well.

    Links, names with ``..`` and absolute names are refused, and what is too large.
    """
    if not isinstance(path, Path) or archive_stem(path.name) == path.name or not path.is_file():
        return path
    status = path.stat()
    key = (str(path), status.st_mtime_ns, status.st_size)
    if key not in _unpacked:
        place = Path(tempfile.mkdtemp(prefix="sedscope-"))
        folder = place / path.name  # messages about what is inside end like the path
        try:
            folder.mkdir()
            _unpack(path, folder)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        if not _unpacked:
            atexit.register(_remove_all)
        _unpacked[key] = folder
    return _root(_unpacked[key], parts)


@contextmanager
def unpacked_meanwhile() -> Iterator[None]:
    """Remove what is unpacked inside the ``with`` block at its end."""
    before = {*_unpacked}
    try:
        yield
    finally:
        for key in _unpacked.keys() - before:
            shutil.rmtree(_unpacked.pop(key).parent, ignore_errors=True)


def with_archives(text: str) -> str:
    """Let a message about unpacked files name the archive that they are in."""
    for (archive, _, _), folder in _unpacked.items():
        text = text.replace(str(folder), archive)
    return text


def _remove_all() -> None:
    for folder in _unpacked.values():
        shutil.rmtree(folder.parent, ignore_errors=True)


def _root(folder: Path, parts: Collection[str] | None) -> Path:
    """Return the folder inside which all is, if it is not a part of the submission."""
    while True:
        entries = [*folder.iterdir()]
        if len(entries) != 1 or (parts is not None and entries[0].name in parts):
            return folder
        if not entries[0].is_dir():
            return folder if parts is not None else entries[0]
        folder = entries[0]


def _unpack(path: Path, folder: Path) -> None:
    """Unpack an archive into an empty folder."""
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                _write(path, _zip_entries(archive), folder)
        else:
            is_packed = path.suffix.lower() != ".tar"
            with gzip.open(path) if is_packed else path.open("rb") as content:
                stream = cast(IO[bytes], _Bounded(path, cast(IO[bytes], content)))
                with tarfile.open(fileobj=stream, mode="r|") as archive:
                    _write(path, _tar_entries(archive), folder)
    except SedscopeError:
        raise
    except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise SedscopeError(f"Cannot unpack {path}: {error_reason(error)}.") from None
    except zlib.error:
        raise SedscopeError(f"Cannot unpack {path}: its content is damaged.") from None


class _Bounded:
    """A packed file of which no more is read than an archive may hold."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self._read = 0

    def read(self, size: int) -> bytes:
        if size > _MOST_AT_ONCE:
            raise SedscopeError(f"Cannot unpack {self._path}: it is not a valid archive.")
        content = self._file.read(size)
        self._read += len(content)
        if self._read > 2 * MOST_BYTES:  # headers take a place, too
            raise _too_large(self._path)
        return content


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[_Entry]:
    for info in archive.infolist():
        mode = stat.S_IFMT(info.external_attr >> 16)
        if info.is_dir():
            yield _Entry(info.filename, "folder")
        elif mode not in (0, stat.S_IFREG):
            yield _Entry(info.filename, "a link" if mode == stat.S_IFLNK else "a device")
        elif info.flag_bits & 1:
            yield _Entry(info.filename, "encrypted")
        else:
            with archive.open(info) as content:
                yield _Entry(info.filename, "file", content, info.file_size)


def _tar_entries(archive: tarfile.TarFile) -> Iterator[_Entry]:
    for member in archive:
        if member.isdir():
            yield _Entry(member.name, "folder")
        elif member.isreg() and not member.issparse():
            yield _Entry(member.name, "file", archive.extractfile(member), member.size)
        else:
            is_link = member.issym() or member.islnk()
            yield _Entry(member.name, "a link" if is_link else "a device or a sparse file")


def _write(path: Path, entries: Iterable[_Entry], folder: Path) -> None:
    """Write the files of an archive into a folder. Nothing is written through what an entry made."""
    left, seen = MOST_BYTES, set[str]()
    for number, entry in enumerate(entries):
        if number >= MOST_FILES:
            raise SedscopeError(
                f"Cannot unpack {path}: it holds more than {MOST_FILES} files. Give a folder instead."
            )
        parts = PurePosixPath(entry.name).parts
        problem = _problem(entry, parts)
        if problem:
            raise SedscopeError(f"Cannot unpack {path}: {shown_name(entry.name)!r} is {problem}.")
        if not parts or any(part in _IGNORED for part in parts):
            continue
        target = folder.joinpath(*parts)
        if entry.content is None:
            target.mkdir(parents=True, exist_ok=True)
            continue
        if entry.size > left:
            raise _too_large(path)
        name = "/".join(parts)
        if name in seen:
            raise SedscopeError(f"Cannot unpack {path}: {shown_name(name)!r} is in it twice.")
        seen.add(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while block := entry.content.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    raise _too_large(path)
                file.write(block)


def _problem(entry: _Entry, parts: Sequence[str]) -> str:
    """Return why an entry is refused; an empty text if it is not."""
    name = entry.name
    if entry.kind not in ("file", "folder"):
        return f"{entry.kind}, which is not unpacked"
    if ".." in parts or name.startswith("/") or "\\" in name or "\0" in name:
        return "a name that could lead out of the archive"
    if PureWindowsPath(name).drive:
        return "a name that could lead out of the archive"
    return ""


def _too_large(path: Path) -> SedscopeError:
    return SedscopeError(
        f"Cannot unpack {path}: it holds more than {MOST_BYTES / 2**30:g} GB. Give a folder instead."
    )
