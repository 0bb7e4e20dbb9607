"""Close short gaps between detections, at every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from .postprocessing import PostProcessing, duration_ticks, require_duration
from .registry import POSTPROCESSINGS


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MaximumGap(PostProcessing):
    """Close short gaps between detections, at every threshold.

    The time before the first detection and after the last one is not a gap.

    Parameters
    ----------
    seconds : float
        The longest gap that is closed.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[1], [9], [4], [6], [0]]}, classes=["Dog"], frame=0.5)
    >>> MaximumGap(0.5)(scores)["a"].values[:, 0].tolist()
    [1.0, 9.0, 6.0, 6.0, 0.0]
    """

    seconds: float

    def __post_init__(self) -> None:
        require_duration(self, "seconds")

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        values = _native.maximum_gap(clip.values, clip.ticks, duration_ticks(self.seconds))
        return ClipScores.unchecked(values.T, clip.ticks)
