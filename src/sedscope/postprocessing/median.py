"""The median filter, in continuous time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from .postprocessing import PostProcessing
from .windows import require_seconds, window_ticks


@dataclass(frozen=True, repr=False)
class MedianFilter(PostProcessing):
    """The median of the scores in a window of that length around each time.

    At a threshold, a time is active if more than half of the window around it was; outside the clip
    nothing is. Frames may have any lengths, the window any number of them, and the boundaries of the
    result are where the median of some class changes. With an odd number of equal frames it is the
    usual median filter. A window of 0 leaves scores as they are.

    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[1], [3], [2], [5], [4]]}, classes=["Dog"], frame=0.5)
    >>> clip = MedianFilter(1.5)(scores)["a"]
    >>> clip.values[:, 0].tolist(), clip.edges.tolist()
    ([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 1.0, 1.5, 2.5])
    """

    seconds: float

    def __post_init__(self) -> None:
        require_seconds(self, "seconds")

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        window = window_ticks(self.seconds)
        if window == 0:
            return clip
        filtered = _native.median_filter(clip.values, clip.ticks, window)
        return ClipScores.unchecked(filtered.values.T, filtered.edges)
