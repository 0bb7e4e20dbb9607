"""Metrics of resampled clips: deltas are put in order once, then added up for many weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..counting.counts import Counts
from ..counting.deltas import AddedUp, Deltas
from ..counting.floors import resampled_floors
from ..criteria.delta_tables import DeltaTables, Rows
from ..data.scores import ScoreArray
from ..data.times import SECONDS_PER_UNIT, TICKS_PER_SECOND
from ..errors import SedscopeError, listing
from ..metrics import PSDS, ClasswiseMetric, Metric
from ..metrics.psds import require_variants

Weights: TypeAlias = NDArray[np.int32]
"""(resamples × clips) how many times each clip counts."""
Values: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Per resample the metric, and (resamples × classes) the metric of each class."""
Measure: TypeAlias = Callable[[Weights], Values]

_BLOCK = 64  # resamples measured between two reports of progress


def measure_resampled(
    deltas: Deltas,
    metric: Metric,
    weights: Weights,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Values:
    """The metric for each row of weights."""
    if metric.criterion != deltas.criterion:
        raise SedscopeError(f"the deltas are of {deltas.criterion!r}, not of what {metric!r} counts")
    require_variants(metric.variants, deltas.variants)
    if isinstance(metric, PSDS) and metric.oracle:
        of_scores = [deltas.variants[variant] for variant in metric.variants] or [deltas]
        measure = _psds([_pruned(found, metric, weights) for found in of_scores], metric, threads)
    else:
        measure = _measure(_pruned(deltas, metric, weights), metric, threads)
    values, class_values = np.empty(len(weights)), np.empty((len(weights), len(deltas.classes)))
    for first in range(0, len(weights), _BLOCK):
        rows = slice(first, first + _BLOCK)
        values[rows], class_values[rows] = measure(weights[rows])
        if progress:
            progress(min(first + _BLOCK, len(weights)), len(weights))
    return values, class_values


def reach(deltas: Deltas, metric: Metric, weights: Weights) -> bool:
    """Whether the deltas go as far down as the metric looks, whichever of the weights the clips have."""
    return all(
        not (found.floors > _needed(found, metric, weights)).any()
        for found in (deltas, *deltas.variants.values())
    )


def _needed(deltas: Deltas, metric: Metric, weights: Weights) -> NDArray[np.float64]:
    """Per class the score below which the metric does not look for any of the weights."""
    if metric.false_positive_limit is None:
        return np.full(len(deltas.classes), -np.inf)
    maxima = deltas.largest_without_references()
    return resampled_floors(maxima, metric.false_positive_limit, weights, deltas.durations)


def _pruned(deltas: Deltas, metric: Metric, weights: Weights) -> Deltas:
    """Only the deltas that the metric looks at for some of the weights."""
    floors = _needed(deltas, metric, weights)
    short = [label for label, low in zip(deltas.classes, deltas.floors > floors, strict=True) if low]
    if short:
        raise SedscopeError(
            "the deltas are pruned for one set of clips and do not reach as far as some resamples "
            f"need: {listing(short)}. Find them with sedscope.deltas, which keeps all"
        )
    return replace(deltas.above(floors.astype(deltas.floors.dtype)), variants={})


def _measure(deltas: Deltas, metric: Metric, threads: int) -> Measure:
    """The fastest way to measure on counts that the metric allows."""
    if metric.any_label or isinstance(metric, PSDS):
        return _measured(lambda row: deltas.counts(weights=row, threads=threads), metric)
    if isinstance(metric.looks_at, (int, float)):
        return _measured(_at_threshold(deltas, metric.looks_at), metric)
    if isinstance(metric, ClasswiseMetric) and metric.average == "micro":
        return _all_and_each(deltas, metric, threads)
    return _measured(_added_up(deltas, metric.looks_at == "extremes", threads), metric)


def _measured(count: Callable[[NDArray[np.int32]], Counts], metric: Metric) -> Measure:
    """Measure on the counts of one resample after the other."""

    def measure(weights: Weights) -> Values:
        results = [metric.measure(count(row)) for row in weights]
        return (
            np.array([result.value for result in results]),
            np.array([[one.value for one in result.per_class.values()] for result in results]),
        )

    return measure


def _all_and_each(deltas: Deltas, metric: ClasswiseMetric, threads: int) -> Measure:
    """All classes together as if they were one class, and each alone."""
    same: Any = metric  # a dataclass, as all metrics are
    alone: ClasswiseMetric = replace(same, average="macro")
    together = _measure(_pooled(deltas), alone, threads)
    each = _measure(deltas, alone, threads)
    return lambda weights: (together(weights)[0], each(weights)[1])


def _pooled(deltas: Deltas) -> Deltas:
    """The deltas of all classes as those of one."""
    tables, clips = deltas.tables, len(deltas.clips)
    clip_of_row = tables.detections.clip_of_row()
    order = np.argsort(clip_of_row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(clip_of_row, minlength=clips))])
    scores = tables.detections.scores[order]
    return replace(
        deltas,
        classes=("all classes",),
        floors=deltas.floors.max(keepdims=True),
        tables=DeltaTables(
            detections=Rows(
                starts[None].astype(np.int64),
                scores,
                tuple(column[order] for column in tables.detections.columns),
            ),
            cross_triggers=Rows.none(1, clips, (np.int32, np.int8), scores),
            references=replace(tables.references, labels=np.zeros_like(tables.references.labels)),
            trials=None if tables.trials is None else tables.trials * len(deltas.classes),
        ),
    )


