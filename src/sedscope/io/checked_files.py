"""Files that end with a digest of their content: one that is incomplete or altered is not read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..errors import SedscopeError
from .atomic_write import replacing
from .locations import read_input


def write_checked(path: Path, content: bytes) -> None:
    """Write a file, and a digest of it at its end."""
    with replacing(path) as temporary:
        temporary.write_bytes(content + _digest(content))


def read_checked(path: Path) -> bytes | None:
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
