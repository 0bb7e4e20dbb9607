"""Where files lie: on this machine, or at an address that fsspec opens (the extra ``remote``)."""

from __future__ import annotations

import re
import shutil
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property, total_ordering
from io import SEEK_END, BytesIO
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import IO, Any, TypeAlias
from urllib.parse import quote, unquote

from ..errors import SedscopeError

_PROTOCOL = re.compile(r"[A-Za-z][\w+.-]+(::|://)")
_HERE = re.compile(r"(file|local)://(localhost(?=/))?", re.IGNORECASE)


def place(path: str | Path | Address) -> Place:
    """A path, or an address such as ``s3://bucket/scores`` or ``zip://scores::https://host/set.zip``.

    >>> place("file:///data/scores").name, place("memory://set/scores").name
    ('scores', 'scores')
    """
    if isinstance(path, (Path, Address)):
        return path
    if not isinstance(path, str) or "://" not in path or not _PROTOCOL.match(path):
        return Path(path)
    here = _HERE.match(path)
    return Address(path) if here is None else Path(unquote(path[here.end() :]))


def local_path(path: str | Path | Address) -> Path:
    """The path to something that is written to this machine only."""
    target = place(path)
    if isinstance(target, Address):
        raise SedscopeError(
            f"cannot write {target}: only deltas and results are written to an address. Write to this "
            "machine, and copy it there"
        )
    return target


def folder_content(folder: Place, pattern: str = "*") -> list[Place]:
    """What lies in a folder under certain names, in order."""
    if isinstance(folder, Address):
        return [*folder.glob(pattern)]
    return [*sorted(folder.glob(pattern))]


@dataclass(frozen=True)
class Size:
    """What is asked of a file's status."""

    st_size: int


