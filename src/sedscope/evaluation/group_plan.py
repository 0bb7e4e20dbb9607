"""The plan of groups: which there are, and what their metrics need of the pass over the clips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics import Metric
from ..resampling.resampling import ClipPart
from .groups import GroupsLike, Partition, partition_classes, partition_clips

if TYPE_CHECKING:
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
    ) -> GroupPlan:
        """Put the evaluated clips and classes in their groups."""
        bins: Sequence[LengthBin] = ()
        if by_length is not None:
            from .length_bins import length_bins

            bins = length_bins(by_length)
        return cls(
            None if by is None else partition_clips(by, clips),
            None if by_class is None else partition_classes(by_class, classes),
            bins,
        )

    def __bool__(self) -> bool:
        return self.clips is not None or self.classes is not None or bool(self.bins)

    def of_bins(self, metrics: Mapping[str, Metric[Any]]) -> list[Metric[Any]]:
        """Return the metrics of all bins of lengths."""
        return [metric for of_bin in self.bins for metric in of_bin.metrics(metrics).values()]

    def parts(self) -> list[ClipPart]:
        """Return the clips of each group, each counted once."""
        if self.clips is None:
            return []
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

    def measurements(self) -> int:
        """Return how many groups of classes and bins are measured, each on all clips."""
        return len(self.bins) + (0 if self.classes is None else len(self.classes.names))
