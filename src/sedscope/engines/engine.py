"""The contract of an engine: a place where the pass over the clips runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from ..counting.deltas import Deltas
from ..counting.one_pass import PassPart
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..data.progress import Progress
from ..postprocessing import PostProcessing

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
