"""Median filters, and other functions of score tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data.scores import ClipScores, refuse_nans
from ....data.times import LONGEST_TICKS, TICKS_PER_SECOND, to_seconds
from ....errors import SedscopeError
from ....postprocessing import MedianFilter, PerClass, PostProcessing
from ..inputs import LazyScores
from ..rounded_criteria import rounded_ticks, rounding_step
from .io import lazy_sed_scores_loader, write_sed_scores
from .scores import create_score_dataframe, validate_score_dataframe

__all__ = ["apply_postprocessing", "medfilt"]

_GUARD = 1000


def medfilt(
    scores: Any,
    filter_length_in_sec: Any,
    time_decimals: int = 6,
    lazy: bool = False,
    storage_dir: str | Path | None = None,
) -> Any:
    """Apply a median filter to score tables, as :class:`~sedscope.postprocessing.MedianFilter` does.

    ``filter_length_in_sec``: one for all classes, or one for each in the order of the columns.
    """
    options = {"filter_length_in_sec": filter_length_in_sec, "time_decimals": time_decimals}
    return apply_postprocessing(scores, cy_medfilt, lazy=lazy, storage_dir=storage_dir, **options)


def apply_postprocessing(
    scores: Any,
    postprocessing_fn: Callable[..., tuple[NDArray[Any], NDArray[Any]]],
    *,
    lazy: bool = False,
    storage_dir: str | Path | None = None,
    **kwargs: Any,
) -> Any:
    """Apply ``values, edges = postprocessing_fn(values, edges, **kwargs)`` to score tables."""
    tables = lazy_sed_scores_loader(scores) if isinstance(scores, (str, Path)) else scores

    def load(name: str) -> Any:
        try:
            table = tables[name]
            edges, classes = validate_score_dataframe(table)
            values, new_edges = postprocessing_fn(table[classes].to_numpy(), edges, **kwargs)
            processed = create_score_dataframe(values, new_edges, classes)
        except SedscopeError as error:
            raise SedscopeError(f"Clip {name}: {error}") from None
        if storage_dir is not None:
            folder = Path(storage_dir)
            folder.mkdir(parents=True, exist_ok=True)
            write_sed_scores(processed, folder / f"{name}.tsv")
        return processed

    processed = LazyScores(list(tables.keys()), load)
    return processed if lazy else dict(processed)


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
    ([0.0, 1.0, 0.0], [0.0, 2.0, 3.0, 4.0])
    """
    if filter_length_in_sec is None:
        raise SedscopeError("Pass filter_length_in_sec, the length of the filter in seconds.")
    if np.isscalar(filter_length_in_sec) and filter_length_in_sec == 0:
        return scores_in, timestamps_in
    scale = _scale(timestamps_in, filter_length_in_sec)
    lengths = np.multiply(filter_length_in_sec, scale)[()]
    clip = ClipScores(scores_in, np.multiply(timestamps_in, scale))
    classes = [str(column) for column in range(clip.values.shape[1])]
    refuse_nans("of the array", clip, classes)
    if len(clip.values):
        filtered = median_filter(lengths, classes, _MergingMedianFilter).process(clip, classes)
        assert isinstance(filtered, ClipScores)
        clip = filtered
    ticks = rounded_ticks(clip.ticks, rounding_step(time_decimals) * scale) // scale
    kept = ticks[1:] > ticks[:-1]  # rounding may leave frames without length
    return clip.values[kept], to_seconds(ticks[np.append(kept, True)])


def _scale(*seconds: Any) -> int:
    """Return by how much to multiply times so that whole microseconds are precise enough.

    In frames of 1/60 s, for example, the medians of all classes change at the same times. If each time
    were rounded to microseconds first, they would change one microsecond apart.
    """
    microseconds = np.concatenate([np.ravel(times) for times in seconds]) * TICKS_PER_SECOND
    are_whole = bool((np.abs(microseconds - np.rint(microseconds)) * _GUARD < 1).all())
    are_long = bool((np.abs(microseconds) * _GUARD > LONGEST_TICKS).any())
    return 1 if are_whole or are_long else _GUARD


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
