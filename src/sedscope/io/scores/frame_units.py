"""The unit of frame boundaries in files: seconds, which milliseconds are sometimes taken for."""

from __future__ import annotations

import warnings

import numpy as np

from ...data.times import TICKS_PER_SECOND, Ticks
from ...errors import SedscopeWarning

_FEW_FRAMES, _LONG_FRAME = 10, 5  # frames, seconds


def warn_of_milliseconds(ticks: Ticks, where: str) -> None:
    """Warn of boundaries that are whole numbers far apart, as those in milliseconds are."""
    if len(ticks) <= _FEW_FRAMES:
        return
    frame = float(np.median(np.diff(ticks))) / TICKS_PER_SECOND
    if frame >= _LONG_FRAME and not np.any(ticks % TICKS_PER_SECOND):
        warnings.warn(
            f"{where}: frames are {frame:g} s long and all boundaries are whole numbers. Boundaries must be "
            "in seconds. If these are in milliseconds, divide them by 1000.",
            SedscopeWarning,
            stacklevel=2,
        )
