"""Median filters, and other functions of score tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ....errors import SedscopeError
from ..lazy_scores import LazyScores
from .cy_medfilt import cy_medfilt
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

    def filter_table(table: Any) -> Any:
        edges, classes = validate_score_dataframe(table)
        values, new_edges = cy_medfilt(
            table[classes].to_numpy(), edges, filter_length_in_sec, time_decimals
        )
        return create_score_dataframe(values, new_edges, classes)

    return _apply(scores, filter_table, lazy, storage_dir)


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
