"""Array types that every package shares, and arrays that none takes."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SedscopeError

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
