"""Limits on what a file may unpack to: a small file must not fill the memory."""

from __future__ import annotations

import math
import os

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
