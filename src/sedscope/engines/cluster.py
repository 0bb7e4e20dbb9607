"""What the engines of all clusters share: a pass is partial, merge and finish, which a cluster schedules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
from ..progress import ProblemLog, Progress, StagedProgress
from .checkpoint import KeptStates, make_folder
from .engine import Engine, Item, by_variant, clip_ranges, part_of
from .states import Block, Finish, Finished, StatePlan, finish, merge, partial, problems_of, results_of

_PARTS_PER_WORKER = 4
_BUNDLES_PER_WORKER = 16
_MOST_PARTS = 64  # of a bundle: what is lost with a worker
_MOST_CLIPS = 512  # of a part ...
_MOST_TICKS = 8 * 3600 * TICKS_PER_SECOND  # ... unless their durations are longer
_BYTES_OF_A_CELL = 16  # of a clip and class: where its rows begin in two tables
_CLIPS_AT_ONCE = 2048  # whose deltas are held together, where those of all clips would be too many


@dataclass(frozen=True)
class Bundle:
    """Some clips of a set, which arrive at a worker as a tuple of parts.

    A task counts one part after the other, so that there are not more tasks the more hours there are.
    """

    alignment: Alignment
    clips: range
    clips_per_part: int

    def __reduce__(self) -> tuple[type, tuple[list[Alignment]]]:
        first, size = self.clips.start, len(self.clips)
        parts = [range(first + p.start, first + p.stop) for p in clip_ranges(size, self.clips_per_part)]
        return tuple, ([part_of(self.alignment, part) for part in parts],)

    def __str__(self) -> str:
        names = self.alignment.clips
        return f"clips {names[self.clips.start]} … {names[self.clips.stop - 1]}"


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
        first: Callable[[tuple[Alignment, ...]], list[Any]],
        bundles: Sequence[Bundle],
        merge_states: Callable[[Sequence[bytes]], bytes],
        last: Callable[[bytes, int], Finished],
        blocks: int,
        log: ProblemLog,
    ) -> list[Finished]:
        """Apply ``first`` to bundles of parts, merge the states that it returns for each block in any
        grouping, and return what ``last`` makes of the merged state and number of each block.

        ``first`` returns problems before the states. They are logged when the bundle is done. The progress is
        in clips.
        """

    def count(
        self, alignment: Alignment, plan: StatePlan, measure: Finish, progress: Progress | None
    ) -> list[Any]:
        """Pass through all clips, and return what ``measure`` makes of each block of a plan on its worker."""
        first: Callable[[Alignment], list[bytes]] = bound(partial, plan=plan)
        if self.checkpoint is not None:
            if isinstance(self.checkpoint, Path):
                make_folder(self.checkpoint)
            first = KeptStates(self.checkpoint, plan)
        clips, merge_states = len(alignment.clips), bound(merge, plan=plan)
        size = self._clips_per_part(alignment)
        parts = min(_MOST_PARTS, -(-clips // (_BUNDLES_PER_WORKER * self.workers() * size)))
        finished = self.reduce(
            bound(_states_of, first=first, merge_states=merge_states),
            [Bundle(alignment, part, size) for part in clip_ranges(clips, parts * size)],
            merge_states,
            bound(finish, plan=plan, measure=measure),
            len(plan.blocks),
            ProblemLog(progress),
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
        size = self._clips_per_part(alignment)
        parts = [part_of(alignment, part) for part in clip_ranges(len(alignment.clips), size)]
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

    def _clips_per_part(self, alignment: Alignment) -> int:
        if self.clips_per_part:
            return self.clips_per_part
        clips, ticks = len(alignment.clips), int(alignment.durations.sum())
        most = min(_MOST_CLIPS, _MOST_TICKS * clips // ticks) if ticks else _MOST_CLIPS
        return max(1, min(most, -(-clips // (_PARTS_PER_WORKER * self.workers()))))


def _states_of(
    bundle: tuple[Alignment, ...],
    first: Callable[[Alignment], list[bytes]],
    merge_states: Callable[[Sequence[bytes]], bytes],
) -> list[Any]:
    """Return the problems of some parts, and the states of their blocks. Few states are held at a time."""
    held: list[list[bytes]] = []
    problems: dict[str, None] = {}
    for part in bundle:
        states = first(part)
        problems |= dict.fromkeys(problems_of(states))
        held = held or [[] for _ in states]
        for of_block, state in zip(held, states, strict=True):
            of_block.append(state)
            if len(of_block) == _MERGED_AT_ONCE:
                of_block[:] = [merge_states(of_block)]
    return [(*problems,), *map(merge_states, held)]


def _as_they_are(_: int, deltas: dict[Criterion, Deltas]) -> dict[Criterion, Deltas]:
    return deltas


def _largest_false_alarms(part: Alignment, variant: PostProcessing | None) -> FloatArray | None:
    return largest_false_alarms(part, variant, 1)


_MERGED_AT_ONCE = 4


class MergeTree:
    """Merges the states of a block as they come, some at a time, and then the merged ones.

    ``merge_some``: starts the merging of some states, and returns what stands for the merged one.
    """

    def __init__(self, merge_some: Callable[..., Any]) -> None:
        self._merge_some = merge_some
        self._levels: list[list[Any]] = []

    def add(self, state: Any, level: int = 0) -> None:
        """Add a state, or one that is merged from others."""
        if level == len(self._levels):
            self._levels.append([])
        waiting = self._levels[level]
        waiting.append(state)
        if len(waiting) == _MERGED_AT_ONCE:
            self._levels[level] = []
            self.add(self._merge_some(*waiting), level + 1)

    def merged(self) -> Any:
        """Merge all that wait, and return what stands for the state of all."""
        states: list[Any] = []
        for waiting in self._levels:
            states = [*waiting, *states]
            if len(states) > 1:
                states = [self._merge_some(*states)]
        return states[0]
