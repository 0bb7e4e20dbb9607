"""SHA-256 hashes of data. Their library is loaded with the first of them: most evaluations take none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import _Hash


def sha256(content: bytes) -> _Hash:
    """Return the hash of some bytes, to which more can be added.

    >>> sha256(b"").hexdigest()[:8]
    'e3b0c442'
    """
    import hashlib

    return hashlib.sha256(content)
