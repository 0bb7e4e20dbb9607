"""Limits on what is read of files at an address: a server must not fill the memory or the disk."""

from __future__ import annotations

import os
import re
from typing import Any

from ..data.choices import parse_bytes
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