@total_ordering
@dataclass(frozen=True)
class Address:
    """A file or folder elsewhere. It has those methods of a path that are needed to read it, and what
    goes wrong is an error that names it. Nothing is opened before it is needed."""

    url: str
    _within: tuple[Any, str] | None = field(default=None, compare=False, repr=False)
    """The file system of its folder, and the path in it."""
    _listed: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    """What the listing of its folder said of it."""

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
        return unquote(name.partition("?")[0]) if self._is_web else name

    @property
    def stem(self) -> str:
        """The name without suffix."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The last suffix of the name."""
        return PurePosixPath(self.name).suffix

    def __truediv__(self, name: str) -> Address:
        head, path, tail = self._parts
        last = quote(name) if self._is_web else name
        files, folder = self._files
        below = (files, f"{folder.rstrip('/')}/{last}" if folder else last)
        return Address(f"{head}{path.rstrip('/')}/{last}{tail}", below)

    def exists(self) -> bool:
        """Whether there is something."""
        return self._exists

    def is_dir(self) -> bool:
        """Whether it is a folder; for the web, a page with links to what lies below."""
        return self._is_dir

    def is_file(self) -> bool:
        """Whether it is a file."""
        return not self._is_dir and self.exists()

    def iterdir(self) -> Iterator[Address]:
        """What lies in a folder, listed once."""
        return iter(self._listing)

    def glob(self, pattern: str) -> Iterator[Address]:
        """What lies in a folder under certain names."""
        return (child for child in self._listing if fnmatchcase(child.name, pattern))

    def stat(self) -> Size:
        """How large a file is."""
        return self._size

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The content of a file, read at once."""
        assert mode == "rb"
        return BytesIO(self.read_bytes())

    def read_bytes(self) -> bytes:
        """The content of a file."""
        content: bytes = self._ask("cat_file")
        return content

    def read_text(self, encoding: str) -> str:
        """The content of a file of text."""
        return self.read_bytes().decode(encoding)

    def read_range(self, first: int, last: int) -> bytes:
        """Some bytes of a file; a server that does not know ranges gives all of them."""
        content: bytes = self._ask("cat_file", start=first, end=last)
        return content if len(content) <= last - first else content[first:last]

    def write_from(self, file: Path) -> None:
        """Write the content of a file on this machine."""
        self._ask("put_file", says="write", first=(str(file),))

    @cached_property
    def in_parts(self) -> bool:
        """Whether a file can be had in parts."""
        file = self.open_in_parts()
        if file is None:
            return False
        file.close()
        return True

    def open_in_parts(self) -> IO[bytes] | None:
        """A file of which parts are read as they are asked for; None where it cannot be had in parts."""
        from fsspec.spec import AbstractBufferedFile

        files, path = self._files
        with suppress(Exception):  # a server that does not know ranges
            file: IO[bytes] = files.open(path, "rb")
            if isinstance(file, AbstractBufferedFile):
                file.seek(-1, SEEK_END)
                return file if file.read(1) else None
            file.close()
        return None

    @cached_property
    def copy(self) -> Path:
        """A copy of a file on this machine, which stays for as long as the address is held."""
        folder = mkdtemp(prefix="sedscope-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        file = Path(folder) / (self.name or "copy")
        self._ask("get_file", str(file))
        return file

    @cached_property
    def _parts(self) -> tuple[str, str, str]:
        """What stands before the path, the path, and the addresses of what it lies in."""
        protocols = re.match(r"(?:[\w+.-]+::)*[\w+.-]+://", self.url)
        head = "" if protocols is None else protocols.group()
        path, mark, rest = self.url.removeprefix(head).partition("::")
        return head, path, mark + rest

    @property
    def _is_web(self) -> bool:
        return self._parts[0].endswith(("http://", "https://"))

    @cached_property
    def _files(self) -> tuple[Any, str]:
        """A file system of fsspec that remembers nothing from before, and the path in it."""
        if self._within is not None:
            return self._within
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise SedscopeError(f"{self} needs fsspec: pip install 'sedscope[remote]'") from None
        try:
            files, path = url_to_fs(self.url, skip_instance_cache=True)
        except Exception as error:  # an unknown protocol, a missing package, an archive that is none
            raise SedscopeError(f"cannot open {self}: {_reason(error)}") from None
        return files, path

    @cached_property
    def _exists(self) -> bool:
        return self._listed is not None or bool(self._ask("exists"))

    @cached_property
    def _is_dir(self) -> bool:
        if self._listed is not None:
            return bool(self._listed["type"] == "directory")
        return bool(self._ask("isdir"))

    @cached_property
    def _size(self) -> Size:
        size = None if self._listed is None else self._listed.get("size")
        return Size(int((self._ask("size") if size is None else size) or 0))

    @cached_property
    def _listing(self) -> tuple[Address, ...]:
        entries: list[Mapping[str, Any]] = self._ask("ls", detail=True) if self._is_dir else []
        found: dict[str, Address] = {}
        for entry in entries:
            name = str(entry["name"]).rstrip("/").rpartition("/")[2]
            if name:
                name = unquote(name) if self._is_web else name
                found[name] = Address((self / name).url, (self._files[0], entry["name"]), entry)
        return tuple(found[name] for name in sorted(found))

    def _ask(
        self, method: str, *rest: Any, says: str = "read", first: tuple[Any, ...] = (), **options: Any
    ) -> Any:
        """Ask the file system, whose libraries raise whatever they like."""
        files, path = self._files
        try:
            return getattr(files, method)(*first, path, *rest, **options)
        except Exception as error:
            raise SedscopeError(f"cannot {says} {self}: {_reason(error)}") from None


def renamed(error: SedscopeError, source: Place) -> SedscopeError:
    """What is wrong with the copy of a file is wrong with the file."""
    if not isinstance(source, Address) or "copy" not in vars(source):
        return error
    return SedscopeError(str(error).replace(str(source.copy), str(source)))


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


Place: TypeAlias = "Path | Address"
