"""Time is integer: seconds become microseconds (ticks) at the door, and stay so."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ticks = NDArray[np.int64]

TICKS_PER_SECOND = 1_000_000
SECONDS_PER_UNIT = {"second": 1, "minute": 60, "hour": 3600}
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


@lru_cache(maxsize=64)
def frame_ticks(frames: int, frame: float) -> Ticks:
    """The boundaries of frames of one length, from 0. One read-only array for all who ask."""
    ticks = to_ticks(np.arange(frames + 1) * frame)
    ticks.flags.writeable = False
    return ticks
