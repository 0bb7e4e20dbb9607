"""The threads engine: the pass runs in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..counting.clip_reader import thread_count
from ..counting.deltas import Deltas
from ..counting.one_pass import PassPart, largest_false_alarms, one_pass, pass_in_parts
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from ..progress import Progress
from .engine import Engine, Item
from .run import Run


class ThreadsEngine:
    """Runs everything on the threads of this process."""

    splits_clips = False

    def __init__(self, threads: int | None = None) -> None:
        self.threads = thread_count(threads)

    def for_system(self, name: str) -> Engine:
        return self

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        return one_pass(alignment, requests, threads=self.threads, progress=progress)

    def pass_in_parts(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> Iterator[PassPart]:
        return pass_in_parts(alignment, requests, threads=self.threads, progress=progress)

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        return largest_false_alarms(alignment, variant, self.threads)

    def map_blocks(
        self,
        work: Callable[[Item], FloatArray],
        blocks: Sequence[Item],
        key: Callable[[], str | None],
        progress: Progress | None,
    ) -> list[FloatArray]:
        values = []
        for block in blocks:
            values.append(work(block))
            if progress:
                progress(len(values), len(blocks))
        return values


@contextmanager
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine for some options: with a checkpoint, one that keeps its parts in a folder."""
    if run.scheduler is not None:
        raise SedscopeError("A scheduler only applies to engine='dask' (--engine dask).")
    if run.checkpoint is None:
        yield ThreadsEngine(run.threads)
    else:
        from .checkpoint import CheckpointEngine

        yield CheckpointEngine(run.checkpoint, threads=run.threads)
