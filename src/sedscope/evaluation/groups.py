"""Groups: which clips, classes or lengths of references belong together, how their values are averaged, and
what their metrics need of the pass over the clips.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..alignment.regions import RegionTruth
from ..counting.deltas import Deltas
from ..data.arrays import FloatArray
from ..data.clips import clip_ids
from ..data.ground_truth import GroundTruth
from ..data.times import LONGEST_SECONDS, to_ticks
from ..definitions import require_choice, require_number
from ..errors import SedscopeError, listing, refuse_nul, shortened, subject
from ..metrics import Metric

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..data.tables import FrameLike
    from ..io.locations import Location
    from ..resampling.draws import Draws, GroupDraws
    from ..resampling.resampling import ClipPart, Resampling

GroupKind: TypeAlias = Literal["clips", "classes", "lengths"]
"""What is grouped: clips, classes, or reference events by their length."""

GroupAverageName: TypeAlias = Literal["mean", "harmonic"]

_AVERAGES = ("mean", "harmonic")


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each clip or class belongs to, and how the values of the groups are averaged.

    Parameters
    ----------
    members : mapping of str to str or int
        The group of each clip, or of each class. It may name others than those that are evaluated.
    average : {"mean", "harmonic"}, optional
        The average over the groups: their mean or their harmonic mean. Without it there is none. Groups
        whose value is not defined are left out, unless there is a floor.
    floor : float, default 0
        For the harmonic mean: values below it are raised to it, and values that are not defined become
        it, as DCASE Task 5 does with 1e-5. By default a group with the value 0 makes the harmonic mean 0.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(40, classes=2)
    >>> scores = sed.simulate.scores(truth)
    >>> sites = {clip: "north" if number % 2 else "south" for number, clip in enumerate(truth.clips)}
    >>> result = sed.evaluate(scores, truth, "collar_f1", by=sed.Groups(sites, average="harmonic"))
    >>> by_site = result.groups["clips"]
    >>> [f"{site}: {by_site[site]['collar_f1'].value:.3f}" for site in by_site]
    ['north: 0.320', 'south: 0.349']
    >>> round(by_site.averages["collar_f1"].value, 3)
    0.334
    """

    members: Mapping[str, str | int]
    average: GroupAverageName | None = None
    floor: float = 0.0

    def __post_init__(self) -> None:
        if self.average is not None:
            require_choice(self, "average", _AVERAGES)
        require_number(self, "floor", at_least=0)
        if self.floor and self.average != "harmonic":
            raise SedscopeError("floor= only applies to the harmonic mean. Choose average='harmonic'.")
        if not isinstance(self.members, Mapping):
            raise SedscopeError(
                "Groups must be a mapping from clips or classes to groups, or a table in a file or data "
                f"frame, not {type(self.members).__name__}."
            )
        wrong = [
            f"{name}: {shortened(repr(group), 40)}"
            for name, group in self.members.items()
            if not _is_name(group)
        ]
        if wrong:
            raise SedscopeError(f"Groups must be names or whole numbers: {listing(wrong)}.")
        refuse_nul({*self.members.values()}, "group")

    @classmethod
    def _of(cls, groups: GroupsLike) -> Groups:
        """Return groups that may be a mapping, a data frame or a file."""
        if isinstance(groups, Groups):
            return groups
        from ..io.side_tables import is_group_table, read_groups

        members: Any = read_groups(groups) if is_group_table(groups) else groups
        return cls(members)

    def average_of(self, values: FloatArray) -> FloatArray:
        """Return the average over the groups, for one or more values of each.

        Parameters
        ----------
        values : array of float, shape (groups, values)
            The values of each group; NaN where they are not defined.

        Returns
        -------
        array of float, shape (values,)
            NaN where no group has a value, and for the harmonic mean of negative values.

        Examples
        --------
        >>> import numpy as np
        >>> import sedscope as sed
        >>> sed.Groups({}, average="harmonic").average_of(np.array([[0.5, 0.0], [1.0, 0.5]])).tolist()
        [0.6666666666666666, 0.0]
        """
        if self.floor:
            values = np.fmax(values, self.floor)
        defined = ~np.isnan(values)
        number = defined.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.average == "mean":
                return np.where(defined, values, 0.0).sum(axis=0) / number
            inverse = np.where(defined, 1 / np.where(values == 0, 0.0, values), 0.0).sum(axis=0)
            harmonic = np.where(number > 0, number / inverse, np.nan)
        negative = np.where(defined, values < 0, False).any(axis=0)
        return np.where(negative, np.nan, harmonic)


GroupsLike: TypeAlias = "Groups | Mapping[str, str] | Mapping[str, int] | str | Location | FrameLike"


