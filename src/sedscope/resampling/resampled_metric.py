"""Metrics of resampled clips: deltas are sorted once, then added up for many weights of the clips."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..counting.counts import Counts
from ..counting.delta_files import pack_deltas
from ..counting.deltas import Deltas
from ..counting.request import exceed_limit, false_positive_allowance, resampled_floors
from ..criteria.delta_tables import DeltaRows, DeltaTables
from ..data.arrays import FloatArray, IntArray, ScoreArray, rounded_down
from ..data.times import SECONDS_PER_UNIT, TICKS_PER_SECOND
from ..errors import SedscopeError, listing
from ..metrics import ClasswiseMetric, Metric
from ..metrics.classwise import OfFewest, mean_over_classes
from ..metrics.metric import METRICS
from ..metrics.psds import PSDS, require_variants
from .resampling import ClipPart, Weights
from .unread_scores import (
    below_best_fscore,
    beyond_limit,
    native_deltas,
    references_per_clip,
    weighted_sums,
    without_unread_scores,
)

Values: TypeAlias = tuple[FloatArray, FloatArray]
"""Per resample the metric, and as (resamples × classes) the metric of each class."""
Measure: TypeAlias = Callable[[Weights], Values]


class ResampledMetric:
    """A metric that can be measured for any weights of the clips.

    It is called with (resamples × clips) weights, and returns (resamples × (1 + classes)) values: the
    metric, and the metric of each class alone. It can travel to another process.
    """

    def __init__(self, deltas: Deltas, metric: Metric[Any], weights: Weights, threads: int) -> None:
        """``weights``: all weights that it will be measured for; deltas that none of them reads are
        dropped."""
        if metric.criterion != deltas.criterion:
            raise SedscopeError(
                f"The deltas are of {deltas.criterion!r}, but {metric!r} needs deltas of "
                f"{metric.criterion!r}."
            )
        require_variants(metric.variants, deltas.variants)
        self._metric = metric
        self._threads = threads
        psd_roc, each, sources = metric.psd_roc, metric, [deltas]
        if psd_roc is not None and psd_roc.oracle:
            sources = [deltas.variants[variant] for variant in metric.variants] or [deltas]
        elif _is_pooled(metric):
            each, sources = metric.per_class_metric(), [deltas, _pooled(deltas)]
        self._sources = [_pruned(source, each, weights, threads) for source in sources]

    def __call__(self, weights: Weights) -> FloatArray:
        values, of_classes = self._measure(weights)
        return np.column_stack([values, of_classes])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_measure"}

    def key(self, weights: Weights) -> str | None:
        """Return a digest of everything that the values depend on.

        It is None for a metric that a user wrote: its code may change while its definition does not.
        """
        if not is_registered(self._metric):
            return None
        return values_digest(self._metric, self._sources, weights)

    @cached_property
    def _measure(self) -> Measure:
        psd_roc = self._metric.psd_roc
        if psd_roc is not None and psd_roc.oracle:
            return _measure_psds(self._sources, psd_roc, self._threads)
        if not _is_pooled(self._metric):
            return _measure_counts(self._sources[0], self._metric, self._threads)
        metric = self._metric.per_class_metric()
        each, together = (_measure_counts(part, metric, self._threads) for part in self._sources)
        return lambda weights: (together(weights)[0], each(weights)[1])


def is_registered(metric: Metric[Any]) -> bool:
    """Return whether a metric is one of sedscope's, whose definition says all about it."""
    return METRICS.get(type(metric).__name__) is type(metric)


