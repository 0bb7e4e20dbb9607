"""Arrays that a user's function returns, and may change afterwards because it uses them again."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .score_arrays import ClipScores

# newer versions, and other implementations, count references in another way
_COUNTS_REFERENCES = sys.implementation.name == "cpython" and sys.version_info < (3, 14)


def protected(clip: ClipScores, returned: object) -> ClipScores:
    """Return the scores of a clip in arrays that only sedscope can change.

    Arrays are copied unless nothing else refers to them, or they are read-only down to their memory.
    ``returned``: what the user's function returned, from which the scores were made.
    """
    if clip is returned and _references(clip) > 4:  # twice here, and twice in the caller
        values_safe = ticks_safe = False
    else:
        values_safe = _is_safe(clip.values, 3 if clip.values is returned else 1)
        ticks_safe = clip is not returned or _is_safe(clip.ticks, 1)
    if values_safe and ticks_safe:
        return clip
    values = clip.values if values_safe else clip.values.copy(order="K")
    return ClipScores.unchecked(values, clip.ticks if ticks_safe else clip.ticks.copy())


def _is_safe(array: NDArray[Any], known: int) -> bool:
    """Return whether nothing but the ``known`` references and this argument leads to the memory."""
    if _references(array) <= known + 1:
        base: object = array.base
        if base is None or (
            isinstance(base, np.ndarray) and base.base is None and _references(base) <= 2
        ):
            return True
    return _is_read_only(array)


def _references(value: object) -> int:
    """Count the references to a value, except those of this function."""
    return sys.getrefcount(value) - 2 if _COUNTS_REFERENCES else sys.maxsize


def _is_read_only(array: NDArray[Any]) -> bool:
    """Return whether an array and all arrays that it is a view of are read-only."""
    memory: object = array
    while isinstance(memory, np.ndarray):
        if memory.flags.writeable:
            return False
        memory = memory.base
    # whatever an array lies in has a buffer, which its type does not say
    return memory is None or memoryview(memory).readonly  # type: ignore[arg-type]
