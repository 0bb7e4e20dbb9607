"""The results of groups: an evaluation of each, and their averages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import SedscopeError, counted, listing, with_guesses
from ..notebook.data_frame import Tabular
from ..resampling.intervals import Interval
from .group_rows import group_frame, group_html
from .groups import GroupKind, Groups

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

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


class UnknownGroup(SedscopeError, KeyError):
    """There is no group of this name."""

    __str__ = SedscopeError.__str__


@dataclass(frozen=True, eq=False, repr=False)
class GroupResults(Mapping[str, "Evaluation"], Tabular):
    """The evaluation of each group, by name.

    The evaluation of a group is the one of its clips or classes alone, without deltas.

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
        if group not in self.evaluations:
            (guess,) = with_guesses([str(group)], self.evaluations)
            raise UnknownGroup(
                f"There is no group {guess}. The groups are {listing([*self.evaluations])}."
            )
        return self.evaluations[group]

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

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per group, metric and class.

        Returns
        -------
        polars.DataFrame
            With the columns of :meth:`Evaluation.to_polars`, and ``grouping`` and ``group`` before them.
            Rows without a class are the values of groups over all classes; rows without a group are the
            averages over the groups.

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(40, classes=2)
        >>> sites = {clip: "north" if number % 2 else "south" for number, clip in enumerate(truth.clips)}
        >>> by_site = sed.evaluate(sed.simulate.scores(truth), truth, "collar_f1", by=sites).groups["clips"]
        >>> by_site.to_polars()["group"].unique(maintain_order=True).to_list()
        ['north', 'south']
        """
        return group_frame(self)

    def _repr_html_(self) -> str:
        return group_html(self)
