"""Metrics at the same false alarms: each resample has its own limit, within which systems are measured."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..counting.deltas import Deltas
from ..counting.tally import Tally, most_false_positives
from ..data.arrays import FloatArray, IntArray
from ..data.times import TICKS_PER_SECOND
from ..metrics.false_alarms import AtFalseAlarms, best_row_within
from .resampled_metric import is_registered, values_digest, weighted_counts
from .resampling import Weights
from .unread_scores import within_numbers

Block: TypeAlias = tuple[Weights, IntArray]
"""(resamples × clips) weights, and (resamples × classes) the false positives that each class may have."""


class MatchedMetric:
    """A metric that can be measured for any weights of the clips, within a limit on false positives.

    It returns (resamples × (1 + classes)) values: the metric, and that of each class. Each resample has
    its own thresholds. It can travel to another process.
    """

    def __init__(
        self, deltas: Deltas, metric: AtFalseAlarms, weights: Weights, limits: IntArray, threads: int
    ) -> None:
        """``weights``, ``limits``: all that it will be measured for; deltas that none reads are dropped."""
        self._deltas = within_numbers(replace(deltas, variants={}), weights, limits, threads)
        self._metric = metric
        self._threads = threads
        self._only_points = has_one_point(deltas, threads)

    def __call__(self, block: Block) -> FloatArray:
        rows = [self._measure(*row) for row in zip(*block, strict=True)]
        return np.array(rows)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_count"}

    def key(self, weights: Weights, limits: IntArray) -> str | None:
        """Return a digest of everything that the values depend on; see :meth:`ResampledMetric.key`."""
        if not is_registered(self._metric.metric):
            return None
        return values_digest(self._metric, [self._deltas], weights, limits)

    @cached_property
    def _count(self) -> Any:
        return weighted_counts(self._deltas, extremes_only=True, threads=self._threads)

    def _measure(self, weights: NDArray[np.int32], limits: IntArray) -> list[float]:
        counts = self._count(weights)
        tallies: dict[str, Tally] = {}
        for label, limit, only_point in zip(counts, limits, self._only_points, strict=True):
            tally = counts[label].tally()
            tallies[label] = tally[best_row_within(tally, int(limit), only_point=bool(only_point))]
        result = self._metric.of_tallies(tallies, counts)
        return [result.value, *(of_class.value for of_class in result.per_class.values())]


def has_one_point(deltas: Deltas, threads: int | None = None) -> NDArray[np.bool_]:
    """Return which classes have one operating point, as those of an event list without scores have."""
    counts = deltas.counts(threads=threads)
    rows = deltas.tables.detections
    starts = rows.class_starts()
    result = np.zeros(len(deltas.classes), bool)
    for c, label in enumerate(deltas.classes):
        of_class = slice(starts[c], starts[c + 1])
        scores = rows.scores[of_class]
        lower = scores < scores.max(initial=-np.inf)
        if any(column[of_class][lower].sum() for column in rows.columns):
            continue  # not the same counts below the highest score, so there is no need to sort
        result[c] = len(counts[label].scores) == 1
    return result


def false_positives_of(deltas: Deltas, weights: Weights) -> IntArray:
    """Return (weights × classes) the false positives of a system with all of its detections."""
    rows = deltas.tables.detections
    before = np.concatenate([[0], np.cumsum(rows.columns[1], dtype=np.int64)])
    per_clip = np.diff(before[rows.starts], axis=1)  # (classes × clips)
    return weights @ per_clip.T


def false_positives_allowed(rate: float, per: str, deltas: Deltas, weights: Weights) -> IntArray:
    """Return (weights × classes) the false positives that a rate allows each class, exactly."""
    ticks = weights @ deltas.durations
    most = [most_false_positives(rate, int(time) / TICKS_PER_SECOND / 3600, per) for time in ticks]
    return np.repeat(np.array(most, np.int64)[:, None], len(deltas.classes), axis=1)
