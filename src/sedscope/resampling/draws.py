"""Draws: resamples of clips or of groups of clips, measured, and summarised as intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..counting.deltas import Deltas
from ..counting.tally import exceed
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..engines.engine import Engine
from ..metrics import Metric
from ..metrics.false_alarms import AtFalseAlarms
from ..metrics.mean_average_precision import mean_of_parts
from ..progress import Progress
from .intervals import FEW, Bootstrap, Interval
from .matched_metric import MatchedMetric
from .resampled_metric import ResampledMetric
from .resampling import INTERVALS, ClipPart, Resampling, Weights, as_weights, each_left_out
from .subsampling import SMOOTH, SUBSETS_PER_ROUND, Behaviour, subsampling_ends, subsets

_NORMAL = NormalDist()
_STUDIED = 200
"""With fewer clips, a note says what the study found for sets of 100 (docs/intervals.md)."""
_COVERAGE = (
    "In sedscope's study of sets of 100, 95 % intervals hold the value of the population in 85 to 100 % "
    "of the sets, depending on the metric and the data, and those of single classes in 80 to 97 %."
)
_SHORT_OF_LEVEL = {
    "AUROC": "85 % of the sets of the worst population, and those of single classes in 89 %",
    "RecallAtFalseAlarms": "all sets, but those of single classes in 87 %",
    "MissRateAtFalseAlarms": "all sets, but those of single classes in 87 %",
}
"""What the study found for sets of 300, of metrics whose 95 % intervals hold less often than they say."""
_MANY = 1000
_BLOCK = 64  # resamples that are measured at a time


class Draws:
    """Resamples of certain clips. Systems that are measured with the same draws can be compared."""

    def __init__(
        self, resampling: Resampling, clips: Sequence[str], weights: ArrayLike | None = None
    ) -> None:
        """``weights``: use these instead of drawing."""
        drawn = resampling.draw(clips) if weights is None else as_weights(weights, len(clips))
        kind = resampling.interval or (INTERVALS[0] if weights is None else "percentile")
        self.resampling = replace(resampling, n=len(drawn), interval=kind)
        self._units = None if weights is not None else int(resampling.units(clips).max()) + 1
        rows = [np.ones((1, len(clips)), np.int32), drawn]
        if kind == "bca":
            rows.append(each_left_out(resampling.units(clips)))
        elif kind == "subsampling":
            rows.append(subsets(resampling.units(clips), len(drawn), resampling.seed))
        self.weights: Weights = np.concatenate(rows)
        """The clips as they are, then the resamples, then the subsets that the interval needs: each unit left
        out, or halves and quarters."""

    def cautions(self, metrics: Iterable[Metric[Any]]) -> list[str]:
        """Caution against intervals of some metrics from few clips, or groups of clips."""
        if self._units is None or self._units >= _MANY:
            return []
        if self._units >= _STUDIED:
            names = dict.fromkeys(type(metric).__name__ for metric in metrics)
            return [
                f"In sedscope's study of sets of 300, 95 % intervals of {name} hold the value of the "
                f"population in {_SHORT_OF_LEVEL[name]}."
                for name in names
                if name in _SHORT_OF_LEVEL and self.resampling.interval == INTERVALS[0]
            ]
        caution = f"The intervals come from only {self._units} {self.resampling.units_name()}."
        if self._units >= FEW:
            if self.resampling.interval != INTERVALS[0]:
                return []
            return [f"{caution} {_COVERAGE}"]
        caution += f" With fewer than {FEW}, intervals are unreliable and usually too narrow."
        if self.resampling.blocks is None and any(
            metric.criterion.judges_whole_clips for metric in metrics
        ):
            return [caution]  # blocks of time would not do
        return [f"{caution} {self.resampling.advice()}".strip()]

    def measure(
        self,
        deltas: Mapping[Criterion, Deltas],
        metric: Metric[Any],
        engine: Engine,
        progress: Progress | None = None,
    ) -> FloatArray:
        """Measure the metric, and each class alone, for all weights: (weights × (1 + classes)).

        ``deltas``: of the criterion of each part of the metric.
        """
        parts = metric.parts
        return mean_of_parts(
            [
                self._measure_part(
                    deltas[part.criterion], part, engine, _share(progress, number, len(parts))
                )
                for number, part in enumerate(parts)
            ]
        )

    def _measure_part(
        self, deltas: Deltas, metric: Metric[Any], engine: Engine, progress: Progress | None
    ) -> FloatArray:
        resampled = ResampledMetric(deltas, metric, self.weights, engine.threads)
        blocks = [self.weights[rows] for rows in self._blocks()]
        report = self._of_resamples(progress)
        values = engine.map_blocks(resampled, blocks, lambda: resampled.key(self.weights), report)
        return np.concatenate(values)

    def measure_matched(
        self,
        deltas: Deltas,
        metric: AtFalseAlarms,
        limits: IntArray,
        engine: Engine,
        progress: Progress | None = None,
    ) -> FloatArray:
        """Measure the metric within a limit on false positives, for all weights.

        ``limits``: (weights × classes) the false positives that each class may have.
        """
        matched = MatchedMetric(deltas, metric, self.weights, limits, engine.threads)
        blocks = [(self.weights[rows], limits[rows]) for rows in self._blocks()]
        report = self._of_resamples(progress)
        values = engine.map_blocks(matched, blocks, lambda: matched.key(self.weights, limits), report)
        return np.concatenate(values)

    def _blocks(self) -> list[slice]:
        """Return the rows of the weights that are measured together."""
        return [slice(start, start + _BLOCK) for start in range(0, len(self.weights), _BLOCK)]

    def _of_resamples(self, progress: Progress | None) -> Progress:
        """Turn the progress of blocks into that of resamples."""
        total = len(self.weights)

        def blocks_done(done: int, _: int) -> None:
            if progress:
                progress(min(done * _BLOCK, total), total)

        return blocks_done

    def summary(
        self,
        classes: Sequence[str],
        values: FloatArray,
        behaviour: Behaviour,
        mean: FloatArray | None = None,
    ) -> Bootstrap:
        """Return the intervals of measured values. ``behaviour``: of the metric. ``mean``: over the classes,
        if the values do not have them."""
        if behaviour.costs_spread and mean is None and classes:
            mean = mean_of_classes(values[:, 1:])
        overall = interval_of(values[:, 0], self.resampling, behaviour, mean)
        of_classes = [interval_of(column, self.resampling, behaviour) for column in values[:, 1:].T]
        return Bootstrap(
            value=overall.value,
            low=overall.low,
            high=overall.high,
            values=overall.values,
            subsets=overall.subsets,
            per_class=dict(zip(classes, of_classes, strict=True)),
            resampling=self.resampling,
        )


def _share(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Return the progress of one of several parts of equal size, as a share of the whole."""
    if progress is None or parts == 1:
        return progress
    return lambda done, total: progress((number * total + done) // parts, total)


def mean_of_classes(of_classes: FloatArray) -> FloatArray:
    """Return the mean of the classes that are defined, from (weights × classes) values."""
    defined = np.isfinite(of_classes)
    number = np.count_nonzero(defined, axis=1)
    total = np.ascontiguousarray(np.where(defined, of_classes, 0)).sum(axis=1)
    return np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)


