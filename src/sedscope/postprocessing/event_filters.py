"""Post-processings of detections at every threshold: close gaps, remove short ones, extend them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _native
from ..data.scores import ClipScores
from ..definitions import optional_number
from ..errors import SedscopeError
from .postprocessing import (
    POSTPROCESSINGS,
    PostProcessing,
    duration_ticks,
    require_duration,
    require_no_negative_scores,
)


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


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class Hysteresis(PostProcessing):
    """Extend detections down to a second, lower threshold.

    At a threshold θ, a detection contains a frame with ``score > θ``. It extends over all neighbouring
    frames with ``score + difference > θ``, or with ``score / ratio > θ``. The scores become float64.

    Parameters
    ----------
    difference : float, optional
        How far the lower threshold lies below θ. Give either this or ``ratio``.
    ratio : float, optional
        The lower threshold divided by θ, above 0 and at most 1. It needs scores of at least 0
        (or ``-inf``).

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[0], [0.5], [0.75], [0.5]]}, classes=["Dog"], frame=0.5)
    >>> Hysteresis(difference=0.125)(scores)["a"].values[:, 0].tolist()
    [0.125, 0.625, 0.75, 0.625]
    """

    difference: float | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        if (self.difference is None) == (self.ratio is None):
            raise SedscopeError("Hysteresis needs either difference= or ratio=.")
        optional_number(self, "difference", at_least=0)
        optional_number(self, "ratio", above=0, at_most=1)

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        if self.ratio is not None:
            require_no_negative_scores(f"Hysteresis(ratio={self.ratio})", clip, classes)
        values = _native.hysteresis(
            clip.values, clip.ticks, float(self.difference or 0), float(self.ratio or 1)
        )
        return ClipScores.unchecked(values.T, clip.ticks)
