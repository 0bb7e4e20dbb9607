"""Clips that are post-processed together, in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .. import _native
from ..data.scores import ClipScores

_MOST_FRAMES = 2**16  # in a clip: the core answers Ctrl-C between clips


class ClipGroup:
    """Some clips, with what several post-processings of them share."""

    def __init__(self, clips: Sequence[ClipScores], threads: int) -> None:
        self.clips = clips
        self.threads = threads

    @cached_property
    def ranked(self) -> _native.RankedClips | None:
        """The clips with the ranks of their scores; None if the core cannot take them all at once.

        That is if the scores are of several types, if some are NaN, or if a clip is very long.
        """
        values = [clip.values for clip in self.clips]
        if len({array.dtype for array in values}) != 1 or max(map(len, values)) > _MOST_FRAMES:
            return None
        columns = np.arange(values[0].shape[1])
        clips = _native.Clips(values, [clip.ticks for clip in self.clips], columns)
        if np.isnan(clips.maxima(self.threads)).any():
            return None
        return _native.RankedClips(clips, self.threads)