@dataclass(frozen=True, eq=False)
class By:
    """What is evaluated in groups, beside everything together.

    Parameters
    ----------
    clips : mapping of clip to group, path, data frame or Groups, optional
        Groups of clips, e.g. the recording sites, each as if it were alone. Where clips are scored
        regions, the groups may be those of their recordings. A file or frame has the columns ``filename
        group``.
    classes : mapping of class to group, path, data frame or Groups, optional
        Groups of classes, e.g. common and rare ones, each as if there were no other classes. A file or frame
        has the columns ``label group``.
    lengths : iterable of float, optional
        Reference events by their length: ``(1, 5)`` makes the bins up to 1 s, 1 to 5 s and above 5 s.
        References outside a bin are ignored: they are not missed, and detections that match them are not
        false.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(40, classes=2)
    >>> scores = sed.simulate.scores(truth)
    >>> result = sed.evaluate(scores, truth, "collar_f1", by=sed.By(lengths=(1, 5)))
    >>> list(result.groups["lengths"])
    ['≤ 1 s', '1–5 s', '> 5 s']
    """

    clips: GroupsLike | None = None
    classes: GroupsLike | None = None
    lengths: Iterable[float] | None = None

    @classmethod
    def _of(cls, by: By | GroupsLike) -> By:
        """Return what is grouped; groups alone are of clips."""
        return by if isinstance(by, By) else cls(by)


def _is_name(group: object) -> bool:
    if isinstance(group, str):
        return bool(group.strip())
    try:
        operator.index(group)  # type: ignore[arg-type]  # that is what is tested
    except TypeError:
        return False
    return not isinstance(group, (bool, np.bool_))


@dataclass(frozen=True, eq=False)
class Partition:
    """The evaluated clips or classes in their groups."""

    kind: GroupKind
    members: tuple[str, ...]
    """The clips or classes."""
    names: tuple[str, ...]
    """The groups, in the order of their names; numbers within names count as numbers."""
    numbers: NDArray[np.intp]
    """The group of each clip or class."""
    groups: Groups

    def indices(self) -> list[NDArray[np.intp]]:
        """Return the indices of the clips or classes of each group."""
        return [np.flatnonzero(self.numbers == group) for group in range(len(self.names))]


def by_region(groups: GroupsLike, truth: GroundTruth | None) -> GroupsLike:
    """Return the groups of clips. Where clips are regions, each is in the group of its recording, unless it
    is named itself."""
    if not isinstance(truth, RegionTruth):
        return groups
    chosen = Groups._of(groups)
    return replace(chosen, members=truth.groups_of_regions(chosen.members))


def _partition(kind: GroupKind, groups: GroupsLike, evaluated: Sequence[str]) -> Partition:
    """Return the evaluated clips or classes in their groups. Each must have one."""
    chosen = Groups._of(groups)
    members = chosen.members
    if kind == "clips":
        members = {clip: members[name] for name, clip in clip_ids(members, "groups").items()}
    without = [name for name in evaluated if name not in members]
    if without:
        noun = "clip" if kind == "clips" else "class"
        raise SedscopeError(
            f"{subject(len(without), noun, 'has')} no group: {listing(without)}. Give each {noun} one, or "
            f"choose the {kind} to evaluate with {kind}= (--{kind})."
        )
    of_member = {name: members[name] for name in evaluated}
    named: dict[str, bool] = {}
    for group in of_member.values():
        if named.setdefault(str(group), isinstance(group, str)) != isinstance(group, str):
            raise SedscopeError(f"One group is named {str(group)!r}, and another is the number {group}.")
    names = tuple(sorted(named, key=natural_order))
    number = {name: i for i, name in enumerate(names)}
    numbers = np.array([number[str(of_member[name])] for name in evaluated], np.intp)
    return Partition(kind, tuple(evaluated), names, numbers, chosen)


def natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return a key that sorts names as people do: numbers within them count as numbers.

    >>> sorted(["site10", "site9", "Site1"], key=natural_order)
    ['Site1', 'site9', 'site10']
    """
    parts = re.split(r"(\d{1,15})", name.casefold(), flags=re.ASCII)
    pairs = zip(parts[::2], [*parts[1::2], "-1"], strict=True)
    return [(text, int(digits)) for text, digits in pairs], name


@dataclass(frozen=True)
class LengthBin:
    """The reference events of some lengths, in seconds: longer than the first, up to the second."""

    shortest: float
    longest: float

    @property
    def name(self) -> str:
        """What the bin is called in tables."""
        shortest, longest = f"{self.shortest:.10g}", f"{self.longest:.10g}"
        if self.longest == np.inf:
            return f"> {shortest} s"
        return f"≤ {longest} s" if self.shortest == 0 else f"{shortest}–{longest} s"

    def metrics(self, metrics: Mapping[str, Metric[Any]]) -> dict[str, Metric[Any]]:
        """Return the metrics of these references alone, by name."""
        return {name: metric.of_lengths(self.shortest, self.longest) for name, metric in metrics.items()}

    def of(self, alignment: Alignment) -> Alignment:
        """Return an alignment in which the other references are ignored."""
        shortest, longest = to_ticks([self.shortest, min(self.longest, LONGEST_SECONDS)])
        lengths = alignment.events[:, 1] - alignment.events[:, 0]
        others = (lengths <= shortest) | (lengths > longest)
        uncut = alignment.uncut
        if uncut is not None:
            uncut = uncut.of_length(int(shortest), int(longest))
        return replace(alignment, ignored=alignment.ignored | others, uncut=uncut)


def length_bins(bounds: Iterable[float]) -> list[LengthBin]:
    """Return the bins between some lengths in seconds, the first from 0 on, the last without end.

    >>> [length_bin.name for length_bin in length_bins([1, 5])]
    ['≤ 1 s', '1–5 s', '> 5 s']
    """
    try:
        lengths = [float(bound) for bound in bounds]
    except (TypeError, ValueError):
        lengths = []
    increasing = all(low < high for low, high in zip([0.0, *lengths], lengths, strict=False))
    if not lengths or not increasing or not np.isfinite(lengths).all():
        raise SedscopeError(
            "Lengths must be seconds above 0 in increasing order, such as (1, 5), which makes the bins "
            f"up to 1 s, 1 to 5 s and above 5 s; not {bounds!r}."
        )
    return [LengthBin(low, high) for low, high in zip([0.0, *lengths], [*lengths, np.inf], strict=True)]


@dataclass(frozen=True, eq=False)
class GroupPlan:
    """The groups of an evaluation: of clips, of classes, and of reference lengths."""

    clips: Partition | None = None
    classes: Partition | None = None
    bins: Sequence[LengthBin] = ()

    @classmethod
    def of(
        cls,
        clips: Sequence[str],
        classes: Sequence[str],
        by: By | GroupsLike,
        truth: GroundTruth | None = None,
    ) -> GroupPlan:
        """Put the evaluated clips and classes in their groups.

        ``truth``: if its clips are regions, they may be in the groups of their recordings.
        """
        by = By._of(by)
        return cls(
            None if by.clips is None else _partition("clips", by_region(by.clips, truth), clips),
            None if by.classes is None else _partition("classes", by.classes, classes),
            () if by.lengths is None else length_bins(by.lengths),
        )

    @classmethod
    def of_deltas(
        cls, deltas: Sequence[Deltas], metrics: Sequence[Metric[Any]], by: By | GroupsLike
    ) -> GroupPlan:
        """Put the clips and classes of deltas that were found before in their groups."""
        if len({(part.clips, part.classes) for part in deltas}) > 1:
            raise SedscopeError(
                "Groups need deltas of the same clips and classes, in the same order, for every criterion. "
                "Find them from the same scores and ground truth."
            )
        plan = cls.of(deltas[0].clips, deltas[0].classes, by)
        if plan.bins:
            raise SedscopeError("Deltas know nothing of the lengths of references. Evaluate the scores.")
        again = [repr(metric) for metric in plan.needing_own_pass(metrics)]
        if again:
            raise SedscopeError(
                f"The deltas of all classes do not suffice to measure {listing(again)} on a group of "
                "classes. Evaluate the scores with by=By(classes=…), or find the deltas of each group with "
                "classes=."
            )
        return plan

    def of_bins(self, metrics: Mapping[str, Metric[Any]]) -> list[Metric[Any]]:
        """Return the metrics of all bins of lengths."""
        return [metric for of_bin in self.bins for metric in of_bin.metrics(metrics).values()]

    def parts(self) -> list[ClipPart]:
        """Return the clips of each group, each counted once."""
        if self.clips is None:
            return []
        from ..resampling.resampling import ClipPart

        return [ClipPart(clips, np.ones((1, len(clips)), np.int32)) for clips in self.clips.indices()]

    def needing_own_pass(self, metrics: Iterable[Metric[Any]]) -> list[Metric[Any]]:
        """Return the metrics whose deltas of all classes do not serve groups of classes."""
        if self.classes is None or len(self.classes.names) == 1:
            return []
        chosen = [*metrics]
        criteria = {
            metric.criterion
            for metric in chosen
            if metric.any_label or not metric.criterion.judges_classes_alone
        }
        return [metric for metric in chosen if metric.criterion in criteria]

    def draw(self, clips: Sequence[str], resampling: Resampling) -> GroupDraws | None:
        """Draw the resamples of each group of clips, if there are groups.

        ``clips``: all clips, or blocks of them, whose names say which clip they are of.
        """
        if self.clips is None:
            return None
        from ..resampling.draws import GroupDraws

        numbers = self.clips.numbers
        if resampling.blocks is not None:
            from ..alignment.cuts import clip_of_block

            of_clip = dict(zip(self.clips.members, numbers.tolist(), strict=True))
            numbers = np.array([of_clip[clip_of_block(block)] for block in clips], np.intp)
        return GroupDraws(numbers, len(self.clips.names), clips, resampling)

    def measurements(self, draws: Draws, group_draws: GroupDraws | None) -> int:
        """Return for how many weights of clips a metric is measured, over all groups.

        ``draws``: of all clips, on which groups of classes and bins of lengths are measured.
        """
        of_all = len(self.bins) + (0 if self.classes is None else len(self.classes.names))
        of_clips = 0 if group_draws is None else group_draws.measurements()
        return of_all * len(draws.weights) + of_clips
