"""The Dask engine: workers of a cluster receive parts of the clips by name, and return merged deltas."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..counting.deltas import Deltas
from ..counting.one_pass import largest_false_alarms
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..data.progress import Progress
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from .dask_client import PATIENCE, client_of, distributed_package
from .engine import Engine, Item
from .options import RunOptions
from .parts import clip_ranges, merge_parts, part_deltas, part_of

_PARTS_PER_THREAD = 4
_MOST_CLIPS = 512
_MERGED_AT_ONCE = 4
_RETRIES = 2
_POLL = 0.02  # seconds


class DaskEngine:
    """Runs the pass on the workers of a cluster.

    ``client``: a ``distributed.Client``. Scores that come from files travel as paths, which every worker
    must be able to open; the client reads none of them.
    """

    splits_clips = True
    threads = 1  # the workers' own threads run several blocks at a time

    def __init__(self, client: Any, *, clips_per_part: int | None = None) -> None:
        self.client = client
        self.clips_per_part = clips_per_part

    def for_system(self, name: str) -> Engine:
        return self

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        parts = self._parts(alignment)
        futures = [self._submit(_part_deltas, part, dict(requests)) for part in parts]
        merged = self._merge_as_tree(futures)
        try:
            _wait(self.client, [*futures, merged], [len(part.clips) for part in parts], progress)
            deltas: dict[Criterion, Deltas] = merged.result()
        except BaseException as error:
            pairs = zip(futures, parts, strict=True)
            failed = next((part for future, part in pairs if future.status == "error"), None)
            for future in (merged, *futures):
                future.release()  # work that has not begun is not done
            if isinstance(error, SedscopeError) or not isinstance(error, Exception):
                raise
            raise SedscopeError(_message(error, failed)) from error
        return deltas

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        parts = self._parts(alignment)
        futures = [self._submit(largest_false_alarms, part, variant, 1) for part in parts]
        try:
            _wait(self.client, futures, [len(part.clips) for part in parts], None)
            maxima = self.client.gather(futures)
        except SedscopeError:
            raise
        except Exception:
            return None  # the pass over all clips reports why
        finally:
            for future in futures:
                future.release()
        return None if any(array is None for array in maxima) else np.concatenate(maxima)

    def map_blocks(
        self,
        work: Callable[[Item], FloatArray],
        blocks: Sequence[Item],
        key: Callable[[], str | None],
        progress: Progress | None,
    ) -> list[FloatArray]:
        shared = self.client.scatter(work, broadcast=True, hash=False)
        futures = [self._submit(_apply, shared, block) for block in blocks]
        try:
            _wait(self.client, futures, [1] * len(blocks), progress)
            values: list[FloatArray] = self.client.gather(futures)
        except Exception as error:
            if isinstance(error, SedscopeError):
                raise
            raise SedscopeError(_message(error, None)) from error
        finally:
            for future in (*futures, shared):
                future.release()
        return values

    def _parts(self, alignment: Alignment) -> list[Alignment]:
        workers = sum(self.client.nthreads().values()) or 1
        clips = len(alignment.clips)
        size = max(1, min(_MOST_CLIPS, -(-clips // (_PARTS_PER_THREAD * workers))))
        return [part_of(alignment, part) for part in clip_ranges(clips, self.clips_per_part or size)]

    def _submit(self, work: Any, *arguments: Any) -> Any:
        return self.client.submit(work, *arguments, retries=_RETRIES, pure=False)

    def _merge_as_tree(self, futures: Sequence[Any]) -> Any:
        """Merge neighbours, then the merged ones, until one is left."""
        level = futures
        while len(level) > 1:
            groups = [level[i : i + _MERGED_AT_ONCE] for i in range(0, len(level), _MERGED_AT_ONCE)]
            level = [
                self._submit(merge_parts, *group) if len(group) > 1 else group[0] for group in groups
            ]
        return level[0]


def _part_deltas(part: Alignment, requests: Requests) -> dict[Criterion, Deltas]:
    return part_deltas(part, requests, threads=1)


def _apply(work: Callable[[Item], FloatArray], block: Item) -> FloatArray:
    return work(block)


@contextmanager
def open_engine(options: RunOptions) -> Iterator[Engine]:
    """Open the engine on the cluster of the options, or on one of this machine."""
    if options.checkpoint is not None:
        raise SedscopeError("A checkpoint is for one machine. Use it with engine='threads'.")
    with client_of(options.scheduler, options.threads) as client:
        yield DaskEngine(client)


def _wait(client: Any, futures: Sequence[Any], sizes: Sequence[int], progress: Progress | None) -> None:
    """Wait for all futures, and raise the error of the first that fails.

    ``sizes``: the number of clips of the first futures; further futures count for none.
    """
    clips = {future.key: size for future, size in zip(futures, sizes, strict=False)}
    done, total = 0, sum(sizes)
    if progress:
        progress(0, total)
    watch = _Watch(client)
    distinct = {future.key: future for future in futures}
    completed = distributed_package().as_completed([*distinct.values()])
    while not completed.is_empty():
        if not completed.has_ready():
            time.sleep(_POLL)
            watch.check()
            continue
        for future in completed.next_batch(block=False):
            if future.status != "finished":
                future.result()  # raises its error
            done += clips.get(future.key, 0)
            if progress:
                progress(done, total)


class _Watch:
    """Notices when no worker is running: workers pause before they run out of memory, perhaps forever."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._next = time.monotonic() + 1
        self._idle_since: float | None = None
        self._had_workers = False

    def check(self) -> None:
        """Raise an error if all workers have stopped for a while. Before the first worker, just wait."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 1
        workers, running = self._client.run_on_scheduler(_workers)
        self._had_workers = self._had_workers or workers > 0
        if running or not self._had_workers:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since > PATIENCE:
            raise SedscopeError(
                "All workers are gone, or have paused because their memory is nearly full. Give them more "
                "memory."
            )


def _workers(dask_scheduler: Any) -> tuple[int, int]:
    """Count the workers, and those that are running or busy."""
    workers = dask_scheduler.workers.values()
    return len(workers), sum(
        worker.status.name == "running" or bool(worker.executing) for worker in workers
    )


def _message(error: Exception, failed: Alignment | None) -> str:
    """Say what happened to a part that failed, and what a user can do about it."""
    where = "" if failed is None else f" on clips {failed.clips[0]} … {failed.clips[-1]}"
    if isinstance(error, distributed_package().KilledWorker):
        return (
            f"Workers died repeatedly{where}, perhaps because they ran out of memory. Give them more "
            "memory."
        )
    if isinstance(error, MemoryError):
        return f"A worker ran out of memory{where}. Give it more memory."
    return f"A worker failed{where}: {type(error).__name__}: {error}"
