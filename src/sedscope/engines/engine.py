"""The engine of this process, which is the base of all engines, and parts of a set for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..alignment.alignment import Alignment
from ..counting.clip_reader import thread_count
from ..counting.deltas import Deltas
from ..counting.one_pass import PassPart, largest_false_alarms, one_pass, pass_in_parts
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..postprocessing import PostProcessing
from ..progress import Progress
from .run import Run

Item = TypeVar("Item")


class Engine:
    """Runs the pass over all clips, and work on the deltas that it finds, on the threads of this process.

    Other engines derive from it.
    """

    splits_clips: bool = False
    """Whether it passes through the clips in separate parts. Parts do not know each other's scores, so
    their floors do not rise, and good ones must be estimated beforehand."""
    on_cluster: bool = False
    """Whether it runs in other processes, which can count blocks of classes where their deltas lie."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = thread_count(threads)
        """How many threads a block of work may use."""

    def for_system(self, name: str) -> Engine:
        """Return the engine for one of several systems: what it keeps is kept apart from the others'."""
        return self

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        """Pass through all clips once, and find the deltas above the requested floors."""
        return one_pass(alignment, requests, threads=self.threads, progress=progress)

    def pass_in_parts(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> Iterator[PassPart]:
        """Do the same, and yield the deltas of some clips at a time, in order: they may be too many to hold
        together."""
        return pass_in_parts(alignment, requests, threads=self.threads, progress=progress)

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        """Return the largest scores of clips without references of the class, as (clips × classes); see
        :func:`~sedscope.counting.one_pass.largest_false_alarms`."""
        return largest_false_alarms(alignment, variant, self.threads)

    def map_blocks(
        self,
        work: Callable[[Item], FloatArray],
        blocks: Sequence[Item],
        key: Callable[[], str | None],
        progress: Progress | None,
    ) -> list[FloatArray]:
        """Apply a function to blocks of work that do not depend on each other, in order.

        ``key()`` identifies the work, for engines that keep its results; None if nothing can.
        """
        values = []
        for block in blocks:
            values.append(work(block))
            if progress:
                progress(len(values), len(blocks))
        return values


@contextmanager
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine of this process."""
    yield Engine(run.threads)


def clip_ranges(clips: int, size: int) -> Iterator[range]:
    """Split a number of clips into consecutive ranges of at most ``size``."""
    for first in range(0, clips, size):
        yield range(first, min(first + size, clips))


def part_of(alignment: Alignment, clips: range) -> Alignment:
    """Return the part of some clips, with only their scores, so that little travels to a worker."""
    part = alignment.choose(np.arange(clips.start, clips.stop))
    return replace(part, scores=alignment.scores.only(part.clips))


def part_deltas(
    part: Alignment, requests: Requests, threads: int | None = None
) -> dict[Criterion, Deltas]:
    """Find the deltas of a part above the requested floors.

    The floors do not rise, because a part does not know the scores of the others.
    """
    of_part = {c: request.of_part(len(part.classes)) for c, request in requests.items()}
    return one_pass(part, of_part, threads=threads)


def merge_parts(*parts: dict[Criterion, Deltas]) -> dict[Criterion, Deltas]:
    """Merge the deltas of the clips of all parts."""
    first, *others = parts
    return {
        criterion: deltas.merge(*(other[criterion] for other in others))
        for criterion, deltas in first.items()
    }


def by_variant(deltas: dict[Criterion, Deltas]) -> Iterator[PassPart]:
    """Yield the deltas of each criterion and variant apart."""
    for of_criterion in deltas.values():
        yield None, replace(of_criterion, variants={})
        yield from of_criterion.variants.items()
