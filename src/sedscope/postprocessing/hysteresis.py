"""Two thresholds: one that a detection must exceed somewhere, a lower one for where it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _native
from ..data.scores import ClipScores
from ..definitions import optional_number
from ..errors import SedscopeError, counted, listing
from .postprocessing import PostProcessing


@dataclass(frozen=True, repr=False)
class Hysteresis(PostProcessing):
    """At a threshold θ, a detection has a frame with ``score > θ`` and extends over all neighbours whose
    score exceeds a lower threshold: ``θ - difference``, or ``ratio * θ``.

    In numbers, a neighbour belongs to it if ``score + difference > θ``, or ``score / ratio > θ``, in
    float64, which the scores become. Exactly one of the two is given. A ratio needs scores of at least 0
    (or ``-inf``).

    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[0], [0.5], [0.75], [0.5]]}, classes=["Dog"], frame=0.5)
    >>> Hysteresis(difference=0.125)(scores)["a"].values[:, 0].tolist()
    [0.125, 0.625, 0.75, 0.625]
    """

    difference: float | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        if (self.difference is None) == (self.ratio is None):
            raise SedscopeError("Hysteresis needs either difference= or ratio=")
        optional_number(self, "difference", at_least=0)
        optional_number(self, "ratio", above=0, at_most=1)

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        if self.ratio is not None:
            require_at_least_0(f"ratio={self.ratio}", clip, classes)
        values = _native.hysteresis(
            clip.values, clip.ticks, float(self.difference or 0), float(self.ratio or 1)
        )
        return ClipScores.unchecked(values.T, clip.ticks)


def require_at_least_0(what: str, clip: ClipScores, classes: Sequence[str]) -> None:
    """Refuse scores below 0 where something is a matter of ratios. ``-inf`` is never detected anyway."""
    wrong = (clip.values < 0) & (clip.values > -np.inf)
    if wrong.any():
        places = [f"class {classes[c]}, frame {frame}" for frame, c in np.argwhere(wrong)]
        number = counted(len(places), "score")
        raise SedscopeError(f"{what} needs scores of at least 0: {number} below: {listing(places)}")
