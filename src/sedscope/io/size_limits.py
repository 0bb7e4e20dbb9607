"""Limits on what is read: a small file or a server must not fill the memory or the disk."""

from __future__ import annotations

import math
import os
import re
from typing import Any

from ..errors import SedscopeError, shortened

DOWNLOAD_LIMIT = "SEDSCOPE_MAX_DOWNLOAD"
"""The environment variable that says how many bytes of a file at an address may be read at once."""
_ALWAYS_ALLOWED = 2**28  # bytes
_LARGEST_RATIO = 200
_LARGEST_LISTING = 2**24  # bytes of a page that lists a folder
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def refuse_oversized(unpacked: int, stored: int, where: str) -> None:
    """Refuse data that would take far more memory than the file takes on disk. Sizes are in bytes."""
    if unpacked > _ALWAYS_ALLOWED and unpacked > _LARGEST_RATIO * stored:
        raise SedscopeError(
            f"{where}: {stored / 1e6:.3g} MB in the file would become {unpacked / 1e6:.3g} MB in "
            "memory, so it is not read. If the data is correct, store it without compression."
        )


def refuse_beyond_memory(size: int, where: str) -> None:
    """Refuse a file that is read as a whole and is larger than the memory of this machine."""
    if size > _ALWAYS_ALLOWED and size > machine_memory():
        raise SedscopeError(
            f"{where} has {size / 1e9:.3g} GB, more than the memory of this machine. Split it, or convert "
            "it to a format that is read in parts."
        )


def machine_memory() -> float:
    """Return the memory of this machine in bytes; ``inf`` if it cannot be found out."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def parse_bytes(text: str | float, name: str = "memory") -> int:
    """Read a number of bytes: ``GB`` are powers of 1000, ``GiB`` powers of 1024.

    ``name``: what the number is called in an error.

    >>> parse_bytes("4GB"), parse_bytes("500 MB"), parse_bytes("1GiB"), parse_bytes(1e6)
    (4000000000, 500000000, 1073741824, 1000000)
    """
    try:
        written, shown = str(text), repr(text)
    except ValueError:  # Python does not write integers of thousands of digits
        written = shown = "a number of thousands of digits"
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:[eE]\+?\d+)?)\s*(?:([kKMGT])(i?))?B?\s*", written)
    number = 0.0
    if match is not None:
        number = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[(match[2] or "").upper()]
    if not 1 <= number < math.inf:
        raise SedscopeError(
            f"{name}={shortened(shown, 60)} is not a number of bytes. Give it as '4GB' or '500MB'."
        )
    return int(number)


def refuse_download(size: int) -> None:
    """Refuse to read that many bytes of a file at an address, if they are more than the limit."""
    limit = parse_bytes(os.environ.get(DOWNLOAD_LIMIT) or 2e9, DOWNLOAD_LIMIT)
    if size > limit:
        raise SedscopeError(
            f"it has {size / 1e9:.3g} GB or more, and the limit is {limit / 1e9:.3g} GB. If you trust the "
            f"source, raise the limit, for example to 10GB, with sedscope --max-download or the "
            f"environment variable {DOWNLOAD_LIMIT}"
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
