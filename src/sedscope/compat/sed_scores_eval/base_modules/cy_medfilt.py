"""The median filter of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data.scores import ClipScores, refuse_nans
from ....data.times import to_seconds
from ....errors import SedscopeError
from ....postprocessing import MedianFilter, PerClass, PostProcessing
from ..time_precision import rounded_ticks, rounding_step


def cy_medfilt(
    scores_in: Any, timestamps_in: Any, filter_length_in_sec: Any = None, time_decimals: int = 6
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Apply a median filter to (frames × classes) scores, as
    :class:`~sedscope.postprocessing.MedianFilter` does.

    ``timestamps_in``: the boundaries of the frames. ``filter_length_in_sec``: one for all classes, or
    one for each. A frame of the result ends where the median of some class changes; such times are
    rounded to ``time_decimals``.

    >>> scores, edges = cy_medfilt(np.array([[0.0], [1.0], [0.0], [1.0]]), np.arange(5), 3.0)
    >>> scores.ravel().tolist(), edges.tolist()
    ([0.0], [0.0, 4.0])
    """
    if filter_length_in_sec is None:
        raise SedscopeError("Pass filter_length_in_sec, the length of the filter in seconds.")
    if np.isscalar(filter_length_in_sec) and filter_length_in_sec == 0:
        return scores_in, timestamps_in
    clip = ClipScores(scores_in, timestamps_in)
    classes = [str(column) for column in range(clip.values.shape[1])]
    refuse_nans("of the array", clip, classes)
    if len(clip.values):
        clip = median_filter(filter_length_in_sec, classes, _MergingMedianFilter).process(clip, classes)
    ticks = rounded_ticks(clip.ticks, rounding_step(time_decimals))
    kept = ticks[1:] > ticks[:-1]  # rounding may leave frames without length
    return clip.values[kept], to_seconds(ticks[np.append(kept, True)])


class _MergingMedianFilter(MedianFilter):
    """A median filter whose frames are those between changes of the scores."""

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        filtered = super().process(clip, classes)
        if filtered is clip:
            return clip
        begins = np.append(True, (filtered.values[1:] != filtered.values[:-1]).any(axis=1))
        ticks = filtered.ticks[np.append(begins, True)]
        return ClipScores.unchecked(filtered.values[begins], ticks)


def median_filter(
    filter_length_in_sec: Any, classes: Any, kind: type[MedianFilter] = MedianFilter
) -> PostProcessing:
    """Return the filter of all classes, or of each class."""
    if np.isscalar(filter_length_in_sec):
        return kind(float(np.asarray(filter_length_in_sec)))
    lengths = np.asarray(filter_length_in_sec, np.float64)
    if lengths.shape != (len(classes),):
        raise SedscopeError(f"Pass one filter length, or one for each of the {len(classes)} classes.")
    return PerClass(dict(zip(classes, map(kind, lengths.tolist()), strict=True)))
