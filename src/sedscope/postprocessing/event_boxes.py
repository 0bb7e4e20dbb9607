"""Event boxes: events with a confidence, from the change points of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _native
from ..data.scores import ClipScores
from ..definitions import optional_number
from ..errors import SedscopeError, counted, listing
from .postprocessing import (
    PostProcessing,
    duration_ticks,
    require_duration,
    require_no_negative_scores,
)
from .registry import POSTPROCESSINGS


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class EventBoxes(PostProcessing):
    """Turn scores into events with a confidence: sound event bounding boxes.

    Events begin where the scores rise most and end where they fall most (Ebbers et al., "Sound Event
    Bounding Boxes", Interspeech 2024). The step at a frame boundary is the mean score in the
    half-window after it minus the mean score in the half-window before it. Its local maxima are
    onsets; the minima that follow are offsets. Inside an event, every score of the result is the
    confidence of the event, which is its mean score; elsewhere it is ``-inf``. The result is float64.

    A gap between two events is closed if it is shallow, as ``absolute`` and ``relative`` define it. If
    both are given, both must hold; if neither is, no gap is closed.

    Parameters
    ----------
    step : float, default 0.48
        The length of both half-windows together, in seconds.
    absolute : float, optional
        Close a gap if the highest score of the two events exceeds the lowest score in the gap by less
        than this.
    relative : float, optional
        Close a gap if the highest score of the two events is less than ``relative`` times the lowest
        score in the gap. It needs scores of at least 0.

    Examples
    --------
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
        require_duration(self, "step", at_least=1e-6)
        optional_number(self, "absolute", above=0)
        optional_number(self, "relative", above=1)

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        infinite = np.argwhere(np.isinf(clip.values))
        if len(infinite):
            locations = [f"class {classes[c]}, frame {frame}" for frame, c in infinite]
            count = counted(len(locations), "infinite score")
            raise SedscopeError(f"EventBoxes needs finite scores. Found {count}: {listing(locations)}.")
        if self.relative is not None:
            require_no_negative_scores(f"EventBoxes(relative={self.relative})", clip, classes)
        has_length = np.diff(clip.ticks) > 0
        if not has_length.any():
            return clip
        values, ticks = clip.values, clip.ticks
        if not has_length.all():
            values, ticks = values[has_length], np.append(ticks[:-1][has_length], ticks[-1])
        boxes = _native.event_boxes(
            values,
            ticks,
            duration_ticks(self.step),
            None if self.absolute is None else float(self.absolute),
            None if self.relative is None else float(self.relative),
        )
        return ClipScores.unchecked(boxes.values.T, boxes.edges)
