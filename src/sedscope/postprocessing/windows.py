"""Lengths of time in the definitions of post-processings."""

from __future__ import annotations

from typing import Any

from ..data.times import to_ticks
from ..definitions import require_number

LONGEST = 1e9
"""Seconds: longer than any recording, and exact in microseconds."""


def require_seconds(owner: Any, name: str) -> None:
    """Refuse a field that is no length of time."""
    require_number(owner, name, at_least=0, at_most=LONGEST)


def window_ticks(seconds: float) -> int:
    """A length of time in microseconds, rounded to nearest."""
    return int(to_ticks(seconds))