def _ordered(
    deltas: Deltas, threads: int, *, cross_triggers: bool, dtype: np.dtype[Any] | None = None
) -> _native.Resampling:
    """The deltas in the core; ``dtype``: that of the scores, or a wider one."""
    tables = deltas.tables
    kind = tables.detections.scores.dtype if dtype is None else dtype
    tp, fp = tables.detections.columns
    crossed = tables.cross_triggers
    if not cross_triggers:
        nothing = (np.int32, np.int8)
        crossed = Rows.none(len(deltas.classes), len(deltas.clips), nothing, crossed.scores)
    labels, ct = crossed.columns
    return _native.Resampling(
        tables.detections.class_starts(),
        tables.detections.scores.astype(kind, copy=False),
        tables.detections.clip_of_row().astype(np.int32),
        tp,
        fp,
        crossed.class_starts(),
        crossed.scores.astype(kind, copy=False),
        crossed.clip_of_row().astype(np.int32),
        labels,
        ct,
        len(deltas.clips),
        threads,
    )


def _psds(variants: Sequence[Deltas], metric: PSDS, threads: int) -> Measure:
    """All in the core; of several variants of the scores the best counts at each rate."""
    deltas = variants[0]
    dtype = np.result_type(*(found.tables.detections.scores for found in variants))
    ordered = [
        _ordered(found, threads, cross_triggers=metric.alpha_ct > 0, dtype=dtype) for found in variants
    ]
    order = np.argsort(np.array(deltas.classes), kind="stable").astype(np.int64)
    per_clip = np.zeros((2, len(deltas.clips), len(deltas.classes)))
    references = deltas.tables.references
    np.add.at(per_clip[0], (references.clips, references.labels), 1)
    np.add.at(per_clip[1], (references.clips, references.labels), references.times)
    durations = deltas.durations.astype(np.float64)

    def measure(weights: Weights) -> Values:
        times = weights.astype(np.float64)  # sums of whole numbers below 2**53: exact in any order
        return _native.Resampling.psds(
            ordered,
            np.ascontiguousarray(weights),
            times @ durations / TICKS_PER_SECOND,
            (times @ per_clip[0]).astype(np.int64),
            times @ per_clip[1] / TICKS_PER_SECOND,
            order,
            metric.alpha_ct,
            metric.alpha_st,
            metric.max_efpr,
            SECONDS_PER_UNIT[metric.unit],
            threads,
        )

    return measure


def _added_up(
    deltas: Deltas, extremes_only: bool, threads: int
) -> Callable[[NDArray[np.int32]], Counts]:
    """Counts without cross-triggers at every threshold that matters."""
    ordered = _ordered(deltas, threads, cross_triggers=False)
    plain = replace(deltas, tables=replace(deltas.tables, errors=None))

    def count(weights: NDArray[np.int32]) -> Counts:
        found = ordered.counts(np.ascontiguousarray(weights), extremes_only, threads)
        return plain.as_counts(list(_without_cross_triggers(found)), weights)

    return count


def _at_threshold(deltas: Deltas, threshold: float) -> Callable[[NDArray[np.int32]], Counts]:
    """Counts at one threshold: those of each clip, times its weight."""
    rows = deltas.tables.detections
    active = rows.scores.astype(np.float64) > threshold
    per_clip = []
    for column in rows.columns:
        before = np.concatenate([[0], np.cumsum(np.where(active, column, 0), dtype=np.int64)])
        per_clip.append(np.diff(before[rows.starts], axis=1).T)  # (clips × classes)
    tp, fp = per_clip
    plain = replace(deltas, tables=replace(deltas.tables, errors=None))
    at: ScoreArray = np.array([threshold])

    def count(weights: NDArray[np.int32]) -> Counts:
        totals = [weights @ column for column in (tp, fp)]
        found = [(at, totals[0][c : c + 1], totals[1][c : c + 1]) for c in range(len(deltas.classes))]
        counts = plain.as_counts(list(_without_cross_triggers(found)), weights)
        given = {label: replace(of_class, given=True) for label, of_class in counts.items()}
        return replace(counts, per_class=given)

    return count


def _without_cross_triggers(
    found: list[tuple[ScoreArray, NDArray[np.int64], NDArray[np.int64]]],
) -> Iterator[AddedUp]:
    nobody: NDArray[np.int64] = np.empty(0, np.int64)
    for scores, tp, fp in found:
        yield scores, tp, fp, nobody, nobody.astype(np.int32), nobody
