"""The contract of an engine, and the parts of a data set that it may take one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np

from ..counting.deltas import Deltas
from ..counting.one_pass import PassPart, one_pass
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..postprocessing import PostProcessing
from ..progress import Progress

Item = TypeVar("Item")


class Engine(Protocol):
    """Runs the pass over all clips, and work on the deltas that it finds."""

    splits_clips: bool
    """Whether it passes through the clips in separate parts. Parts do not know each other's scores, so
    their floors do not rise, and good ones must be estimated beforehand."""
    threads: int
    """How many threads a block of work may use."""

    def for_system(self, name: str) -> Engine:
        """Return the engine for one of several systems: what it keeps is kept apart from the others'."""

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        """Pass through all clips once, and find the deltas above the requested floors."""

    def pass_in_parts(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> Iterator[PassPart]:
        """Do the same, and yield the deltas of some clips at a time, in order: they may be too many to hold
        together."""

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        """Return the largest scores of clips without references of the class, as (clips × classes); see
        :func:`~sedscope.counting.one_pass.largest_false_alarms`."""

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
    unlimited = {criterion: request.at_every_threshold() for criterion, request in requests.items()}
    return one_pass(part, unlimited, threads=threads)


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
