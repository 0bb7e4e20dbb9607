"""Measuring groups of clips, of classes and of reference lengths, from the deltas of one pass.

The value of a group is that of its clips or classes alone, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..counting.delta_sets import of_classes, split_by_clip
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..engines.engine import Engine
from ..engines.floor_search import cut_at_floors, find_deltas
from ..metrics import Metric
from ..metrics.metric import delta_requests, parts_of
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws, interval_of
from .counted_clips import measure
from .group_plan import GroupPlan
from .group_results import GroupAverage, GroupResults
from .groups import Partition
from .notes import undefined_resamples_note
from .resampled_clips import Resamples, complete
from .result import Evaluation

if TYPE_CHECKING:
    from ..tuning.operating_points import OperatingPoints


@dataclass(frozen=True, eq=False)
class _Part:
    """What one group is measured from."""

    name: str
    metrics: Mapping[str, Metric[Any]]
    deltas: Mapping[Criterion, Deltas]
    drawn: Mapping[Criterion, Deltas]
    """The deltas of what is resampled: of the clips, or of blocks of them."""
    draws: Draws | None
    """None if nothing is resampled."""
    alignment: Alignment | None
    """The references of the group; None if only deltas are known."""


@dataclass(frozen=True, eq=False)
class GroupMeasuring:
    """Measures the groups of an evaluation, after its pass over the clips."""

    plan: GroupPlan
    metrics: Mapping[str, Metric[Any]]
    alignment: Alignment | None
    """What was evaluated; None if only deltas are known."""
    deltas: Mapping[Criterion, Deltas]
    resamples: Resamples | None
    """None if nothing is resampled."""
    engine: Engine
    threads: int | None
    points: OperatingPoints | None = None

    def results(self) -> dict[str, GroupResults]:
        """Return the evaluations of all groups, by what is grouped."""
        results: dict[str, GroupResults] = {}
        if self.plan.clips is not None:
            results["clips"] = self._measure(self.plan.clips, self._clip_parts(self.plan.clips))
        if self.plan.classes is not None:
            results["classes"] = self._measure(self.plan.classes, self._class_parts(self.plan.classes))
        if self.plan.bins:
            evaluations = {part.name: self._evaluate(part)[0] for part in self._length_parts()}
            results["lengths"] = GroupResults("lengths", evaluations, None, {})
        return results

    def _measure(self, partition: Partition, parts: Iterable[_Part]) -> GroupResults:
        """Measure groups, and their average if there is one."""
        evaluations: dict[str, Evaluation] = {}
        columns: dict[str, list[FloatArray]] = {name: [] for name in self.metrics}
        for part in parts:
            evaluations[part.name], of_part = self._evaluate(part)
            for name, column in of_part.items():
                columns[name].append(column)
        averages = {}
        if partition.groups.average is not None:
            averages = {name: self._average(partition, columns[name]) for name in self.metrics}
        return GroupResults(partition.kind, evaluations, partition.groups, averages)

    def _evaluate(self, part: _Part) -> tuple[Evaluation, dict[str, FloatArray]]:
        """Return the evaluation of a group, and the values of each metric for all weights of its clips."""
        durations = next(iter(part.deltas.values())).durations
        counts = {
            criterion: cut_at_floors(part.deltas[criterion], request).counts(threads=self.threads)
            for criterion, request in delta_requests(part.metrics.values()).items()
        }
        intervals = {}
        columns = {}
        if part.draws is not None:
            assert self.resamples is not None
            for name, metric in part.metrics.items():
                stage = self.resamples.steps.stage(len(part.draws.weights))
                values = part.draws.measure(part.drawn, metric, self.engine, stage)
                classes = part.drawn[metric.criterion].classes
                intervals[metric] = part.draws.summary(classes, values)
                columns[name] = values[:, 0]
        notes = [] if part.draws is None else part.draws.cautions(part.metrics.values())
        result = measure(
            part.metrics,
            counts,
            [*undefined_resamples_note(intervals.values()), *notes],
            intervals,
            part.alignment,
            durations=durations,
            points=self.points,
        )
        if part.draws is not None:
            result = complete(result, part.draws.resampling, part.drawn, self.threads)
        of_metrics = {
            name: columns.get(name, np.array([result[metric].value]))
            for name, metric in part.metrics.items()
        }
        return replace(result, alignment=None), of_metrics

    def _average(self, partition: Partition, columns: Sequence[FloatArray]) -> GroupAverage:
        """Return the average of a metric over groups."""
        average_of = partition.groups.average_of
        value = float(average_of(np.array([column[:1] for column in columns]))[0])
        if self.resamples is None:
            return GroupAverage(value)
        if partition.kind == "clips":
            assert self.resamples.group_draws is not None
            interval = self.resamples.group_draws.average_interval(columns, average_of)
        else:  # all groups of classes are measured on the same resamples
            interval = interval_of(average_of(np.array(columns)), self.resamples.draws.resampling)
        return GroupAverage(value, interval)

    def _clip_parts(self, partition: Partition) -> Iterator[_Part]:
        number = len(partition.names)
        deltas = _used(self.deltas, self.metrics)
        split = {
            criterion: split_by_clip(part, partition.numbers, number)
            for criterion, part in deltas.items()
        }
        drawn = split
        draws: Sequence[Draws | None] = [None] * number
        if self.resamples is not None:
            assert self.resamples.group_draws is not None
            draws = self.resamples.group_draws.of_groups
            if self.resamples.in_blocks:
                drawn = {
                    criterion: split_by_clip(part, self.resamples.group_draws.numbers, number)
                    for criterion, part in _used(self.resamples.drawn, self.metrics).items()
                }
        for group, (name, clips) in enumerate(zip(partition.names, partition.indices(), strict=True)):
            yield _Part(
                name,
                self.metrics,
                {criterion: parts[group] for criterion, parts in split.items()},
                {criterion: parts[group] for criterion, parts in drawn.items()},
                draws[group],
                None if self.alignment is None else self.alignment.choose(clips),
            )

    def _class_parts(self, partition: Partition) -> Iterator[_Part]:
        draws = None if self.resamples is None else self.resamples.draws
        for group, name in enumerate(partition.names):
            kept = partition.numbers == group
            deltas = {
                criterion: of_classes(part, kept)
                for criterion, part in _used(self.deltas, self.metrics).items()
            }
            deltas |= self._own_pass(name, kept)
            yield _Part(
                name,
                self.metrics,
                deltas,
                deltas,  # groups of classes are not resampled in blocks
                draws,
                None if self.alignment is None else self.alignment.of_classes(kept),
            )

    def _own_pass(self, name: str, kept: NDArray[np.bool_]) -> dict[Criterion, Deltas]:
        """Pass through the clips with the classes of a group alone, for metrics that depend on all classes.

        These are metrics that pair events regardless of label, and criteria that see other classes.
        """
        metrics = self.plan.needing_own_pass(self.metrics.values())
        if not metrics:
            return {}
        assert self.alignment is not None
        engine, alignment = self.engine.for_system(f"classes {name}"), self.alignment.of_classes(kept)
        if self.resamples is None:
            return find_deltas(alignment, delta_requests(metrics), engine)
        return find_deltas_for_weights(alignment, metrics, self.resamples.draws.weights, engine)

    def _length_parts(self) -> Iterator[_Part]:
        draws = None if self.resamples is None else self.resamples.draws
        all_drawn = self.deltas if self.resamples is None else self.resamples.drawn
        for of_bin in self.plan.bins:
            metrics = of_bin.metrics(self.metrics)
            deltas, drawn = _used(self.deltas, metrics), _used(all_drawn, metrics)
            alignment = None if self.alignment is None else of_bin.of(self.alignment)
            yield _Part(of_bin.name, metrics, deltas, drawn, draws, alignment)


def _used(
    deltas: Mapping[Criterion, Deltas], metrics: Mapping[str, Metric[Any]]
) -> dict[Criterion, Deltas]:
    """Return the deltas that some metrics read."""
    return {part.criterion: deltas[part.criterion] for part in parts_of(metrics.values())}
