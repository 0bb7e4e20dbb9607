"""Rows of deltas, multiplied by the weights of their clips and added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..criteria.delta_tables import DeltaRows
from ..data.arrays import IntArray, ScoreArray
from ..data.times import TICKS_PER_SECOND
from ..errors import SedscopeError
from .class_counts import ClassCounts
from .tally import last_of_runs


def times_counted(weights: NDArray[np.int32] | None, clips: int) -> IntArray:
    """Return how many times each clip counts."""
    return np.ones(clips, np.int64) if weights is None else weights.astype(np.int64)


def as_clip_weights(weights: NDArray[np.integer[Any]] | None, clips: int) -> NDArray[np.int32] | None:
    """Check weights of the clips that a user chose."""
    if weights is None:
        return None
    array = np.asarray(weights)
    one_per_clip = array.dtype.kind in "iu" and array.shape == (clips,)
    if not one_per_clip or (array < 0).any() or (array > 2**24).any():
        raise SedscopeError(
            f"weights must be {clips} whole numbers from 0 to {2**24}, one for each clip."
        )
    return array.astype(np.int32)


def weighted(
    table: DeltaRows, columns: Sequence[NDArray[Any]], weights: NDArray[np.int32] | None
) -> Sequence[NDArray[Any]]:
    """Multiply the changes by the weight of their clip, in wider columns."""
    if weights is None:
        return columns
    of_rows = weights[table.clip_of_row()]
    wider = {1: np.int32, 4: np.int64}
    return [column * of_rows.astype(wider[column.itemsize], copy=False) for column in columns]


def with_errors(counts: ClassCounts, table: DeltaRows, c: int, weights: IntArray) -> ClassCounts:
    """Add the sums of boundary errors in seconds, with a row wherever one of them changes."""
    first, last = table.class_starts()[c : c + 2]
    order = np.argsort(-table.scores[first:last], kind="stable")
    error_scores = table.scores[first:last][order]
    of_rows = weights[table.clip_of_row()[first:last][order]]
    changes = np.stack([column[first:last][order] * of_rows for column in table.columns], axis=1)
    ends = last_of_runs(error_scores)
    sums = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(changes, axis=0)[ends]])
    changed = (sums[1:] != sums[:-1]).any(axis=1)
    error_scores, sums = error_scores[ends][changed], np.concatenate([sums[:1], sums[1:][changed]])
    scores = np.union1d(counts.scores, error_scores)[::-1]
    rows = len(counts.scores) - np.searchsorted(counts.scores[::-1], scores, side="left")
    tally = counts.tally().rows(rows)
    errors = sums[np.searchsorted(-error_scores, -scores, side="right")] / TICKS_PER_SECOND
    return replace(
        counts,
        scores=scores,
        tp=np.asarray(tally.tp),
        fp=np.asarray(tally.fp),
        cross_rows=np.searchsorted(rows, counts.cross_rows, side="right"),
        errors=errors,
    )


def any_label_pairs(
    table: DeltaRows, weights: NDArray[np.int32] | None, threads: int
) -> tuple[ScoreArray, IntArray]:
    """Return the scores at which the number of pairs regardless of label changes, and that number."""
    (changes,) = weighted(table, table.columns, weights)
    deltas = _native.DetectionDeltas(
        starts=table.starts, scores=table.scores, tp=changes, fp=np.zeros_like(changes)
    )
    (totals,) = _native.accumulate(deltas, None, threads)
    return totals.scores, totals.tp
