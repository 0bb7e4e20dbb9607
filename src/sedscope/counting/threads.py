"""How many threads to use."""

from __future__ import annotations

import operator
import os

from ..errors import SedscopeError, short_number

_MOST_THREADS = 1024


def thread_count(threads: int | None) -> int:
    """As many as given, else one per core that this process may use."""
    if threads is None:
        available = getattr(os, "sched_getaffinity", None)
        return len(available(0)) if available else os.cpu_count() or 1
    try:
        number = operator.index(threads)
    except TypeError:
        raise SedscopeError(f"threads={threads!r} must be a whole number") from None
    if not 1 <= number <= _MOST_THREADS:
        raise SedscopeError(
            f"threads={short_number(number)} must be at least 1 and at most {_MOST_THREADS}"
        )
    return number
