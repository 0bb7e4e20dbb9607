"""The choices of what is evaluated, of what becomes of input that does not fit, and limits on memory."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from ..errors import SedscopeError, shortened

ClipChoice: TypeAlias = Iterable[str] | Literal["scored"] | None
"""Some clips; ``"scored"``: all clips that have scores; None: the same, but then every clip of the ground
truth must have scores."""
Missing: TypeAlias = Literal["error", "empty"]
"""Clips that the ground truth does not list: refuse them, or take them as clips without events."""
Invalid: TypeAlias = Literal["error", "drop"]
"""Events that end before they begin, or begin after their clip ends: refuse them, or leave them out. So are
events of no length, unless the criterion judges points in time."""
Coverage: TypeAlias = Literal["error", "trim", "any"]
"""Scores that end long before or after most of their clips: refuse them, cut them to the durations first, or
evaluate them as they are."""
Overlaps: TypeAlias = Literal["error", "merge", "keep"]
"""Overlapping events of one class: refuse them, merge them, or keep them as they are."""
EventOverlaps: TypeAlias = Literal["error", "merge", "average", "keep"]
"""The same for detections, which may also be windows: the score at each instant is then the mean of those
that cover it."""
Gaps: TypeAlias = Literal["error", "silent"]
"""Gaps between frames: refuse them, or take them as frames in which nothing is active."""
Side: TypeAlias = Literal["system", "truth"]
"""What a file is read as: the output of a system, or the ground truth."""
Crossing: TypeAlias = Literal["cut", "ignore", "drop"]
"""Reference events that cross the border of a region: the part inside counts, is ignored, or is left out."""

ClipEnds: TypeAlias = Literal["stated", "events"]
"""Clips end where durations or scores say, or with their last reference or detection."""


def check_choice(choices: object, **chosen: object) -> None:
    """Refuse what is none of some words: ``check_choice(Gaps, gaps=gaps)``."""
    *others, last = map(repr, get_args(choices))
    for name, value in chosen.items():
        if value not in get_args(choices):
            words = f"{', '.join(others)} or {last}"
            raise SedscopeError(f"{name}={value!r} is not valid. Choose {words}.")


def truth_overlaps(overlaps: EventOverlaps) -> Overlaps:
    """Return the choice for references that goes with one for detections: only windows are averaged."""
    return "error" if overlaps == "average" else overlaps


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
