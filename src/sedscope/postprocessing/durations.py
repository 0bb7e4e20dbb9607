"""Detections that are long enough, and gaps that are too short, at every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from .postprocessing import PostProcessing
from .windows import require_seconds, window_ticks


@dataclass(frozen=True, repr=False)
class MinimumDuration(PostProcessing):
    """At every threshold, detections shorter than that are removed.

    Each frame gets the highest score at which it is part of a detection that is long enough, and
    ``-inf`` if there is none.

    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[1], [9], [4], [4], [0]]}, classes=["Dog"], frame=0.5)
    >>> MinimumDuration(1)(scores)["a"].values[:, 0].tolist()
    [1.0, 4.0, 4.0, 4.0, 0.0]
    """

    seconds: float

    def __post_init__(self) -> None:
        require_seconds(self, "seconds")

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        values = _native.minimum_duration(clip.values, clip.ticks, window_ticks(self.seconds))
        return ClipScores.unchecked(values.T, clip.ticks)


@dataclass(frozen=True, repr=False)
class MaximumGap(PostProcessing):
    """At every threshold, gaps of at most that length between two detections are closed.

    Before the first and after the last detection there is no gap.

    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[1], [9], [4], [6], [0]]}, classes=["Dog"], frame=0.5)
    >>> MaximumGap(0.5)(scores)["a"].values[:, 0].tolist()
    [1.0, 9.0, 6.0, 6.0, 0.0]
    """

    seconds: float

    def __post_init__(self) -> None:
        require_seconds(self, "seconds")

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        values = _native.maximum_gap(clip.values, clip.ticks, window_ticks(self.seconds))
        return ClipScores.unchecked(values.T, clip.ticks)
