"""The moving average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from .postprocessing import PostProcessing, duration_ticks, require_duration
from .registry import POSTPROCESSINGS


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
