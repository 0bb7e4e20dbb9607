"""Values on clips that thresholds were not chosen on: each fold is judged with what is best on the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..counting.tally import Tally, hours_per, most_false_positives
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..data.times import TICKS_PER_SECOND
from ..metrics import ClasswiseResult, Metric
from ..metrics.false_alarms import RecallAtFalseAlarms
from .draws import Draws
from .exact_limits import with_exact_limits
from .intervals import Bootstrap
from .resampling import Resampling
from .subsampling import Behaviour
from .unread_scores import weighted_sums

FOLDS = 10
"""Into how many folds the clips are split at most to say what a value will be on new clips."""


def fold_masks(units: NDArray[np.intp], folds: int, seed: int) -> NDArray[np.bool_]:
    """Return (folds × clips) which clips are in which fold. ``units``: of each clip; they stay together."""
    number = int(units.max(initial=-1)) + 1
    fold_of_unit = np.empty(number, np.intp)
    fold_of_unit[np.random.default_rng(seed).permutation(number)] = np.arange(number) % folds
    return fold_of_unit[units] == np.arange(folds)[:, None]


def held_out_interval(
    metric: Metric[Any],
    of_folds: Iterable[Deltas],
    held_out: NDArray[np.bool_],
    draws: Draws,
    threads: int,
) -> Bootstrap:
    """Measure a metric with each clip at the thresholds that are best on the clips of the other folds.

    The interval is that of the clips at these thresholds. They are chosen once, not for each resample.

    ``of_folds``: the deltas of all clips, as they were chosen without each fold. ``held_out``: (folds ×
    clips) which clips are in each fold. ``draws``: resamples of all clips.
    """
    columns: dict[str, FloatArray] = {}
    for fold, (deltas, inside) in enumerate(zip(of_folds, held_out, strict=True)):
        others = deltas.of_clips(~inside).counts(threads=threads)
        hours = int(deltas.durations.sum()) / (3600 * TICKS_PER_SECOND)
        in_part = _with_limit_of_part(metric, hours, others.hours, (fold + 0.5) / len(held_out))
        thresholds = best_thresholds(in_part, others)
        for name, column in counts_of_clips(deltas.of_clips(inside), thresholds).items():
            of_all = columns.setdefault(name, np.zeros((len(inside), len(column))))
            of_all[inside] = column.T
    sums = weighted_sums(draws.weights, threads)
    added = {name: sums.of(column).astype(np.int64) for name, column in columns.items()}
    rows, of_all_clips = [], None
    for number, weights in enumerate(draws.weights):
        at_thresholds = {name: sum_of[number] for name, sum_of in added.items()}
        value, result = value_at(metric, deltas, weights, at_thresholds)
        rows.append([value, *(of_class.value for of_class in result.per_class.values())])
        of_all_clips = of_all_clips or result
    behaviour = Behaviour(bounds=metric.bounds, higher_is_better=metric.higher_is_better)
    interval = draws.summary(deltas.classes, np.array(rows), behaviour)
    if isinstance(of_all_clips, ClasswiseResult):
        return with_exact_limits(of_all_clips, interval, of_all_clips.counts.hours)
    return interval


def best_thresholds(metric: Any, counts: Counts) -> FloatArray:
    """Return the threshold of each class that is best for some counts.

    A class without one, e.g. without references, is not detected.
    """
    points = metric.points_read
    otherwise, chosen = np.inf if isinstance(points, str) else points, {}
    if not metric.pools_classes:
        chosen = metric.measure(counts).thresholds
    elif (threshold := metric.of_all(counts).threshold) is not None:
        otherwise = threshold
    return np.array([chosen.get(label, otherwise) for label in counts])


def _with_limit_of_part(metric: Any, hours: float, of_part: float, remainder: float) -> Any:
    """Return a metric as it is read in a part of the clips.

    A limit on false alarms allows a whole number of them, which may be a good deal less than the rate in a
    few hours. A part gets its share of that number, rounded up for some ``remainder``, so that the parts have
    the share on average.
    """
    if not isinstance(metric, RecallAtFalseAlarms):
        return metric
    most = most_false_positives(metric.false_alarms, hours, metric.per)
    of_part_most = math.floor(most * of_part / hours + remainder) + 0.5
    return replace(metric, false_alarms=of_part_most / of_part * hours_per(metric.per))


def counts_of_clips(deltas: Deltas, thresholds: FloatArray) -> dict[str, IntArray]:
    """Return what each clip counts at the thresholds of the classes, by name, as (classes × clips).

    Pairs regardless of label, as one row, are those at the threshold that all classes have.
    """
    tables = deltas.tables
    tp, fp = tables.detections.sums_above(thresholds)
    columns = {"tp": tp, "fp": fp}
    if tables.right is not None:
        (columns["right"],) = tables.right.sums_above(thresholds)
    if tables.any_label is not None:
        (columns["pairs"],) = tables.any_label.sums_above(thresholds[0])
    return columns


def value_at(
    metric: Any, deltas: Deltas, weights: NDArray[np.int32], sums: Mapping[str, IntArray]
) -> tuple[float, Any]:
    """Return the value of a metric, and its result, for some weights of the clips.

    ``sums``: of what the clips count, per class.
    """
    counts, trials = deltas._totals(weights), deltas._trials(weights.astype(np.int64))
    tallies = {
        label: Tally(
            int(sums["tp"][c]),
            int(sums["fp"][c]),
            counts.references[label],
            None if trials is None else trials[c],
            right=int(sums["right"][c]) if "right" in sums else None,
        )
        for c, label in enumerate(deltas.classes)
    }
    if not metric.pools_classes:
        result = metric.of_tallies(tallies, counts)
        return result.value, result
    pooled = reduce(add, tallies.values())
    if "pairs" in sums:
        pooled = replace(pooled, pairs=int(sums["pairs"][0]))
    value = metric.of_tally(pooled) if pooled.references else np.nan
    return value, metric.per_class_metric().of_tallies(tallies, counts)


def on_new_clips(
    metrics: Iterable[Metric[Any]],
    deltas: Mapping[Criterion, Deltas],
    resampling: Resampling,
    threads: int,
) -> dict[Metric[Any], Bootstrap]:
    """Say what to expect on new clips of metrics that choose their thresholds on the clips that they judge.

    The thresholds that meet a constraint on the other clips may miss it on new ones.
    """
    expected: dict[Metric[Any], Bootstrap] = {}
    draws_of: dict[tuple[str, ...], Draws] = {}
    for metric in metrics:
        stated = metric.points_read == "points" or hasattr(metric, "threshold")
        has_values = type(metric).of_tally is not Metric.of_tally  # a user may have left them out
        if stated or not metric.has_thresholds or not has_values or metric.variants:
            continue
        of_criterion = deltas[metric.criterion]
        units = resampling.units(of_criterion.clips)
        folds = min(FOLDS, int(units.max(initial=-1)) + 1)
        if folds > 1:
            clips = of_criterion.clips
            if clips not in draws_of:
                draws_of[clips] = Draws(resampling, clips)
            inside = fold_masks(units, folds, resampling.seed)
            expected[metric] = held_out_interval(
                metric, [of_criterion] * folds, inside, draws_of[clips], threads
            )
    return expected