def values_digest(
    metric: Metric[Any], sources: Sequence[Deltas], weights: Weights, *other_arrays: NDArray[Any]
) -> str:
    """Return a digest of what the values of a metric on deltas depend on."""
    from .. import __version__

    definition = f"{__version__} {metric!r} {weights.shape}"
    digest = hashlib.blake2b(definition.encode(), digest_size=16)
    digest.update(pack_deltas(sources).tobytes())
    for array in (weights, *other_arrays):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def reaches(
    deltas: Deltas, metric: Metric[Any], weights: Weights, threads: int, parts: Sequence[ClipPart] = ()
) -> bool:
    """Whether the deltas reach down as far as the metric reads, for all of the weights.

    ``parts``: groups of clips with weights of their own, each measured apart from the others.
    """
    limit = metric.false_positive_limit
    return all(
        _reach_down(source, limit, weights, threads).all()
        and all(_reach_down(source, limit, part.weights, threads, part.clips).all() for part in parts)
        for source in (deltas, *deltas.variants.values())
    )


def _reach_down(
    deltas: Deltas,
    limit: float | None,
    weights: Weights,
    threads: int,
    clips: NDArray[np.intp] | None = None,
) -> NDArray[np.bool_]:
    """Return which classes have deltas down to where the limit is exceeded, for all of the weights.

    ``clips``: those that the weights belong to; all unless given.
    """
    complete = np.isneginf(deltas.floors)
    if limit is None or complete.all():
        return complete
    chosen = slice(None) if clips is None else clips
    maxima, durations = deltas.certain_false_alarms()[:, chosen], deltas.durations[chosen]
    allowed = false_positive_allowance(limit, weights, durations)
    return complete | exceed_limit(maxima > -np.inf, allowed, weighted_sums(weights, threads))


def _pruned(deltas: Deltas, metric: Metric[Any], weights: Weights, threads: int) -> Deltas:
    """Return deltas with the same counts wherever the metric reads them, for any of the weights."""
    limit, beta = metric.false_positive_limit, metric.best_fscore_beta
    reach = _reach_down(deltas, limit, weights, threads)
    short = [label for label, enough in zip(deltas.classes, reach, strict=True) if not enough]
    if short:
        raise SedscopeError(
            f"The deltas of {listing(short)} were pruned for one set of clips, and do not reach down as far "
            "as some resamples need. Find them with sedscope.deltas, which keeps all."
        )
    unprocessed = replace(deltas, variants={})
    if limit is not None and metric.psd_roc is not None:
        return without_unread_scores(
            unprocessed, weights, beyond_limit(unprocessed, weights, limit), threads
        )
    if limit is not None:
        maxima = deltas.certain_false_alarms()
        allowed = false_positive_allowance(limit, weights, deltas.durations)
        floors = resampled_floors(maxima, allowed, weighted_sums(weights, threads))
        return unprocessed.above(rounded_down(floors, deltas.floors.dtype))
    value_limit = metric.value_limit if isinstance(metric, ClasswiseMetric) else None
    if value_limit is not None and not deltas.criterion.counts_right:
        return without_unread_scores(
            unprocessed, weights, beyond_limit(unprocessed, weights, value_limit), threads
        )
    if beta is not None and not deltas.criterion.measures_time:
        return without_unread_scores(unprocessed, weights, below_best_fscore(unprocessed, beta), threads)
    return unprocessed


def _is_pooled(metric: Metric[Any]) -> bool:
    """Whether to measure all classes together as if they were one class, and each class alone."""
    depends_on_more = metric.any_label or metric.psd_roc is not None or metric.criterion.counts_right
    at_threshold = isinstance(metric.points_read, (int, float))
    return metric.pools_classes and not depends_on_more and not at_threshold


