"""The results of groups: an evaluation of each, their averages, notes about them, and how they are measured.

Groups are measured from the deltas of one pass. The value of a group is that of its clips or classes alone,
bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..counting.deltas import Deltas, of_classes, split_by_clip
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..engines.engine import Engine
from ..engines.floor_search import cut_at_floors, find_deltas
from ..errors import counted, listing, look_up, subject
from ..metrics import Metric
from ..metrics.metric import delta_requests, parts_of
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws, interval_of
from ..resampling.intervals import FEW, Interval
from ..resampling.subsampling import Behaviour
from ..tabular import TabularResult
from .counted_clips import measure
from .groups import GroupKind, GroupPlan, Groups, Partition
from .notes import undefined_resamples_note
from .resampled_clips import Resamples, complete
from .result import Evaluation

if TYPE_CHECKING:
    from ..results.text import Form, Part, Records
    from ..tuning.operating_points import OperatingPoints
    from .result import Evaluation


@dataclass(frozen=True, eq=False)
class GroupAverage:
    """The average of a metric over groups.

    Attributes
    ----------
    value : float
        The average; NaN if no group has a value.
    interval : Interval or None
        Its interval, if clips were resampled.
    """

    value: float
    interval: Interval | None = None


@dataclass(frozen=True, eq=False, repr=False)
class GroupResults(Mapping[str, "Evaluation"], TabularResult):
    """The evaluation of each group, by name.

    The evaluation of a group is the one of its clips or classes alone, without deltas. CSV and data frames
    have the columns of :class:`~sedscope.Evaluation`, and ``grouping`` and ``group`` before them. Rows
    without a class are the values of groups over all classes; rows without a group are the averages over
    the groups.

    Attributes
    ----------
    kind : {"clips", "classes", "lengths"}
        What is grouped: clips, classes, or reference events by their length.
    evaluations : mapping of str to Evaluation
        The evaluation of each group, in the order of their names, or of their lengths.
    groups : Groups or None
        The members of the groups and how they are averaged; None for lengths.
    averages : mapping of str to GroupAverage
        The average of each metric over the groups, by the name of the metric; empty if there is none.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(40, classes=2)
    >>> scores = sed.simulate.scores(truth)
    >>> sites = {clip: "north" if number % 2 else "south" for number, clip in enumerate(truth.clips)}
    >>> by_site = sed.evaluate(scores, truth, "collar_f1", by=sites).groups["clips"]
    >>> by_site
    <GroupResults: 2 groups of clips; north, south>
    >>> by_site["north"].clips, round(by_site["north"]["collar_f1"].value, 3)
    (20, 0.32)
    """

    kind: GroupKind
    evaluations: Mapping[str, Evaluation]
    groups: Groups | None
    averages: Mapping[str, GroupAverage]

    def __getitem__(self, group: str) -> Evaluation:
        return look_up(self.evaluations, group, "group")

    def __contains__(self, group: object) -> bool:
        return group in self.evaluations

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def __repr__(self) -> str:
        return f"<GroupResults: {self.title()}; {listing([*self])}>"

    def title(self) -> str:
        """Say what the groups are, as the heading of a table.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(40, classes=2)
        >>> groups = {clip: f"site{i % 3}" for i, clip in enumerate(truth.clips)}
        >>> sed.evaluate(sed.simulate.scores(truth), truth, "psds1", by=groups).groups["clips"].title()
        '3 groups of clips'
        """
        if self.kind == "lengths":
            return f"{counted(len(self), 'bin')} of reference lengths"
        return f"{counted(len(self), 'group')} of {self.kind}"

    def average_name(self) -> str:
        """Return what the average is called in tables; empty if there is none.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(40, classes=2)
        >>> sites = {clip: "north" if number % 2 else "south" for number, clip in enumerate(truth.clips)}
        >>> groups = sed.Groups(sites, average="harmonic", floor=1e-5)
        >>> result = sed.evaluate(sed.simulate.scores(truth), truth, "collar_f1", by=groups)
        >>> result.groups["clips"].average_name()
        'harmonic mean, values of at least 1e-05'
        """
        if self.groups is None or self.groups.average is None:
            return ""
        if self.groups.average == "mean":
            return "mean"
        return "harmonic mean" + (
            f", values of at least {self.groups.floor:g}" if self.groups.floor else ""
        )

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        from .result_tables import group_table, legend

        table = group_table(self, digits)
        return [table] if form == "html" else [table, legend(next(iter(self.values())))]

    def _records(self) -> Records:
        from .result_tables import GROUPED_COLUMNS, grouped_rows

        return GROUPED_COLUMNS, grouped_rows(self)

    def _values(self) -> dict[str, Any]:
        from .result_tables import group_values

        return {"grouping": self.kind, **group_values(self)}


def group_notes(groups: Mapping[str, GroupResults]) -> list[str]:
    """Note what a user should know about the values of groups."""
    return [
        note
        for results in groups.values()
        for note in (*_without_value(results), *_without_classes(results), *_few_clips(results))
    ]


def _without_value(results: GroupResults) -> list[str]:
    """Note groups in which a metric is not defined, although it is in others."""
    by_metric: dict[str, list[str]] = {}
    for group, evaluation in results.items():
        for metric, result in evaluation.results.items():
            if np.isnan(result.value):
                by_metric.setdefault(evaluation.names[metric], []).append(group)
    left_out = ""
    if results.averages:
        floor = 0.0 if results.groups is None else results.groups.floor
        left_out = f" They {f'count as {floor:g} in' if floor else 'are left out of'} the average."
    together: dict[tuple[str, ...], list[str]] = {}
    for name, without in by_metric.items():
        if len(without) == len(results):
            continue
        together.setdefault(tuple(without), []).append(name)
    return [
        f"{listing(names)} {'is' if len(names) == 1 else 'are'} not defined in some of the "
        f"{results.title()}: {listing(without)}.{left_out}"
        for without, names in together.items()
    ]


def _without_classes(results: GroupResults) -> list[str]:
    """Note groups without reference events of classes that other groups have."""
    if results.kind == "classes":
        return []
    present = {
        label
        for evaluation in results.values()
        for label, number in evaluation.references.items()
        if number
    }
    lacking = []
    for group, evaluation in results.items():
        needing = [metric for metric in evaluation.results if metric.needs_references]
        labels = [label for label in evaluation.classes if not evaluation.references[label]]
        absent = [label for label in labels if label in present]
        if needing and absent and len(absent) < len(present):
            lacking.append(f"{group} ({listing(absent, limit=3)})")
    if not lacking:
        return []
    have, their, are = ("has", "its", "is") if len(lacking) == 1 else ("have", "their", "are")
    averages = "average" if len(lacking) == 1 else "averages"
    return [
        f"{len(lacking)} of the {results.title()} {have} no reference events of some classes, so {their} "
        f"{averages} {are} over fewer classes than those of the others: {listing(lacking)}."
    ]


def _few_clips(results: GroupResults) -> list[str]:
    """Note groups of so few clips that their intervals are rough, or that have none."""
    resampled = any(evaluation.intervals for evaluation in results.values())
    if results.kind != "clips" or not resampled:
        return []
    single = [group for group, evaluation in results.items() if not evaluation.intervals]
    few = [
        group for group, evaluation in results.items() if group not in single and evaluation.clips < FEW
    ]
    notes = []
    if single:
        fixed = " The interval of the average takes their values as certain." if results.averages else ""
        notes.append(
            f"{subject(len(single), 'group', 'has')} no interval, because there is a single clip or unit to "
            f"draw: {listing(single)}.{fixed}"
        )
    if few:
        notes.append(
            f"{counted(len(few), 'group')} {'has' if len(few) == 1 else 'have'} fewer than {FEW} clips, so "
            f"the intervals are unreliable and usually too narrow: {listing(few)}."
        )
    return notes


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
            averages = {
                name: self._average(partition, columns[name], Behaviour.of(metric))
                for name, metric in self.metrics.items()
            }
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
                intervals[metric] = part.draws.summary(classes, values, Behaviour.of(metric))
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

    def _average(
        self, partition: Partition, columns: Sequence[FloatArray], behaviour: Behaviour
    ) -> GroupAverage:
        """Return the average of a metric over groups."""
        average_of = partition.groups.average_of
        value = float(average_of(np.array([column[:1] for column in columns]))[0])
        if self.resamples is None:
            return GroupAverage(value)
        if partition.kind == "clips":
            assert self.resamples.group_draws is not None
            interval = self.resamples.group_draws.average_interval(columns, average_of, behaviour)
        else:  # all groups of classes are measured on the same resamples
            drawn = self.resamples.draws.resampling
            interval = interval_of(average_of(np.array(columns)), drawn, behaviour)
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