def interval_of(
    column: FloatArray,
    resampling: Resampling,
    behaviour: Behaviour = SMOOTH,
    mean_of_classes: FloatArray | None = None,
) -> Interval:
    """Return the interval of measured values.

    ``column``: the value of the clips as they are, then those of ``resampling.number`` resamples, then those
    of the subsets that the interval needs. ``behaviour``: of the metric. ``mean_of_classes``: a column, too,
    for a value that subtracts the spread of the classes.
    """
    value, values, subsets = float(column[0]), *np.split(column[1:], [resampling.number])
    defined = np.sort(values[np.isfinite(values)])
    if np.isnan(value) or not len(defined):
        return Interval(value, np.nan, np.nan, values, subsets=subsets)
    if resampling.interval == "subsampling":
        mean = (
            None if mean_of_classes is None else np.delete(mean_of_classes, np.s_[1 : 1 + len(values)])
        )
        ends = subsampling_ends(value, subsets, resampling.confidence, behaviour, mean)
        return Interval(value, *ends, values, subsets=subsets)
    tail = (1 - resampling.confidence) / 2
    tails = [tail, 1 - tail]
    if resampling.interval == "bca":
        tails = [_bca_tail(tail, value, defined, subsets) for tail in tails]
    low, high = np.quantile(defined, tails)
    return Interval(value, float(low), float(high), values, subsets=subsets)