def _measure_counts(deltas: Deltas, metric: Metric[Any], threads: int) -> Measure:
    """Choose the fastest way to measure on counts that the metric allows."""
    points = metric.points_read
    if isinstance(metric, ClasswiseMetric) and metric.best_fscore_beta is not None:
        return _measure_best_fscore(deltas, metric, threads)
    at_threshold = isinstance(points, (int, float))
    if (
        (metric.any_label and not at_threshold)
        or metric.psd_roc is not None
        or metric.criterion.counts_right
    ):
        return _measure_each(lambda weights: deltas.counts(weights=weights, threads=threads), metric)
    if isinstance(points, (int, float)):
        return _measure_each(_counts_at_threshold(deltas, points), metric)
    too_many = metric.criterion.measures_time  # true positives are microseconds
    if isinstance(metric, ClasswiseMetric) and metric.of_fewest is not None and not too_many:
        return _measure_fewest(deltas, metric, metric.of_fewest, threads)
    return _measure_each(
        weighted_counts(deltas, extremes_only=points == "extremes", threads=threads), metric
    )


def _measure_best_fscore(deltas: Deltas, metric: ClasswiseMetric[Any], threads: int) -> Measure:
    """Measure the best F-score of each class in the core."""
    in_core = _sorted_in_core(deltas, threads, cross_triggers=False)
    per_clip = references_per_clip(deltas)
    by_name = np.argsort(np.array(deltas.classes), kind="stable")
    beta = metric.best_fscore_beta
    assert beta is not None

    def measure(weights: Weights) -> Values:
        references = weighted_sums(weights, threads).of(per_clip).astype(np.int64)
        of_classes = in_core.best_fscore(
            np.ascontiguousarray(weights), references=references, weight=beta * beta, threads=threads
        )
        return _averages(metric, by_name, of_classes, references)

    return measure


def _measure_fewest(
    deltas: Deltas, metric: ClasswiseMetric[Any], of_fewest: OfFewest, threads: int
) -> Measure:
    """Measure on the fewest false positives at each number of true positives, which the core finds."""
    in_core = _sorted_in_core(deltas, threads, cross_triggers=False)
    per_clip = references_per_clip(deltas)
    by_name = np.argsort(np.array(deltas.classes), kind="stable")

    def measure(weights: Weights) -> Values:
        references = weighted_sums(weights, threads).of(per_clip).astype(np.int64)
        hours = (weights @ deltas.durations) / TICKS_PER_SECOND / 3600
        fewest = in_core.fewest_false_positives(
            np.ascontiguousarray(weights), references=references, threads=threads
        )
        of_classes = np.zeros(references.shape)
        ends = np.cumsum(references + 1).reshape(references.shape)
        for i, hours_of_all in enumerate(hours.tolist()):
            for c, number in enumerate(references[i].tolist()):
                fp = fewest[ends[i, c] - number - 1 : ends[i, c]]
                tp = np.flatnonzero(fp >= 0)
                of_classes[i, c] = of_fewest(tp, fp[tp], number, hours_of_all) if number else np.nan
        return _averages(metric, by_name, of_classes, references)

    return measure


def _averages(
    metric: ClasswiseMetric[Any], by_name: NDArray[np.intp], of_classes: FloatArray, references: IntArray
) -> Values:
    """Return the averages over the classes, and the values of the classes. ``by_name``: their order."""
    of_classes[references == 0] = np.nan
    values = [
        mean_over_classes(row[by_name], number[by_name], metric.average)
        for row, number in zip(of_classes, references, strict=True)
    ]
    return np.array(values), of_classes


def _measure_each(count: Callable[[NDArray[np.int32]], Counts], metric: Metric[Any]) -> Measure:
    """Measure on the counts of one resample after the other."""

    def measure(weights: Weights) -> Values:
        results = [metric.measure(count(row)) for row in weights]
        of_classes = [[value.value for value in result.per_class.values()] for result in results]
        return np.array([result.value for result in results]), np.array(of_classes)

    return measure


def _pooled(deltas: Deltas) -> Deltas:
    """Return the deltas of all classes as those of one class."""
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
            detections=DeltaRows(
                starts[None].astype(np.int64),
                scores,
                tuple(column[order] for column in tables.detections.columns),
            ),
            cross_triggers=DeltaRows.none(1, clips, (np.int32, np.int8), scores),
            references=replace(tables.references, labels=np.zeros_like(tables.references.labels)),
            trials=None if tables.trials is None else tables.trials * len(deltas.classes),
            ignored=replace(tables.ignored, labels=np.zeros_like(tables.ignored.labels)),
        ),
    )


