"""Time is integer: seconds become microseconds (ticks) at the door, and stay so."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ticks = NDArray[np.int64]

TICKS_PER_SECOND = 1_000_000
SECONDS_PER_UNIT = {"second": 1, "minute": 60, "hour": 3600}
_LONG = 2**18  # frames
_LARGEST = 2**53 / TICKS_PER_SECOND  # seconds; about 285 years


def to_ticks(seconds: ArrayLike) -> Ticks:
    """Seconds as microseconds, rounded to nearest.

    >>> to_ticks([0.0, 0.448, 10])
    array([       0,   448000, 10000000])
    """
    values = np.asarray(seconds, dtype=np.float64)
    wrong = np.flatnonzero(~(np.abs(values) < _LARGEST))  # also finds NaN
    if len(wrong):
        found = ", ".join(f"{values.flat[i]:g} at {i}" for i in wrong[:5])
        raise ValueError(f"times must be finite numbers of seconds, not {found}")
    ticks: Ticks = np.rint(values * TICKS_PER_SECOND).astype(np.int64)
    return ticks


def to_seconds(ticks: Ticks) -> NDArray[np.float64]:
    """Microseconds as seconds."""
    return ticks / TICKS_PER_SECOND


def frame_ticks(frames: int, frame: float) -> Ticks:
    """The boundaries of frames of one length, from 0: a read-only array, one for all who ask, unless it
    is long."""
    return _frame_ticks(frames, frame) if frames > _LONG else _shared_frame_ticks(frames, frame)


def _frame_ticks(frames: int, frame: float) -> Ticks:
    ticks = np.empty(frames + 1, np.int64)
    for first in range(0, frames + 1, _LONG):
        last = min(first + _LONG, frames + 1)
        ticks[first:last] = to_ticks(np.arange(first, last) * frame)
    ticks.flags.writeable = False
    return ticks


_shared_frame_ticks = lru_cache(maxsize=64)(_frame_ticks)