def _bca_tail(tail: float, value: float, values: FloatArray, jackknife: FloatArray) -> float:
    """Return the quantile that replaces ``tail``, corrected for bias and for skewness."""
    below = (np.count_nonzero(exceed(value, values)) + np.count_nonzero(~exceed(values, value))) / 2
    share = np.clip(below / len(values), 0.5 / len(values), 1 - 0.5 / len(values))
    bias = _NORMAL.inv_cdf(float(share))
    defined = jackknife[np.isfinite(jackknife)]
    gaps = np.mean(defined) - defined if len(defined) else defined
    spread = float(np.sum(gaps**2))
    acceleration = float(np.sum(gaps**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + _NORMAL.inv_cdf(tail)
    divisor = 1 - acceleration * shifted
    if divisor <= 0:  # as far out as possible
        return 1.0 if shifted > 0 else 0.0
    return _NORMAL.cdf(bias + shifted / divisor)


class GroupDraws:
    """Resamples of each of several groups of clips."""

    def __init__(
        self, numbers: NDArray[np.intp], groups: int, clips: Sequence[str], resampling: Resampling
    ) -> None:
        """``numbers``: the group of each clip, from 0 to ``groups`` - 1."""
        self.resampling = resampling
        self.numbers = numbers
        members = [np.flatnonzero(numbers == group) for group in range(groups)]
        self.of_groups = [
            _draws([clips[clip] for clip in group.tolist()], resampling) for group in members
        ]
        """None for a group with a single clip, or a single unit: there is nothing to draw."""
        self.parts = [
            ClipPart(group, np.ones((1, len(group)), np.int32) if draws is None else draws.weights)
            for group, draws in zip(members, self.of_groups, strict=True)
        ]

    def measurements(self) -> int:
        """Return for how many weights of clips a metric is measured, over all groups."""
        return sum(len(draws.weights) for draws in self.of_groups if draws is not None)

    def average_interval(
        self,
        columns: Sequence[FloatArray],
        average: Callable[[FloatArray], FloatArray],
        behaviour: Behaviour,
    ) -> Interval:
        """Return the interval of an average over the groups.

        Each group is resampled by itself. The same seed draws the resamples of every group, so they are
        put in another order for each group before they are combined; otherwise groups of equally many
        clips would be drawn alike. A group that cannot be resampled keeps its value.

        ``columns``: what was measured for the weights of each group. ``average``: of (groups × values).
        ``behaviour``: of the metric.
        """
        number, rng = self.resampling.number, np.random.default_rng(self.resampling.seed)
        values = np.array([column[0] for column in columns])
        resampled = [
            column[1 + rng.permutation(number)] if len(column) > 1 else np.repeat(column, number)
            for column in columns
        ]
        rest = self._of_subsets([column[1 + number :] for column in columns], values, rng)
        together = np.concatenate([values[:, None], np.array(resampled), *rest], axis=1)
        return interval_of(average(together), self.resampling._with_interval(), behaviour)

    def _of_subsets(
        self, columns: Sequence[FloatArray], values: FloatArray, rng: np.random.Generator
    ) -> list[FloatArray]:
        """Return the values of the groups for the subsets that the interval needs.

        Each unit is left out of its group alone. Halves and quarters are those of all groups together, so
        their rounds are put in another order for each group.
        """
        if self.resampling.interval == "bca":
            left_out = []
            for group, column in enumerate(columns):
                without = np.repeat(values[:, None], len(column), axis=1)
                without[group] = column
                left_out.append(without)
            return left_out
        length = max(map(len, columns))
        if self.resampling._with_interval().interval == "subsampling" and not length:
            length = SUBSETS_PER_ROUND  # no group can be resampled
        rounds = np.arange(length).reshape(-1, SUBSETS_PER_ROUND) if length else np.empty((0, 0), int)
        return [
            np.array(
                [
                    column[rng.permutation(rounds).ravel()] if len(column) else np.repeat(value, length)
                    for column, value in zip(columns, values, strict=True)
                ]
            )
        ]


def _draws(clips: Sequence[str], resampling: Resampling) -> Draws | None:
    """Draw resamples of some clips; None if there is only one unit to draw from."""
    return Draws(resampling, clips) if resampling.units(clips).max(initial=0) > 0 else None