def _sorted_in_core(
    deltas: Deltas, threads: int, *, cross_triggers: bool, dtype: np.dtype[Any] | None = None
) -> _native.Resampling:
    """Sort the deltas in the core. ``dtype``: that of the scores, or a wider one."""
    rows = native_deltas(deltas, cross_triggers=cross_triggers, dtype=dtype)
    return _native.Resampling(*rows, threads)


def _measure_psds(sources: Sequence[Deltas], roc: PSDS, threads: int) -> Measure:
    """Measure PSDS entirely in the core. Of several variants, the best counts at each rate."""
    deltas = sources[0]
    dtype = np.result_type(*(source.tables.detections.scores for source in sources))
    in_core = [
        _sorted_in_core(source, threads, cross_triggers=roc.alpha_ct > 0, dtype=dtype)
        for source in sources
    ]
    order = np.argsort(np.array(deltas.classes), kind="stable").astype(np.int64)
    per_clip = references_per_clip(deltas)
    times_per_clip = np.zeros_like(per_clip)
    references = deltas.tables.references
    np.add.at(times_per_clip, (references.clips, references.labels), references.times)
    durations = deltas.durations.astype(np.float64)[:, None]

    def measure(weights: Weights) -> Values:
        sums = weighted_sums(weights, threads)
        psds = _native.Resampling.psds(
            in_core,
            weights=np.ascontiguousarray(weights),
            durations=sums.of(durations)[:, 0] / TICKS_PER_SECOND,
            references=sums.of(per_clip).astype(np.int64),
            reference_times=sums.of(times_per_clip) / TICKS_PER_SECOND,
            order=order,
            alpha_ct=roc.alpha_ct,
            alpha_st=roc.alpha_st,
            max_efpr=roc.max_efpr,
            seconds_per_unit=SECONDS_PER_UNIT[roc.unit],
            threads=threads,
        )
        return psds.values, psds.class_values

    return measure


def weighted_counts(
    deltas: Deltas, *, extremes_only: bool, threads: int
) -> Callable[[NDArray[np.int32]], Counts]:
    """Return a function that counts at every threshold that matters, without cross-triggers."""
    in_core = _sorted_in_core(deltas, threads, cross_triggers=False)
    without_errors = replace(deltas, tables=replace(deltas.tables, errors=None))

    def count(weights: NDArray[np.int32]) -> Counts:
        totals = in_core.counts(
            np.ascontiguousarray(weights), extremes_only=extremes_only, threads=threads
        )
        return without_errors.as_counts(totals, weights)

    return count


def _counts_at_threshold(deltas: Deltas, threshold: float) -> Callable[[NDArray[np.int32]], Counts]:
    """Return a function that counts at one threshold: the counts of each clip, times its weight."""
    tp, fp = (column.T for column in deltas.tables.detections.sums_above(threshold))
    any_label = deltas.tables.any_label
    pairs = None if any_label is None else any_label.sums_above(threshold)[0].T
    without_errors = replace(deltas, tables=replace(deltas.tables, errors=None))
    thresholds: ScoreArray = np.array([threshold])

    def count(weights: NDArray[np.int32]) -> Counts:
        found, false = (weights @ column for column in (tp, fp))
        totals = [
            _native.ClassTotals(thresholds, found[c : c + 1], false[c : c + 1])
            for c in range(len(deltas.classes))
        ]
        counts = without_errors.as_counts(totals, weights)
        at_threshold = {label: replace(counts[label], at_chosen_thresholds=True) for label in counts}
        of_pairs = None if pairs is None else (thresholds, weights @ pairs)
        return replace(counts, per_class=at_threshold, any_label=of_pairs)

    return count
