"""Median filters, and other functions of score tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data.scores import ClipScores, refuse_nans
from ....errors import SedscopeError
from ....postprocessing import MedianFilter, PerClass, PostProcessing
from ..inputs import require_microseconds
from ..lazy_scores import LazyScores
from .io import lazy_sed_scores_loader, write_sed_scores
from .scores import create_score_dataframe, validate_score_dataframe


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
    require_microseconds(time_decimals)

    def filter_table(table: Any) -> Any:
        edges, classes = validate_score_dataframe(table)
        postprocessing = median_filter(filter_length_in_sec, classes, _MergingMedianFilter)
        clip = ClipScores(table[classes].to_numpy(), edges)
        refuse_nans("of the table", clip, classes)
        if len(clip.values):
            filtered = postprocessing.process(clip, classes)
            assert isinstance(filtered, ClipScores)
            clip = filtered
        return create_score_dataframe(clip.values, clip.edges, classes)

    return _apply(scores, filter_table, lazy, storage_dir)


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


def apply_postprocessing(
    scores: Any,
    postprocessing_fn: Callable[..., tuple[NDArray[Any], NDArray[Any]]],
    *,
    lazy: bool = False,
    storage_dir: str | Path | None = None,
    **kwargs: Any,
) -> Any:
    """Apply ``values, edges = postprocessing_fn(values, edges, **kwargs)`` to score tables."""

    def process_table(table: Any) -> Any:
        edges, classes = validate_score_dataframe(table)
        values, new_edges = postprocessing_fn(table[classes].to_numpy(), edges, **kwargs)
        return create_score_dataframe(values, new_edges, classes)

    return _apply(scores, process_table, lazy, storage_dir)


def _apply(
    scores: Any, process: Callable[[Any], Any], lazy: bool, storage_dir: str | Path | None
) -> Any:
    tables = lazy_sed_scores_loader(scores) if isinstance(scores, (str, Path)) else scores
    names = list(tables.keys())

    def load(name: str) -> Any:
        try:
            table = process(tables[name])
        except SedscopeError as error:
            raise SedscopeError(f"Clip {name}: {error}") from None
        if storage_dir is not None:
            folder = Path(storage_dir)
            folder.mkdir(parents=True, exist_ok=True)
            write_sed_scores(table, folder / f"{name}.tsv")
        return table

    processed: Mapping[str, Any] = LazyScores(names, load)
    return processed if lazy else dict(processed)
