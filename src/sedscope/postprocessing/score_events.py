"""Events from scores: points at their peaks, and boxes between their change points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _native
from ..data.clip_events import ClipEvents, extent_of
from ..data.scored_events import ScoredEvents
from ..data.scores import ClipScores, Scores
from ..definitions import optional_number
from ..errors import SedscopeError, counted, listing
from .postprocessing import (
    POSTPROCESSINGS,
    PostProcessing,
    duration_ticks,
    require_duration,
    require_no_negative_scores,
)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class Peaks(PostProcessing):
    """Turn scores into points in time: their local maxima, with the score as confidence.

    A frame is a peak if its score is higher than those of both neighbours; scores outside the clip are
    lower than all others. Several frames with the same score are one peak. The point lies at the centre of
    the frame, or in the middle of these frames. Points are events of no length, for :class:`~sedscope.Onset`.

    Parameters
    ----------
    min_distance : float, default 0
        The smallest distance between two peaks of a class, in seconds. Of two peaks that are nearer, the
        higher one stays, or the earlier one if they are equally high: the highest peak stays and those near
        it go, then the highest of the rest stays, and so on. With 0, all peaks stay.

    Examples
    --------
    >>> from sedscope import Scores
    >>> values = [[0.1], [0.9], [0.3], [0.5], [0.2], [0.4]]
    >>> scores = Scores.from_arrays({"a": values}, classes=["Snare"], frame=0.02)
    >>> Peaks()(scores).events()
    {'a': [(0.03, 0.03, 'Snare', 0.9), (0.07, 0.07, 'Snare', 0.5), (0.11, 0.11, 'Snare', 0.4)]}
    >>> Peaks(min_distance=0.05)(scores).events()
    {'a': [(0.03, 0.03, 'Snare', 0.9), (0.11, 0.11, 'Snare', 0.4)]}
    """

    min_distance: float = 0

    def __post_init__(self) -> None:
        require_duration(self, "min_distance")

    @property
    def makes_events(self) -> bool:
        return True

    def __call__(self, scores: Scores) -> ScoredEvents:
        """Find the peaks of scores. Each clip is processed when it is read.

        Parameters
        ----------
        scores : Scores
            The scores of a system.

        Returns
        -------
        ScoredEvents
            The peaks, of the same clips and classes.
        """
        points = super().__call__(scores)
        assert isinstance(points, ScoredEvents)
        return points

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipEvents:
        points = _native.peaks(clip.values, clip.ticks, duration_ticks(self.min_distance))
        times = np.stack([points.times, points.times], axis=1)
        return ClipEvents(times, points.columns, points.scores, extent_of(clip.ticks))


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
