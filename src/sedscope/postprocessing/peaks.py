"""Peaks: points in time, from the local maxima of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _native
from ..data.clip_events import ClipEvents, extent_of
from ..data.scored_events import ScoredEvents
from ..data.scores import ClipScores, Scores
from .postprocessing import PostProcessing, duration_ticks, require_duration
from .registry import POSTPROCESSINGS


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class Peaks(PostProcessing):
    """Turn scores into points in time: their local maxima, with the score as confidence.

    A frame is a peak if its score is higher than those of both neighbours; scores outside the clip are
    lower than all others. Several frames with the same score are one peak. The point lies at the centre of
    the frame, or in the middle of these frames. Points are events of no length, for :class:`~sedscope.Onset`.

    Parameters
    ----------
    min_distance : float, default 0
        The smallest distance between two peaks of a class, in seconds. Of two peaks that are nearer, the
        higher one stays, or the earlier one if they are equally high: the highest peak stays and those near
        it go, then the highest of the rest stays, and so on. With 0, all peaks stay.

    Examples
    --------
    >>> from sedscope import Scores
    >>> values = [[0.1], [0.9], [0.3], [0.5], [0.2], [0.4]]
    >>> scores = Scores.from_arrays({"a": values}, classes=["Snare"], frame=0.02)
    >>> Peaks()(scores).events()
    {'a': [(0.03, 0.03, 'Snare', 0.9), (0.07, 0.07, 'Snare', 0.5), (0.11, 0.11, 'Snare', 0.4)]}
    >>> Peaks(min_distance=0.05)(scores).events()
    {'a': [(0.03, 0.03, 'Snare', 0.9), (0.11, 0.11, 'Snare', 0.4)]}
    """

    min_distance: float = 0

    def __post_init__(self) -> None:
        require_duration(self, "min_distance")

    @property
    def makes_events(self) -> bool:
        return True

    def __call__(self, scores: Scores) -> ScoredEvents:
        """Find the peaks of scores. Each clip is processed when it is read.

        Parameters
        ----------
        scores : Scores
            The scores of a system.

        Returns
        -------
        ScoredEvents
            The peaks, of the same clips and classes.
        """
        points = super().__call__(scores)
        assert isinstance(points, ScoredEvents)
        return points

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipEvents:
        points = _native.peaks(clip.values, clip.ticks, duration_ticks(self.min_distance))
        times = np.stack([points.times, points.times], axis=1)
        return ClipEvents(times, points.columns, points.scores, extent_of(clip.ticks))
