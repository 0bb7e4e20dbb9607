"""Median filters, and other functions of score tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data.scores import ClipScores, refuse_nans
from ....errors import SedscopeError
from ....postprocessing import MedianFilter, PerClass, PostProcessing
from ..inputs import require_microseconds
from ..lazy import LazyScores
from .io import lazy_sed_scores_loader, write_sed_scores
from .scores import create_score_dataframe, validate_score_dataframe


def medfilt(
    scores: Any,
    filter_length_in_sec: Any,
    time_decimals: int = 6,
    lazy: bool = False,
    storage_dir: str | Path | None = None,
) -> Any:
    """Score tables after a median filter, in continuous time; see
    :class:`~sedscope.postprocessing.MedianFilter`.

    ``filter_length_in_sec``: one for all classes, or one for each in the order of the columns.
    """
    require_microseconds(time_decimals)

    def filtered(table: Any) -> Any:
        edges, classes = validate_score_dataframe(table)
        chosen = median_filter(filter_length_in_sec, classes)
        clip = ClipScores(table[classes].to_numpy(), edges)
        refuse_nans("of the table", clip, classes)
        made = chosen.process(clip, classes) if len(clip.values) else clip
        return create_score_dataframe(made.values, made.edges, classes)

    return _applied(scores, filtered, lazy, storage_dir)


def median_filter(filter_length_in_sec: Any, classes: Any) -> PostProcessing:
    """The filter of all classes, or of each."""
    if np.isscalar(filter_length_in_sec):
        return MedianFilter(float(np.asarray(filter_length_in_sec)))
    lengths = np.asarray(filter_length_in_sec, np.float64)
    if lengths.shape != (len(classes),):
        raise SedscopeError(f"give one filter length, or one for each of {len(classes)} classes")
    return PerClass(dict(zip(classes, map(MedianFilter, lengths.tolist()), strict=True)))


def apply_postprocessing(
    scores: Any,
    postprocessing_fn: Callable[..., tuple[NDArray[Any], NDArray[Any]]],
    *,
    lazy: bool = False,
    storage_dir: str | Path | None = None,
    **kwargs: Any,
) -> Any:
    """Score tables after ``values, edges = postprocessing_fn(values, edges, **kwargs)``."""

    def processed(table: Any) -> Any:
        edges, classes = validate_score_dataframe(table)
        values, new_edges = postprocessing_fn(table[classes].to_numpy(), edges, **kwargs)
        return create_score_dataframe(values, new_edges, classes)

    return _applied(scores, processed, lazy, storage_dir)


def _applied(
    scores: Any, process: Callable[[Any], Any], lazy: bool, storage_dir: str | Path | None
) -> Any:
    tables = lazy_sed_scores_loader(scores) if isinstance(scores, (str, Path)) else scores
    names = list(tables.keys())

    def load(name: str) -> Any:
        try:
            table = process(tables[name])
        except SedscopeError as error:
            raise SedscopeError(f"clip {name}: {error}") from None
        if storage_dir is not None:
            folder = Path(storage_dir)
            folder.mkdir(parents=True, exist_ok=True)
            write_sed_scores(table, folder / f"{name}.tsv")
        return table

    made: Mapping[str, Any] = LazyScores(names, load)
    return made if lazy else dict(made)
