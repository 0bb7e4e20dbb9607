"""Event boxes: events with a confidence, from the change points of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _native
from ..data.scores import ClipScores
from ..definitions import optional_number, require_number
from ..errors import SedscopeError, counted, listing
from .hysteresis import require_at_least_0
from .postprocessing import PostProcessing
from .windows import LONGEST, window_ticks


@dataclass(frozen=True, repr=False)
class EventBoxes(PostProcessing):
    """Events that begin where the scores rise most and end where they fall most, with their mean score
    as confidence (Ebbers et al., "Sound Event Bounding Boxes", Interspeech 2024).

    The step at a boundary of frames is the mean score in the half-window after it less that in the
    half-window before it; together they are ``step`` seconds long. Local maxima are onsets, the minima
    that follow are offsets. The gap between two events is closed if the highest score of both exceeds
    the lowest score in the gap by less than ``absolute`` and by a factor less than ``relative``, as far
    as they are given; without either, no gap is closed. The result has the confidence of an event
    inside it and ``-inf`` elsewhere, in float64. Scores must be finite, for ``relative`` at least 0.

    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[0], [0.75], [0.5], [0], [0]]}, classes=["Dog"], frame=0.5)
    >>> boxes = EventBoxes(step=1)(scores)
    >>> boxes["a"].values[:, 0].tolist(), boxes["a"].edges.tolist()
    ([-inf, 0.625, -inf], [0.0, 0.5, 1.5, 2.5])
    """

    step: float = 0.48
    absolute: float | None = None
    relative: float | None = None

    def __post_init__(self) -> None:
        require_number(self, "step", at_least=1e-6, at_most=LONGEST)
        optional_number(self, "absolute", above=0)
        optional_number(self, "relative", above=1)

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        infinite = np.argwhere(np.isinf(clip.values))
        if len(infinite):
            places = [f"class {classes[c]}, frame {frame}" for frame, c in infinite]
            number = counted(len(places), "score")
            raise SedscopeError(f"EventBoxes needs finite scores: {number} infinite: {listing(places)}")
        if self.relative is not None:
            require_at_least_0(f"relative={self.relative}", clip, classes)
        has_length = np.diff(clip.ticks) > 0
        if not has_length.any():
            return clip
        values, ticks = clip.values, clip.ticks
        if not has_length.all():
            values, ticks = values[has_length], np.append(ticks[:-1][has_length], ticks[-1])
        boxes = _native.event_boxes(
            values,
            ticks,
            window_ticks(self.step),
            None if self.absolute is None else float(self.absolute),
            None if self.relative is None else float(self.relative),
        )
        return ClipScores.unchecked(boxes.values.T, boxes.edges)
