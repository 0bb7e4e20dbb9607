"""The plan of groups: which there are, and what their metrics need of the pass over the clips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting.deltas import Deltas
from ..errors import SedscopeError, listing
from ..metrics import Metric

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..resampling.draws import Draws
    from ..resampling.group_draws import GroupDraws
    from ..resampling.resampling import ClipPart, Resampling
    from .groups import GroupsLike, Partition
    from .length_bins import LengthBin


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
        by: GroupsLike | None,
        by_class: GroupsLike | None,
        by_length: Iterable[float] | None = None,
        truth: GroundTruth | None = None,
    ) -> GroupPlan:
        """Put the evaluated clips and classes in their groups.

        ``truth``: if its clips are regions, they may be in the groups of their recordings.
        """
        if by is None and by_class is None and by_length is None:
            return cls()
        from .groups import by_region, partition_classes, partition_clips
        from .length_bins import length_bins

        return cls(
            None if by is None else partition_clips(by_region(by, truth), clips),
            None if by_class is None else partition_classes(by_class, classes),
            () if by_length is None else length_bins(by_length),
        )

    @classmethod
    def of_deltas(
        cls,
        deltas: Sequence[Deltas],
        metrics: Sequence[Metric[Any]],
        by: GroupsLike | None,
        by_class: GroupsLike | None,
    ) -> GroupPlan:
        """Put the clips and classes of deltas that were found before in their groups."""
        if by is None and by_class is None:
            return cls()
        if len({(part.clips, part.classes) for part in deltas}) > 1:
            raise SedscopeError(
                "Groups need deltas of the same clips and classes, in the same order, for every criterion. "
                "Find them from the same scores and ground truth."
            )
        plan = cls.of(deltas[0].clips, deltas[0].classes, by, by_class)
        again = [repr(metric) for metric in plan.needing_own_pass(metrics)]
        if again:
            raise SedscopeError(
                f"The deltas of all classes do not suffice to measure {listing(again)} on a group of "
                "classes. Evaluate the scores with by_class=, or find the deltas of each group with classes=."
            )
        return plan

    def __bool__(self) -> bool:
        return self.clips is not None or self.classes is not None or bool(self.bins)

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
        from ..resampling.group_draws import GroupDraws

        numbers = self.clips.numbers
        if resampling.blocks is not None:
            from ..data.time_blocks import clip_of_block

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
