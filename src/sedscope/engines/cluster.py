"""What the engines of all clusters share: a pass is partial, merge and finish, which a cluster schedules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial as bound
from pathlib import Path
from typing import Any

import numpy as np

from ..alignment.alignment import Alignment
from ..counting.deltas import Deltas, in_clip_order
from ..counting.one_pass import PassPart, largest_false_alarms
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..data.choices import refuse_beyond_memory
from ..data.times import TICKS_PER_SECOND
from ..errors import SedscopeError, counted
from ..io.locations import location
from ..postprocessing import PostProcessing
from ..progress import Progress, StagedProgress
from .checkpoint import KeptStates, make_folder
from .engine import Engine, Item, by_variant, clip_ranges, part_of
from .states import Block, Finish, Finished, StatePlan, finish, merge, partial, results_of

_PARTS_PER_WORKER = 4
_MOST_CLIPS = 512  # of a part ...
_MOST_TICKS = 8 * 3600 * TICKS_PER_SECOND  # ... unless their durations are longer
_BYTES_OF_A_CELL = 16  # of a clip and class: where its rows begin in two tables
_CLIPS_AT_ONCE = 2048  # whose deltas are held together, where those of all clips would be too many


class WorkError(SedscopeError):
    """Some work failed on the workers, though the cluster is there."""


class ClusterEngine(Engine):
    """Runs the pass on the workers of a cluster.

    Scores that come from files travel as paths, which every worker must be able to open; this process reads
    none of them. An engine of a cluster says how work is spread over its workers, and no more.
    """

    splits_clips = True
    on_cluster = True

    def __init__(
        self, *, clips_per_part: int | None = None, checkpoint: str | Path | None = None
    ) -> None:
        """``checkpoint``: a folder or address that all workers can write to, which keeps finished parts."""
        super().__init__(threads=1)  # the workers' own threads run several blocks at a time
        self.clips_per_part = clips_per_part
        self.checkpoint = None if checkpoint is None else location(checkpoint)

    @abstractmethod
    def workers(self) -> int:
        """Return how much work can be done at the same time."""

    @abstractmethod
    def map(
        self,
        work: Callable[[Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        progress: Progress | None,
    ) -> list[Any]:
        """Apply a function to items on the workers, and return the results in order.

        ``sizes``: by how much each item advances the progress.
        """

    @abstractmethod
    def reduce(
        self,
        first: Callable[[Alignment], list[bytes]],
        parts: Sequence[Alignment],
        merge_states: Callable[[Sequence[bytes]], bytes],
        last: Callable[[bytes, int], Finished],
        blocks: int,
        progress: Progress | None,
    ) -> list[Finished]:
        """Apply ``first`` to the parts, merge what it returns for each block in any grouping, and return what
        ``last`` makes of the merged state and number of each block."""

    def count(
        self, alignment: Alignment, plan: StatePlan, measure: Finish, progress: Progress | None
    ) -> list[Any]:
        """Pass through all clips, and return what ``measure`` makes of each block of a plan on its worker."""
        first: Callable[[Alignment], list[bytes]] = bound(partial, plan=plan)
        if self.checkpoint is not None:
            if isinstance(self.checkpoint, Path):
                make_folder(self.checkpoint)
            first = KeptStates(self.checkpoint, plan)
        finished = self.reduce(
            first,
            self._parts(alignment),
            bound(merge, plan=plan),
            bound(finish, plan=plan, measure=measure),
            len(plan.blocks),
            progress,
        )
        return results_of(finished)

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        tables = sum(1 + len(request.variants) for request in requests.values())
        clips, classes = len(alignment.clips), len(alignment.classes)
        refuse_beyond_memory(
            _BYTES_OF_A_CELL * tables * clips * classes,
            f"Resampling, groups and comparisons need the deltas of single clips in this process. For "
            f"{counted(clips, 'clip')} and {counted(classes, 'class')}, they take at least",
            "Evaluate without them, or fewer clips.",
        )
        block = Block(tuple(requests), np.ones(len(alignment.classes), bool), added_up=False)
        [deltas] = self.count(alignment, StatePlan(requests, (block,)), _as_they_are, progress)
        return {
            criterion: in_clip_order(of_criterion, alignment.clips)
            for criterion, of_criterion in deltas.items()
        }

    def pass_in_parts(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> Iterator[PassPart]:
        total = len(alignment.clips)
        steps = StagedProgress(progress, total)
        for clips in clip_ranges(total, _CLIPS_AT_ONCE):
            stage = steps.stage(len(clips))
            yield from by_variant(self.run_pass(part_of(alignment, clips), requests, stage))

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        parts = self._parts(alignment)
        work = bound(_largest_false_alarms, variant=variant)
        try:
            maxima = self.map(work, parts, [1] * len(parts), None)
        except WorkError:
            return None  # the pass over all clips reports why
        known = [array for array in maxima if array is not None]  # the pass reports the others
        return np.concatenate(known) if known else None

    def map_blocks(
        self,
        work: Callable[[Item], FloatArray],
        blocks: Sequence[Item],
        key: Callable[[], str | None],
        progress: Progress | None,
    ) -> list[FloatArray]:
        return self.map(work, blocks, [1] * len(blocks), progress)

    def _parts(self, alignment: Alignment) -> list[Alignment]:
        clips, ticks = len(alignment.clips), int(alignment.durations.sum())
        most = min(_MOST_CLIPS, _MOST_TICKS * clips // ticks) if ticks else _MOST_CLIPS
        size = max(1, min(most, -(-clips // (_PARTS_PER_WORKER * self.workers()))))
        return [part_of(alignment, part) for part in clip_ranges(clips, self.clips_per_part or size)]


def _as_they_are(_: int, deltas: dict[Criterion, Deltas]) -> dict[Criterion, Deltas]:
    return deltas


def _largest_false_alarms(part: Alignment, variant: PostProcessing | None) -> FloatArray | None:
    return largest_false_alarms(part, variant, 1)


_MERGED_AT_ONCE = 4


def merged_as_tree(states: Sequence[Any], merge_some: Callable[..., Any]) -> Any:
    """Merge neighbours, then the merged ones, until one is left. ``merge_some``: starts the merging of some
    states, and returns what stands for the merged one."""
    while len(states) > 1:
        groups = [states[i : i + _MERGED_AT_ONCE] for i in range(0, len(states), _MERGED_AT_ONCE)]
        states = [merge_some(*group) if len(group) > 1 else group[0] for group in groups]
    return states[0]
