"""Clips that are post-processed together, in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.arrays import FloatArray, ScoreArray
from ..data.scores import ClipScores

_MOST_FRAMES = 2**16  # in a clip: the core answers Ctrl-C between clips
_MOST_SCORES = 2**27  # in all clips: ranks take 6 bytes per float32 score


@dataclass(frozen=True, eq=False)
class ReadLimit:
    """Down to which score processed scores are read. Any lower score may take the place of a score that is
    not read."""

    lowest: FloatArray
    """Per column, the lowest score that is read."""
    rank: int
    """Nor is anything read below the largest processed scores of this many of the clips ``among``."""
    among: NDArray[np.bool_]
    """(clips × columns)"""

    def native(self, dtype: np.dtype[Any]) -> _native.ReadLimit:
        """The limit as the core reads it, for scores of a type."""
        with np.errstate(over="ignore"):
            return _native.ReadLimit(self.lowest.astype(dtype), self.rank, self.among)


@dataclass(frozen=True, eq=False)
class ProcessedGroup:
    """The clips of a group after a post-processing."""

    clips: list[ClipScores]
    maxima: ScoreArray
    """(clips × columns) the largest scores."""


class ClipGroup:
    """Some clips, with what several post-processings of them share."""

    def __init__(self, clips: Sequence[ClipScores], threads: int) -> None:
        self.clips = clips
        self.threads = threads

    @cached_property
    def ranked(self) -> _native.RankedClips | None:
        """The clips with the ranks of their scores; None if the core cannot take them all at once.

        That is if the scores are of several types, if some are NaN, if a clip is very long, or if there are
        so many scores that their ranks would take much memory.
        """
        values = [clip.values for clip in self.clips]
        if len({array.dtype for array in values}) != 1 or max(map(len, values)) > _MOST_FRAMES:
            return None
        if sum(array.size for array in values) > _MOST_SCORES:
            return None
        columns = np.arange(values[0].shape[1])
        clips = _native.Clips(values, [clip.ticks for clip in self.clips], columns)
        if np.isnan(clips.maxima(self.threads)).any():
            return None
        return _native.RankedClips(clips, self.threads)
