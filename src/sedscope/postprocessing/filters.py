"""Filters of scores: smoothing, short gaps and detections, events between change points and at peaks."""

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
    ClipGroup,
    PostProcessing,
    ProcessedGroup,
    ReadLimit,
    duration_ticks,
    require_duration,
    require_no_negative_scores,
)


@dataclass(frozen=True, repr=False)
class _OfSeconds(PostProcessing):
    """A post-processing whose only parameter is a length of time."""

    seconds: float

    def __post_init__(self) -> None:
        require_duration(self, "seconds")


class _Window(_OfSeconds):
    """A post-processing that looks at the scores in a window around each time."""

    @property
    def window_seconds(self) -> float:
        return self.seconds


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MedianFilter(_Window):
    """Take the median of the scores in a window around each time.

    At any threshold, a time is active if more than half of the window around it was active before.
    Nothing is active outside the clip. Frames may have any length, and the window need not be a
    whole number of frames: the result has the same boundaries, and another one wherever the median of
    some class changes. For an odd number of equal frames this is the usual median filter.

    Parameters
    ----------
    seconds : float
        The length of the window. With 0, the scores do not change.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[1], [3], [2], [5], [4]]}, classes=["Dog"], frame=0.5)
    >>> clip = MedianFilter(1.5)(scores)["a"]
    >>> clip.values[:, 0].tolist(), clip.edges.tolist()
    ([1.0, 2.0, 3.0, 4.0, 4.0], [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    """

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        window = duration_ticks(self.seconds)
        if window == 0:
            return clip
        filtered = _native.median_filter(clip.values, clip.ticks, window)
        return ClipScores.unchecked(filtered.values.T, filtered.edges)

    def _process_group(self, group: ClipGroup, limit: ReadLimit | None) -> ProcessedGroup | None:
        window = duration_ticks(self.seconds)
        if type(self) is not MedianFilter or window == 0 or group.ranked is None:
            return None
        native_limit = None if limit is None else limit.native(group.clips[0].values.dtype)
        filtered = group.ranked.median_filter(window, native_limit, group.threads)
        clips = [
            ClipScores.unchecked(values, clip.ticks if ticks is None else ticks)
            for clip, values, ticks in zip(group.clips, filtered.values, filtered.edges, strict=True)
        ]
        return ProcessedGroup(clips, filtered.maxima)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MovingAverage(_Window):
    """Take the mean score, weighted by time, in a window around the middle of each frame.

    If the window reaches beyond the clip, only the part inside the clip counts. Frame boundaries do
    not change, and the means are float64. The mean is ``-inf`` if the window contains ``-inf``, and
    otherwise ``inf`` if it contains ``inf``.

    Parameters
    ----------
    seconds : float
        The length of the window. With 0, the scores do not change.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[0], [3], [6], [0]]}, classes=["Dog"], frame=0.5)
    >>> MovingAverage(1.5)(scores)["a"].values[:, 0].tolist()
    [1.5, 3.0, 3.0, 3.0]
    """

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        window = duration_ticks(self.seconds)
        if window == 0:
            return clip
        return ClipScores.unchecked(
            _native.moving_average(clip.values, clip.ticks, window).T, clip.ticks
        )


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MaximumGap(_OfSeconds):
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

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        values = _native.maximum_gap(clip.values, clip.ticks, duration_ticks(self.seconds))
        return ClipScores.unchecked(values.T, clip.ticks)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class MinimumDuration(_OfSeconds):
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
