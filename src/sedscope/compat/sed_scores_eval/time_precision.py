"""Times with fewer decimals than the six of microseconds, as the option ``time_decimals`` asks."""

from __future__ import annotations

import operator

import numpy as np

from ...data.scores import ClipScores
from ...data.times import Ticks
from ...errors import SedscopeError, subject

MICROSECONDS = 6
"""The decimals of microseconds."""


def rounding_step(time_decimals: int) -> int:
    """Return the microseconds that times become multiples of: 1 for six decimals and more.

    >>> rounding_step(30), rounding_step(6), rounding_step(3)
    (1, 1, 1000)
    """
    try:
        decimals = operator.index(time_decimals)
    except TypeError:
        decimals = -1
    if decimals < 0:
        raise SedscopeError(f"time_decimals={time_decimals!r} must be a whole number, at least 0.")
    step: int = 10 ** max(MICROSECONDS - decimals, 0)
    return step


def rounded_ticks(ticks: Ticks, step: int) -> Ticks:
    """Round times to multiples of a step; halves go to even multiples.

    >>> rounded_ticks(np.array([1499, 1500, 2500]), 1000).tolist()
    [1000, 2000, 2000]
    """
    multiples: Ticks = np.rint(ticks / step).astype(np.int64)
    return multiples * step


def rounded_clip(clip: ClipScores, step: int, where: str) -> ClipScores:
    """Round the frame boundaries of a clip. Refuse this if frames would have no length."""
    ticks = rounded_ticks(clip.ticks, step)
    lost = int(np.count_nonzero(ticks[1:] == ticks[:-1]))
    if lost:
        raise SedscopeError(
            f"{where}: {subject(lost, 'frame', 'has')} no length with times rounded to {step / 1e6:g} s. "
            "Raise time_decimals."
        )
    return ClipScores.unchecked(clip.values, ticks)
