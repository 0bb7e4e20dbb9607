"""Locations of files: paths on this machine, or addresses that fsspec opens (the extra ``remote``).

What is read of files at an address is limited: a server must not fill the memory or the disk.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch, fnmatchcase
from functools import cached_property, total_ordering
from importlib.util import find_spec
from io import SEEK_END, BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile, mkdtemp
from typing import IO, Any, TypeAlias
from urllib.parse import quote, unquote

from ..data.choices import parse_bytes, refuse_beyond_memory
from ..errors import SedscopeError

DOWNLOAD_LIMIT = "SEDSCOPE_MAX_DOWNLOAD"
"""The environment variable that says how many bytes of a file at an address may be read at once."""
_LARGEST_LISTING = 2**24  # bytes of a page that lists a folder


def download_limit() -> int:
    """Return how many bytes of a file at an address may be read at once."""
    return parse_bytes(os.environ.get(DOWNLOAD_LIMIT) or 2e9, DOWNLOAD_LIMIT)


def refuse_download(size: int) -> None:
    """Refuse to read that many bytes of a file at an address, if they are more than the limit."""
    limit = download_limit()
    if size > limit:
        raise SedscopeError(
            f"it has {size / 1e9:.3g} GB or more, and the limit is {limit / 1e9:.3g} GB. If you trust the "
            f"source, raise the limit, for example to 10GB, with `{DOWNLOAD_LIMIT}=10GB`"
        )


async def bounded_session(**options: Any) -> Any:
    """Return a session of aiohttp in which no body is longer than the limit, unpacked.

    A body of which only a part was requested ends with this part, whatever the server sends.
    """
    from aiohttp import ClientResponse, ClientSession

    class Bounded(ClientResponse):
        async def start(self, connection: Any) -> ClientResponse:
            await super().start(connection)
            part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.request_info.headers.get("Range", ""))
            end = (
                None if part is None else int(part[2]) + 1 - (int(part[1]) if self.status == 206 else 0)
            )
            self.content: Any = _BoundedBody(self.content, self.content_length or 0, end)
            return self

        async def text(self, *arguments: Any, **options: Any) -> str:
            """Read a page that lists a folder."""
            self.content.end = _LARGEST_LISTING
            page = await super().text(*arguments, **options)
            if self.content.position == _LARGEST_LISTING:
                raise SedscopeError(
                    f"the list of its files is longer than {_LARGEST_LISTING // 2**20} MB"
                )
            return page

    return ClientSession(**{**options, "response_class": Bounded})


class _BoundedBody:
    """The body of a response.

    ``stated``: its length, as the server states it. ``end``: where it ends at the latest, if that is known.
    """

    def __init__(self, body: Any, stated: int, end: int | None) -> None:
        self._body, self._stated, self.end, self.position = body, stated, end, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)

    async def read(self, size: int = -1) -> bytes:
        if self.end is None:
            refuse_download(self._stated)
        blocks = []
        while size and self.position != self.end:
            most = size if size > 0 else 2**20
            block: bytes = await self._body.read(
                most if self.end is None else min(most, self.end - self.position)
            )
            self.position += len(block)
            refuse_download(self.position)
            blocks.append(block)
            if size > 0 or not block:
                break
        return b"".join(blocks)


_PROTOCOL = re.compile(r"[A-Za-z][\w+.-]+(::|://)")
_LOCAL = re.compile(r"(file|local)://(localhost(?=/))?", re.IGNORECASE)


def location(path: str | Path | Address) -> Location:
    """Return a path, or an address for a text such as ``s3://bucket/scores``.

    >>> location("file:///data/scores").name, location("memory://set/scores").name
    ('scores', 'scores')
    """
    if isinstance(path, (Path, Address)):
        return path
    if path == "":
        raise SedscopeError("The name of a file or folder is empty.")
    if not isinstance(path, str) or "://" not in path or not _PROTOCOL.match(path):
        return Path(path)
    local = _LOCAL.match(path)
    return Address(path) if local is None else Path(unquote(path[local.end() :]))


def input_location(path: str | Path | Address) -> Location:
    """Return the location of something to read. Refuse a name that the system cannot look up.

    Whether there is a file of that name is another question.
    """
    source = location(path)
    if isinstance(source, Path):
        try:
            source.stat()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError) as error:
            raise _unreadable(source, error) from None
    return source


def is_pattern(path: Location) -> bool:
    """Return whether a path is a pattern of names, such as ``scores/*.parquet``, and no name of a file."""
    signs = "*?[" if isinstance(path, Path) else "*["  # an address may have a query
    return any(sign in str(path) for sign in signs) and not path.exists()


def is_delta_table(path: Location) -> bool:
    """Return whether a folder is a table of Delta Lake, and the package that reads it is installed."""
    folder = isinstance(path, Path) and (path / "_delta_log").is_dir()
    return folder and find_spec("deltalake") is not None


def pattern_matches(pattern: Location) -> Iterator[Location]:
    """Yield the files and folders under names that match a pattern. ``**``: any folders."""
    if isinstance(pattern, Address):
        yield from pattern.matches()
    else:
        yield from sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))


def local_path(path: str | Path | Address) -> Path:
    """Return a path on this machine, for outputs that cannot be written to an address."""
    target = location(path)
    if isinstance(target, Address):
        raise SedscopeError(
            f"Cannot write {target}: only deltas and results can be written to an address. Write to "
            "this machine and copy the files."
        )
    return target


def open_input(path: Location) -> IO[bytes]:
    """Open a file to read it. All inputs are opened here, or checked by :func:`check_input`."""
    check_input(path)
    if isinstance(path, Address):
        return path.open("rb")
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def read_input(path: Location, check: Callable[[IO[bytes], int, Location], None] | None = None) -> bytes:
    """Read a whole file, but not more than it holds when it is opened.

    ``check``: called with the open file and its size, and may refuse the file before it is read.
    """
    with open_input(path) as file:
        try:
            is_local = isinstance(path, Path)
            size = os.fstat(file.fileno()).st_size if is_local else file.seek(0, SEEK_END)
            file.seek(0)
            refuse_beyond_memory(size, f"{path} has")
            if check is not None:
                check(file, size, path)
                file.seek(0)
            return file.read(size)
        except OSError as error:
            raise _unreadable(path, error) from None


def check_input(path: Location) -> None:
    """Refuse what is not a regular file, and what cannot be read.

    A pipe would wait for its writer, and a device may never end.
    """
    if isinstance(path, Address):
        return
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if not stat.S_ISREG(kind):
        raise _irregular(path, kind)


def _unreadable(path: Location, error: Exception) -> SedscopeError:
    if isinstance(error, FileNotFoundError) and isinstance(path, Path) and path.is_symlink():
        return SedscopeError(f"Cannot read {path}: it is a link to a file that does not exist.")
    return SedscopeError(f"Cannot read {path}: {error_reason(error)}.")


def _irregular(path: Path, kind: int) -> SedscopeError:
    if stat.S_ISDIR(kind):
        return SedscopeError(f"Cannot read {path}: it is a folder, not a file.")
    if stat.S_ISFIFO(kind):
        return SedscopeError(
            f"Cannot read {path}: it is a pipe. Write the data to a file first, and give that file."
        )
    what = "a socket" if stat.S_ISSOCK(kind) else "a device"
    return SedscopeError(f"Cannot read {path}: it is {what}, not a file.")


def folder_content(folder: Location, pattern: str = "*") -> list[Location]:
    """List what a folder holds under names that match a pattern, in order."""
    if isinstance(folder, Address):
        return [*folder.glob(pattern)]
    return [folder / entry.name for entry in _entries(folder) if fnmatch(entry.name, pattern)]


def folder_files(folder: Location, is_chosen: Callable[[str], bool]) -> Iterator[Location]:
    """Yield the files in a folder whose names are chosen, in order. Folders are left out.

    A pipe, a device or a link that leads nowhere is refused: it stands where a file should be.
    """
    if isinstance(folder, Address):
        yield from (file for file in folder.iterdir() if is_chosen(file.name) and file.is_file())
        return
    for entry in _entries(folder):
        if is_chosen(entry.name) and not entry.is_dir():
            path = folder / entry.name
            if not entry.is_file():
                check_input(path)
            yield path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder by name. What is not a folder has none."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        raise SedscopeError(f"Cannot read the folder {folder}: {error_reason(error)}.") from None


def utf8_name(path: Location, name: str) -> str:
    """Return a clip's name that is taken from a file name. Refuse one that is not UTF-8."""
    if not is_utf8(name):
        raise SedscopeError(
            f"{shown_name(str(path))}: the name of the file is not UTF-8 text, so it cannot name a clip. "
            "Rename the file."
        )
    return name


def is_utf8(name: str) -> bool:
    """Return whether a name can be written as UTF-8. File names may hold other bytes."""
    try:
        return name.isascii() or bool(name.encode())
    except UnicodeEncodeError:
        return False


def shown_name(name: str) -> str:
    """Return a file name as text that can be written anywhere. Bytes that are not UTF-8 become ``�``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass(frozen=True)
class Size:
    """The part of a file's status that readers use."""

    st_size: int


@total_ordering
@dataclass(frozen=True)
class Address:
    """A file or folder on another machine or in an archive.

    It has the methods of a path that readers need. Errors name the address. Nothing is opened before it
    is needed.
    """

    url: str
    _within: tuple[Any, str] | None = field(default=None, compare=False, repr=False)
    """The file system of its folder, and the path in it."""
    _listed: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    """Its entry in the listing of its folder."""

    def __str__(self) -> str:
        return self.url

    def __lt__(self, other: Address) -> bool:
        return self.url < other.url

    def __reduce__(self) -> tuple[type[Address], tuple[str]]:
        return Address, (self.url,)

    @property
    def name(self) -> str:
        """The last part of the path."""
        path = self._parts[1] if self._listed is None else str(self._listed["name"])
        name = PurePosixPath(path).name
        return _decoded(name.partition("?")[0]) if self._is_web else name

    @property
    def stem(self) -> str:
        """The name without suffix."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The last suffix of the name."""
        return PurePosixPath(self.name).suffix

    def __truediv__(self, name: str) -> Address:
        listing: dict[str, Address] = vars(self).get("_listing", {})
        if name in listing:
            return listing[name]
        head, path, tail = self._parts
        last = quote(name) if self._is_web else name
        files, folder = self._files
        below = (files, f"{folder.rstrip('/')}/{last}" if folder else last)
        return Address(f"{head}{path.rstrip('/')}/{last}{tail}", below)

    def exists(self) -> bool:
        """Return whether the file or folder exists."""
        return self._exists

    def is_dir(self) -> bool:
        """Return whether it is a folder. On the web, a folder is a page with links to its files."""
        return self._is_dir

    def is_file(self) -> bool:
        """Return whether it is a file."""
        return not self._is_dir and self.exists()

    def iterdir(self) -> Iterator[Address]:
        """Iterate over the content of a folder, which is listed only once."""
        return iter(self._listing.values())

    def glob(self, pattern: str) -> Iterator[Address]:
        """Iterate over the content of a folder under names that match a pattern."""
        return (child for name, child in self._listing.items() if fnmatchcase(name, pattern))

    def matches(self) -> Iterator[Address]:
        """Iterate over the files and folders whose addresses match this one, which is a pattern."""
        head, path, tail = self._parts
        names = path.split("/")
        literal = next(k for k, name in enumerate(names) if "*" in name or "[" in name)
        folder = Address(f"{head}{'/'.join(names[:literal])}{tail}")
        return folder._below(names[literal:])

    def _below(self, names: Sequence[str]) -> Iterator[Address]:
        if not names:
            yield self
        elif names[0] == "**":
            yield from self._below(names[1:])
            for child in self.iterdir():
                if child.is_dir():
                    yield from child._below(names)
        else:
            for child in self.glob(names[0]):
                yield from child._below(names[1:])

    def stat(self) -> Size:
        """Return the size of a file."""
        return self._size

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open a file, which is read completely: what a server sends goes to the disk, not into memory."""
        assert mode == "rb"
        if self._parts[0] not in ("http://", "https://"):
            self._refuse_beyond_limit(self._size.st_size)
            return BytesIO(self._call("cat_file"))
        file = TemporaryFile()  # noqa: SIM115 (who opens it closes it)
        try:
            self._call("get_file", file)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    def read_bytes(self) -> bytes:
        """Read a file."""
        with self.open() as file:
            return file.read()

    def read_range(self, first: int, last: int) -> bytes:
        """Read some bytes of a file. A server that does not support ranges sends all up to the last."""
        self._refuse_beyond_limit(last - first)
        content: bytes = self._call("cat_file", start=first, end=last)
        return content if len(content) <= last - first else content[first:last]

    def write_from(self, file: Path) -> None:
        """Write the content of a file on this machine to the address."""
        self._call("put_file", action="write", first=(str(file),))

    @cached_property
    def in_parts(self) -> bool:
        """Whether parts of the file can be read."""
        file = self.open_in_parts()
        if file is None:
            return False
        file.close()
        return True

    def open_in_parts(self) -> IO[bytes] | None:
        """Open a file to read parts of it. Return None if the server does not support that."""
        from fsspec.spec import AbstractBufferedFile

        files, path = self._files
        with suppress(Exception):  # the server does not support ranges
            file: IO[bytes] = files.open(path, "rb")
            if isinstance(file, AbstractBufferedFile):
                file.seek(-1, SEEK_END)
                return file if file.read(1) else None
            file.close()
        return None

    @cached_property
    def copy(self) -> Path:
        """A copy of the file on this machine, which is deleted together with the address."""
        folder = mkdtemp(prefix="sedscope-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        file = Path(folder) / "copy"  # a name of the server's might lead elsewhere
        if not self._is_web:
            self._refuse_beyond_limit(self._size.st_size)
        self._call("get_file", str(file))
        return file

    def _refuse_beyond_limit(self, size: int) -> None:
        try:
            refuse_download(size)
        except SedscopeError as error:
            raise SedscopeError(f"Cannot read {self}: {error}.") from None

    @cached_property
    def _parts(self) -> tuple[str, str, str]:
        """The protocols before the path, the path, and the address of the archive around it."""
        protocols = re.match(r"(?:[\w+.-]+::)*[\w+.-]+://", self.url)
        head = "" if protocols is None else protocols.group()
        path, mark, rest = self.url.removeprefix(head).partition("::")
        return head, path, mark + rest

    @property
    def _is_web(self) -> bool:
        return self._parts[0].endswith(("http://", "https://"))

    @cached_property
    def _files(self) -> tuple[Any, str]:
        """A file system of fsspec without cached listings, and the path in it."""
        if self._within is not None:
            return self._within
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise SedscopeError(
                f"{self} needs fsspec. Install it with: pip install 'sedscope[remote]'"
            ) from None
        web = re.findall(r"(?:^|::)(https?)://", self.url)
        options = {protocol: {"get_client": bounded_session} for protocol in web}
        try:
            files, path = url_to_fs(self.url, skip_instance_cache=True, **options)
        except Exception as error:  # an unknown protocol, a missing package, a broken archive
            raise SedscopeError(f"Cannot open {self}: {error_reason(error)}.") from None
        return files, path

    @cached_property
    def _exists(self) -> bool:
        return self._listed is not None or bool(self._call("exists"))

    @cached_property
    def _is_dir(self) -> bool:
        if self._listed is not None:
            return bool(self._listed["type"] == "directory")
        return bool(self._listing if self._is_web else self._call("isdir"))

    @cached_property
    def _size(self) -> Size:
        size = None if self._listed is None else self._listed.get("size")
        return Size(int((self._call("size") if size is None else size) or 0))

    @cached_property
    def _listing(self) -> dict[str, Address]:
        """The content of a folder by name, in order. What is no folder has none."""
        entries: list[Mapping[str, Any]] = []
        if self._is_web and self._listed is None:  # it is a folder if the page has links
            with suppress(SedscopeError):
                entries = self._call("ls", detail=True)
        elif self._is_dir:
            entries = self._call("ls", detail=True)
        children: dict[str, Address] = {}
        for entry in entries:
            name = str(entry["name"]).rstrip("/").rpartition("/")[2]
            if name:
                name = _decoded(name) if self._is_web else name
                children[name] = Address((self / name).url, (self._files[0], entry["name"]), entry)
        return {name: children[name] for name in sorted(children)}

    def _call(
        self, method: str, *rest: Any, action: str = "read", first: tuple[Any, ...] = (), **options: Any
    ) -> Any:
        """Call a method of the file system, whose libraries may raise any exception."""
        files, path = self._files
        try:
            return getattr(files, method)(*first, path, *rest, **options)
        except Exception as error:
            if isinstance(error, SedscopeError) and str(error).startswith("Cannot "):
                raise  # it already says what cannot be read
            raise SedscopeError(f"Cannot {action} {self}: {error_reason(error)}.") from None


def _decoded(name: str) -> str:
    """Decode a name on the web, unless it would become a path."""
    decoded = unquote(name)
    return name if "/" in decoded else decoded


def with_address(error: SedscopeError, source: Location) -> SedscopeError:
    """Name the address in an error about its copy on this machine."""
    if not isinstance(source, Address) or "copy" not in vars(source):
        return error
    return SedscopeError(str(error).replace(str(source.copy), str(source)))


@contextmanager
def explained(problem: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn exceptions of some kinds into errors that begin with a problem. Those of sedscope stay."""
    try:
        yield
    except SedscopeError:
        raise
    except kinds as error:
        raise SedscopeError(f"{problem}: {error_reason(error)}.") from None


def error_reason(error: Exception) -> str:
    """Say why a file cannot be used, without its name."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    return str(getattr(error, "strerror", None) or error).rstrip(".") or type(error).__name__


Location: TypeAlias = "Path | Address"
