"""Smoothed scores: the median filter and the moving average, in continuous time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from .postprocessing import (
    POSTPROCESSINGS,
    ClipGroup,
    PostProcessing,
    ProcessedGroup,
    ReadLimit,
    duration_ticks,
    require_duration,
)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MedianFilter(PostProcessing):
    """Take the median of the scores in a window around each time.

    At any threshold, a time is active if more than half of the window around it was active before.
    Nothing is active outside the clip. Frames may have any length, and the window need not be a
    whole number of frames: the result has the same boundaries, and another one wherever the median of
    some class changes. For an odd number of equal frames this is the usual median filter.

    Parameters
    ----------
    seconds : float
        The length of the window. With 0, the scores do not change.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[1], [3], [2], [5], [4]]}, classes=["Dog"], frame=0.5)
    >>> clip = MedianFilter(1.5)(scores)["a"]
    >>> clip.values[:, 0].tolist(), clip.edges.tolist()
    ([1.0, 2.0, 3.0, 4.0, 4.0], [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    """

    seconds: float

    def __post_init__(self) -> None:
        require_duration(self, "seconds")

    @property
    def window_seconds(self) -> float:
        return self.seconds

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        window = duration_ticks(self.seconds)
        if window == 0:
            return clip
        filtered = _native.median_filter(clip.values, clip.ticks, window)
        return ClipScores.unchecked(filtered.values.T, filtered.edges)

    def _process_group(self, group: ClipGroup, limit: ReadLimit | None) -> ProcessedGroup | None:
        window = duration_ticks(self.seconds)
        if type(self) is not MedianFilter or window == 0 or group.ranked is None:
            return None
        native_limit = None if limit is None else limit.native(group.clips[0].values.dtype)
        filtered = group.ranked.median_filter(window, native_limit, group.threads)
        clips = [
            ClipScores.unchecked(values, clip.ticks if ticks is None else ticks)
            for clip, values, ticks in zip(group.clips, filtered.values, filtered.edges, strict=True)
        ]
        return ProcessedGroup(clips, filtered.maxima)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MovingAverage(PostProcessing):
    """Take the mean score, weighted by time, in a window around the middle of each frame.

    If the window reaches beyond the clip, only the part inside the clip counts. Frame boundaries do
    not change, and the means are float64. The mean is ``-inf`` if the window contains ``-inf``, and
    otherwise ``inf`` if it contains ``inf``.

    Parameters
    ----------
    seconds : float
        The length of the window. With 0, the scores do not change.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[0], [3], [6], [0]]}, classes=["Dog"], frame=0.5)
    >>> MovingAverage(1.5)(scores)["a"].values[:, 0].tolist()
    [1.5, 3.0, 3.0, 3.0]
    """

    seconds: float

    def __post_init__(self) -> None:
        require_duration(self, "seconds")

    @property
    def window_seconds(self) -> float:
        return self.seconds

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        window = duration_ticks(self.seconds)
        if window == 0:
            return clip
        values = _native.moving_average(clip.values, clip.ticks, window)
        return ClipScores.unchecked(values.T, clip.ticks)
