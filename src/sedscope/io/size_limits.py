"""Limits on what a file may unpack to: a small file must not fill the memory."""

from __future__ import annotations

from ..errors import SedscopeError

_ALWAYS_ALLOWED = 2**28  # bytes
_LARGEST_RATIO = 200


def refuse_oversized(unpacked: int, stored: int, where: str) -> None:
    """Refuse data that would take far more memory than the file takes on disk. Sizes are in bytes."""
    if unpacked > _ALWAYS_ALLOWED and unpacked > _LARGEST_RATIO * stored:
        raise SedscopeError(
            f"{where}: {stored / 1e6:.3g} MB in the file would become {unpacked / 1e6:.3g} MB in "
            "memory, so it is not read. If the data is correct, store it without compression."
        )
