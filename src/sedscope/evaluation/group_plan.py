"""The plan of groups: which there are, and what their metrics need of the pass over the clips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting.deltas import Deltas
from ..data.alignment import Alignment
from ..data.times import LONGEST_SECONDS, to_ticks
from ..errors import SedscopeError, listing
from ..metrics import Metric

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..resampling.draws import Draws, GroupDraws
    from ..resampling.resampling import ClipPart, Resampling
    from .groups import By, GroupsLike, Partition


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
        from .groups import By, by_region, partition_classes, partition_clips

        by = By._of(by)
        return cls(
            None if by.clips is None else partition_clips(by_region(by.clips, truth), clips),
            None if by.classes is None else partition_classes(by.classes, classes),
            () if by.lengths is None else length_bins(by.lengths),
        )

    @classmethod
    def of_deltas(
        cls,
        deltas: Sequence[Deltas],
        metrics: Sequence[Metric[Any]],
        by: By | GroupsLike,
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
            from ..data.cuts import clip_of_block

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
