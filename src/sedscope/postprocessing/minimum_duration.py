"""Remove detections that are too short, at every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from .postprocessing import PostProcessing, duration_ticks, require_duration
from .registry import POSTPROCESSINGS


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MinimumDuration(PostProcessing):
    """Remove detections that are too short, at every threshold.

    Each frame gets the highest score at which it is part of a detection that is long enough, and
    ``-inf`` if there is none.

    Parameters
    ----------
    seconds : float
        The shortest duration that a detection may have.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[1], [9], [4], [4], [0]]}, classes=["Dog"], frame=0.5)
    >>> MinimumDuration(1)(scores)["a"].values[:, 0].tolist()
    [1.0, 4.0, 4.0, 4.0, 0.0]
    """

    seconds: float

    def __post_init__(self) -> None:
        require_duration(self, "seconds")

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        values = _native.minimum_duration(clip.values, clip.ticks, duration_ticks(self.seconds))
        return ClipScores.unchecked(values.T, clip.ticks)
