"""Arrays: their types, hashes and exact means, and limits on the memory that they may take."""

from __future__ import annotations

import math
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from ..errors import SedscopeError, shortened

if TYPE_CHECKING:
    from hashlib import _Hash

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ScoreArray = NDArray[np.float32 | np.float64]


def refuse_masked(values: ArrayLike, name: str) -> None:
    """Refuse masked arrays, and lists of them, with missing values: conversion would lose the mask."""
    # who makes a masked array has loaded it; few do, and another thread may be loading it just now
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    if masked is None:
        return
    for part in values if isinstance(values, (list, tuple)) else (values,):
        if isinstance(part, masked) and np.any(part.mask):
            raise SedscopeError(f"Some {name} are missing (masked). Fill them first.")


def sha256(content: bytes) -> _Hash:
    """Return the hash of some bytes, to which more can be added.

    >>> sha256(b"").hexdigest()[:8]
    'e3b0c442'
    """
    import hashlib

    return hashlib.sha256(content)


def group_means(rows: ScoreArray, groups: NDArray[np.integer[Any]], number: int) -> FloatArray:
    """Return the mean of the rows of each group, column by column.

    A mean of numbers of which one is infinite is infinite; if both infinities are among them, it is not a
    number. The mean of a group without rows is 0.

    Parameters
    ----------
    rows : array of float, shape (rows, columns)
        The numbers.
    groups : array of int, shape (rows,)
        The group of each row.
    number : int
        How many groups there are.

    Returns
    -------
    array of float64, shape (groups, columns)

    Examples
    --------
    >>> group_means(np.array([[0.7, 1.0], [0.7, 2.0], [0.7, 6.0]]), np.zeros(3, int), 2)
    array([[0.7, 3. ],
           [0. , 0. ]])
    """
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups, np.arange(number + 1), sorter=order).astype(np.int64, copy=False)
    return _native.group_means(np.ascontiguousarray(rows[order]), starts)


_ALWAYS_ALLOWED = 2**28  # bytes
_LARGEST_RATIO = 200
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def refuse_oversized(unpacked: int, stored: int, where: str) -> None:
    """Refuse data that would take far more memory than the file takes on disk. Sizes are in bytes."""
    if unpacked > _ALWAYS_ALLOWED and unpacked > _LARGEST_RATIO * stored:
        raise SedscopeError(
            f"{where}: {stored / 1e6:.3g} MB in the file would become {unpacked / 1e6:.3g} MB in "
            "memory, so it is not read. If the data is correct, store it without compression."
        )


def refuse_beyond_memory(
    size: float,
    subject: str,
    advice: str = "Split it, or convert it to a format that is read in parts.",
    limit: float = math.inf,
) -> None:
    """Refuse what needs more bytes than this machine has, or than a limit that the user set.

    ``subject``: begins the message, which goes on with the size, as in "The file has 9 GB".
    """
    if size > _ALWAYS_ALLOWED and size > min(limit, machine_memory()):
        room = f"the limit of {limit / 1e9:g} GB" if size > limit else "the memory of this machine"
        raise SedscopeError(f"{subject} {size / 1e9:.3g} GB, more than {room}. {advice}")


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
