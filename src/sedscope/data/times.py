"""Times are integers: seconds become microseconds (ticks) on arrival and stay that way."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SedscopeError, counted, listing, subject
from .arrays import FloatArray, refuse_masked
from .size_limits import refuse_beyond_memory

Ticks = NDArray[np.int64]

TICKS_PER_SECOND = 1_000_000
SECONDS_PER_UNIT = {"second": 1, "minute": 60, "hour": 3600}
LONGEST_SECONDS = 10 * 365 * 24 * 3600
"""Times, and lengths of collars, segments and windows, are at most ten years, so that no sum or
difference of a few of them overflows."""
LONGEST_TICKS = LONGEST_SECONDS * TICKS_PER_SECOND
_BLOCK_FRAMES = 2**18


def to_ticks(seconds: ArrayLike) -> Ticks:
    """Convert seconds to microseconds, rounded to the nearest. Refuse times beyond ten years.

    >>> to_ticks([0.0, 0.448, 10])
    array([       0,   448000, 10000000])
    """
    refuse_masked(seconds, "times")
    values = np.asarray(seconds)
    if values.dtype.kind == "c":
        raise ValueError("Times must be real numbers of seconds, not complex ones.")
    values = values.astype(np.float64, copy=False)
    wrong = np.flatnonzero(~(np.abs(values) <= LONGEST_SECONDS))  # also finds NaN
    if len(wrong):
        examples = ", ".join(f"{values.flat[i]:g} at {i}" for i in wrong[:5])
        raise ValueError(f"Times must be finite numbers of seconds within ten years, not {examples}.")
    ticks: Ticks = np.rint(values * TICKS_PER_SECOND).astype(np.int64)
    return ticks


def check_ticks(ticks: Ticks) -> None:
    """Refuse microseconds beyond ten years."""
    if ticks.size and (int(ticks.min()) < -LONGEST_TICKS or int(ticks.max()) > LONGEST_TICKS):
        wrong = np.flatnonzero((ticks < -LONGEST_TICKS) | (ticks > LONGEST_TICKS))
        examples = [f"{ticks.flat[i]} at {i}" for i in wrong[:6]]
        raise SedscopeError(
            f"{subject(len(wrong), 'time', 'is')} more than ten years from 0: "
            f"{listing(examples, total=len(wrong))} (in microseconds). The data may be damaged."
        )


def to_seconds(ticks: Ticks) -> FloatArray:
    """Convert microseconds to seconds."""
    return ticks / TICKS_PER_SECOND


def lies_within(onsets: Ticks, offsets: Ticks, start: int, end: int) -> NDArray[np.bool_]:
    """Return which events share time with ``[start, end)``, or are points in time inside it."""
    inside: NDArray[np.bool_] = (onsets < end) & ((offsets > start) | (onsets >= start))
    return inside


def frame_ticks(frames: int, frame: float) -> Ticks:
    """Return the boundaries of frames of equal length, starting at 0, as a read-only array.

    Short arrays are shared between callers, because most clips of a set have the same boundaries.
    """
    if not frames * frame <= LONGEST_SECONDS:
        raise SedscopeError(f"{counted(frames, 'frame')} of {frame:g} s take more than ten years.")
    refuse_beyond_memory(
        2 * 8 * frames,  # there must be room for the scores, too
        f"Boundaries and scores of {counted(frames, 'frame')} need more than",
        "Use longer frames, or cut the recording into several clips.",
    )
    if frames > _BLOCK_FRAMES:
        return _frame_ticks(frames, frame)
    return _shared_frame_ticks(frames, frame)


def _frame_ticks(frames: int, frame: float) -> Ticks:
    ticks = np.empty(frames + 1, np.int64)
    for first in range(0, frames + 1, _BLOCK_FRAMES):  # in blocks, to keep temporary arrays small
        last = min(first + _BLOCK_FRAMES, frames + 1)
        ticks[first:last] = to_ticks(np.arange(first, last) * frame)
    ticks.flags.writeable = False
    return ticks


_shared_frame_ticks = lru_cache(maxsize=64)(_frame_ticks)
