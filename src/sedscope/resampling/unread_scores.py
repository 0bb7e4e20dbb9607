"""Scores that no resample reads: ranges in which a class has too many false positives, whatever is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..counting.deltas import Deltas
from ..counting.request import false_positive_allowance
from ..criteria.delta_tables import DeltaRows
from ..data.arrays import FloatArray, IntArray
from .resampling import Weights


def weighted_sums(weights: Weights, threads: int) -> _native.WeightedSums:
    """Return what adds up numbers of clips, each times its weight in a resample."""
    return _native.WeightedSums(np.ascontiguousarray(weights), threads)


_ROWS_PER_CLIP = 4  # in a range; what finding the fewest false positives costs is a part of reading it
_PARTS = 16  # into which the scores of a class are cut, again and again
_FEW_ROWS = 1024  # of a class: there is no need for fewer
_AT_ONCE = 8  # ranges that are judged together first
_ROUNDING = 1e-9  # more than rounding errors, as a share of a value

Unread: TypeAlias = Callable[[int, FloatArray], NDArray[np.bool_]]
"""From a class, and (resamples × ranges) numbers of false positives, whether so many are too many."""


FindUnread: TypeAlias = Callable[[_native.ScoreRanges, _native.WeightedSums], Unread]
"""From the ranges of scores and the sums of resamples, what says which ranges are unread."""


def without_unread_scores(
    deltas: Deltas, weights: Weights, unread: FindUnread, threads: int, rows: int | None = None
) -> Deltas:
    """Return deltas with the same counts at all scores that some resample reads.

    ``unread`` gets the ranges of scores and the sums of resamples. It returns a function that says in which
    ranges no operating point with so many false positives, or with more, is read. ``rows``: of a range.
    """
    rows = _ROWS_PER_CLIP * len(deltas.clips) if rows is None else rows
    ranges = _native.ScoreRanges(*native_deltas(deltas, cross_triggers=True), rows, threads)
    sums = weighted_sums(weights, threads)
    is_unread = unread(ranges, sums)
    of_classes = []
    for c in range(len(deltas.classes)):
        fewest = ranges.fewest(c).astype(np.float64)
        starts = np.arange(0, fewest.shape[1], _AT_ONCE)
        together = np.minimum.reduceat(fewest, starts, axis=1)
        result = np.repeat(is_unread(c, sums.of(together)).all(axis=0), _AT_ONCE)[: fewest.shape[1]]
        doubtful = np.flatnonzero(~result)
        in_doubt = np.ascontiguousarray(fewest[:, doubtful])
        result[doubtful] = is_unread(c, sums.of(in_doubt)).all(axis=0)
        of_classes.append(result)
    if not any(result.any() for result in of_classes):
        return deltas
    detections, cross_triggers = ranges.without(of_classes, threads)
    tables = replace(
        deltas.tables,
        detections=DeltaRows(detections.starts, detections.scores, (detections.tp, detections.fp)),
        cross_triggers=DeltaRows(
            cross_triggers.starts, cross_triggers.scores, (cross_triggers.labels, cross_triggers.ct)
        ),
    )
    return replace(deltas, tables=tables)


def beyond_limit(deltas: Deltas, weights: Weights, limit: float) -> FindUnread:
    """Read nothing with more false positives than a limit per second allows."""
    allowed = false_positive_allowance(limit, weights, deltas.durations)
    return lambda ranges, sums: lambda c, fewest: fewest > allowed[:, None]


def within_numbers(deltas: Deltas, weights: Weights, most: IntArray, threads: int) -> Deltas:
    """Return deltas with the same counts at all scores at which some resample has few false positives.

    They are far fewer than all. ``most``: (resamples × classes) the most that each class may have.
    """

    def beyond(ranges: _native.ScoreRanges, sums: _native.WeightedSums) -> Unread:
        return lambda c, fewest: fewest > most[:, c : c + 1]

    while True:
        rows = int(np.diff(deltas.tables.detections.class_starts()).max(initial=0))
        if rows <= _FEW_ROWS:
            return deltas
        fewer = without_unread_scores(
            deltas, weights, beyond, threads, max(_FEW_ROWS, rows // _PARTS) // 2
        )
        if 2 * len(fewer.tables.detections.scores) > len(deltas.tables.detections.scores):
            return fewer
        deltas = fewer


def below_best_fscore(deltas: Deltas, beta: float) -> FindUnread:
    """Read nothing where even all references would not give an F-score that is reached elsewhere."""
    per_clip = references_per_clip(deltas)
    of_all = per_clip.sum(axis=0)
    weight = beta * beta

    def fscore(tp: Any, fp: Any, references: Any) -> Any:
        return (1 + weight) * tp / np.maximum(tp + fp + weight * references, 1)

    def of_ranges(ranges: _native.ScoreRanges, sums: _native.WeightedSums) -> Unread:
        references = sums.of(per_clip)
        reached = []  # by each resample, where the clips as they are reach most
        for c, number in enumerate(of_all):
            tp, fp = ranges.tp(c), ranges.fp(c)
            end = int(np.argmax(fscore(tp.sum(axis=0), fp.sum(axis=0), number)))
            at_end = sums.of(np.stack([tp[:, end], fp[:, end]], axis=1).astype(np.float64))
            reached.append(fscore(at_end[:, 0], at_end[:, 1], references[:, c]))

        def too_many(c: int, fewest: FloatArray) -> NDArray[np.bool_]:
            most = references[:, c : c + 1]
            beaten = fscore(most, fewest, most) < (1 - _ROUNDING) * reached[c][:, None]
            return beaten | (most == 0)

        return too_many

    return of_ranges


def references_per_clip(deltas: Deltas) -> FloatArray:
    """Return (clips × classes) the number of references, or their time if the criterion measures time."""
    rows = deltas.tables.references
    number = np.zeros((len(deltas.clips), len(deltas.classes)))
    each = 1 if rows.numbers is None else rows.numbers
    np.add.at(number, (rows.clips, rows.labels), rows.times if deltas.criterion.measures_time else each)
    return number


def native_deltas(
    deltas: Deltas, *, cross_triggers: bool, dtype: np.dtype[Any] | None = None
) -> tuple[_native.DetectionDeltas, _native.CrossTriggerDeltas | None]:
    """Return the deltas as the core takes them. ``dtype``: that of the scores, or a wider one."""
    tables = deltas.tables
    kind = tables.detections.scores.dtype if dtype is None else dtype
    tp, fp = tables.detections.columns
    detections = _native.DetectionDeltas(
        starts=tables.detections.starts,
        scores=tables.detections.scores.astype(kind, copy=False),
        tp=tp,
        fp=fp,
    )
    if not cross_triggers:
        return detections, None
    labels, ct = tables.cross_triggers.columns
    crossed = _native.CrossTriggerDeltas(
        starts=tables.cross_triggers.starts,
        scores=tables.cross_triggers.scores.astype(kind, copy=False),
        labels=labels,
        ct=ct,
    )
    return detections, crossed
