"""Grids of frame boundaries: the same scores in finer frames.

A time that occurs twice, at a frame of no length, occurs twice in the union of several grids. There scores
of another grid are those of the frame that follows, so that none of their detections is split.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.arrays import ScoreArray
from ..data.scores import ClipScores
from ..data.times import Ticks


def union_of_grids(grids: Sequence[Ticks]) -> Ticks:
    """Return all boundaries, each as often as in the grid that has it most often."""
    times = np.unique(np.concatenate(grids))
    repeats = np.ones(len(times), np.int64)
    for grid in grids:
        np.maximum.at(repeats, np.searchsorted(times, grid), _repeats_before(grid) + 1)
    return np.repeat(times, repeats)


def on_grid(clip: ClipScores, grid: Ticks) -> ScoreArray:
    """Return the scores of a clip in the frames of a grid that has all of its boundaries."""
    # the n-th of some equal boundaries is the n-th of them in the grid
    begins = np.zeros(len(grid), np.intp)
    begins[np.searchsorted(grid, clip.ticks) + _repeats_before(clip.ticks)] = 1
    frames = np.minimum(begins.cumsum()[:-1] - 1, len(clip.values) - 1)
    values: ScoreArray = clip.values[frames]
    return values


def _repeats_before(grid: Ticks) -> Ticks:
    """Count the equal boundaries that come before each boundary."""
    return np.arange(len(grid)) - np.searchsorted(grid, grid)
