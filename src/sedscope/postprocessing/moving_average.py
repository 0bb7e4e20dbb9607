"""The moving average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from .postprocessing import PostProcessing
from .windows import require_seconds, window_ticks


@dataclass(frozen=True, repr=False)
class MovingAverage(PostProcessing):
    """The mean score in a window of that length around the middle of each frame, weighted by time.

    Where the window reaches beyond the clip, only the part inside counts. Frames stay as they are; the
    means are float64. A window with a score of ``-inf`` in it has the mean ``-inf``, otherwise one with
    ``inf`` in it ``inf``. A window of 0 leaves scores as they are.

    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[0], [3], [6], [0]]}, classes=["Dog"], frame=0.5)
    >>> MovingAverage(1.5)(scores)["a"].values[:, 0].tolist()
    [1.5, 3.0, 3.0, 3.0]
    """

    seconds: float

    def __post_init__(self) -> None:
        require_seconds(self, "seconds")

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        window = window_ticks(self.seconds)
        if window == 0:
            return clip
        values = _native.moving_average(clip.values, clip.ticks, window)
        return ClipScores.unchecked(values.T, clip.ticks)
