"""Sums over clips, for many resamples."""

from __future__ import annotations

import numpy as np

from .. import _native
from .resampling import Weights


def weighted_sums(weights: Weights, threads: int) -> _native.WeightedSums:
    """Return what adds up numbers of clips, each times its weight in a resample."""
    return _native.WeightedSums(np.ascontiguousarray(weights), threads)
