"""The results of groups: an evaluation of each, their averages, and notes about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import counted, listing, look_up, subject
from ..resampling.intervals import FEW, Interval
from ..tabular import TabularResult
from .groups import GroupKind, Groups

if TYPE_CHECKING:
    from ..results.text import Form, Part, Records
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
    have the columns of :class:`Evaluation`, and ``grouping`` and ``group`` before them. Rows without a class
    are the values of groups over all classes; rows without a group are the averages over the groups.

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
    """Note groups in which a metric is not defined."""
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
