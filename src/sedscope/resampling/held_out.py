"""Values on clips that thresholds were not chosen on: each fold is judged with what is best on the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..counting.tally import Tally
from ..criteria import Criterion
from ..metrics import Metric, MetricResult
from .resampling import Resampling

FOLDS = 10
"""Into how many folds the clips are split at most to say what a value will be on new clips."""


def fold_masks(units: NDArray[np.intp], folds: int, seed: int) -> NDArray[np.bool_]:
    """Return (folds × clips) which clips are in which fold. ``units``: of each clip; they stay together."""
    number = int(units.max(initial=-1)) + 1
    fold_of_unit = np.empty(number, np.intp)
    fold_of_unit[np.random.default_rng(seed).permutation(number)] = np.arange(number) % folds
    return fold_of_unit[units] == np.arange(folds)[:, None]


def held_out_result(
    metric: Metric[Any], of_folds: Iterable[Deltas], held_out: NDArray[np.bool_], threads: int
) -> MetricResult:
    """Measure a metric with each clip at the thresholds that are best on the clips of the other folds.

    A metric with one threshold for all classes is measured as ``micro_tuned``, with each class at that one.

    ``of_folds``: the deltas of all clips, as they were chosen without each fold. ``held_out``: (folds ×
    clips) which clips are in each fold.
    """
    judge: Any = metric
    if metric.pools_classes:
        judge = replace(judge, average="micro_tuned")
    # a class without references in the other folds has no best threshold: it is not detected
    points = metric.points_read
    otherwise = np.inf if isinstance(points, str) else points
    tallies: dict[str, list[Tally]] = {}
    everything: Counts | None = None
    for deltas, inside in zip(of_folds, held_out, strict=True):
        others = deltas.of_clips(~inside).counts(threads=threads)
        if metric.pools_classes:
            threshold = judge.of_all(others).threshold
            thresholds = {} if threshold is None else dict.fromkeys(deltas.classes, threshold)
        else:
            thresholds = metric.measure(others).thresholds
        judged = deltas.of_clips(inside).counts(threads=threads)
        everything = everything or deltas.counts(threads=threads)
        for label in deltas.classes:
            tally = judged[label].tally_at(thresholds.get(label, otherwise))
            tallies.setdefault(label, []).append(tally)
    assert everything is not None
    added = {label: reduce(add, parts) for label, parts in tallies.items()}
    result: MetricResult = judge.of_tallies(added, everything)
    return result


def on_new_clips(
    metrics: Iterable[Metric[Any]],
    deltas: Mapping[Criterion, Deltas],
    resampling: Resampling,
    threads: int,
) -> dict[Metric[Any], MetricResult]:
    """Say what to expect on new clips of metrics that choose their thresholds on the clips that they judge.

    Left out are metrics that count substitutions between classes, and those that meet a constraint for all
    classes together. The thresholds that meet a constraint on the other clips may miss it on new ones.
    """
    expected: dict[Metric[Any], MetricResult] = {}
    for metric in metrics:
        chooses = metric.has_thresholds and metric.points_read in ("all", "extremes")
        if not chooses or metric.any_label or metric.variants:
            continue
        if metric.pools_classes and "micro_tuned" not in getattr(metric, "averages", ()):
            continue
        of_criterion = deltas[metric.criterion]
        units = resampling.units(of_criterion.clips)
        folds = min(FOLDS, int(units.max(initial=-1)) + 1)
        if folds > 1:
            inside = fold_masks(units, folds, resampling.seed)
            expected[metric] = held_out_result(metric, [of_criterion] * folds, inside, threads)
    return expected
