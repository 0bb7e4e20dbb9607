"""Waiting for a Dask cluster, but not forever: a cluster that has stopped working ends in an error."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Awaitable, Sequence
from typing import Any

from ..data.progress import Progress
from ..errors import SedscopeError
from .dask_client import PATIENCE, distributed_package

_POLL = 0.02  # seconds
_SILENCE = 5  # seconds without a sign of life after which a worker does not count
_NO_WORKERS = (
    "The Dask cluster has no workers. Start workers that can import sedscope, and wait for them with "
    "client.wait_for_workers(1)."
)
_NO_ABLE_WORKERS = (
    "All Dask workers are gone, or frozen, or have paused because their memory is nearly full. Look at "
    "their logs, and give them more memory."
)
_NO_SCHEDULER = "The Dask scheduler does not answer. Is it running?"


class ClusterWatch:
    """Notices when a cluster stops working: it has no workers, or none that can work, or no scheduler.

    A worker that does not respond is removed from the cluster, so that others do its work.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._next = time.monotonic() + 1
        self._stopped_since: float | None = None
        self._workers: set[str] = set()  # all that have ever been there

    def check(self) -> None:
        """Raise an error if the cluster has not worked for a while."""
        now = time.monotonic()
        if now < self._next:
            return
        problem = self._problem()
        if problem is None:
            self._stopped_since = None
        elif self._stopped_since is None:
            self._stopped_since = now
        elif time.monotonic() - self._stopped_since > PATIENCE:
            raise SedscopeError(f"{problem} (The evaluation waited {PATIENCE} s.)")
        self._next = time.monotonic() + 1

    def _problem(self) -> str | None:
        try:
            workers, able = self._client.run_on_scheduler(
                _look_at_workers, PATIENCE, callback_timeout=_SILENCE
            )
        except (TimeoutError, asyncio.TimeoutError, OSError):
            return _NO_SCHEDULER
        new = not self._workers.issuperset(workers)
        self._workers.update(workers)
        if able or new:
            return None
        return _NO_ABLE_WORKERS if self._workers else _NO_WORKERS


async def _look_at_workers(patience: float, dask_scheduler: Any) -> tuple[list[str], int]:
    """Return the workers, and how many can work. Take those off that are silent for long."""
    from distributed.metrics import time as scheduler_time

    workers, able = [*dask_scheduler.workers.values()], 0
    for worker in workers:
        silence = scheduler_time() - worker.last_seen
        if silence > patience:
            await dask_scheduler.remove_worker(worker.address, stimulus_id="sedscope-silent-worker")
        elif silence <= _SILENCE:
            able += worker.status.name == "running" or bool(worker.executing)
    return [worker.server_id for worker in workers], able


def count_threads(client: Any) -> int:
    """Return the number of threads of all workers; 1 if there are none yet."""
    try:
        threads: int = client.run_on_scheduler(_count_threads, callback_timeout=PATIENCE)
    except (TimeoutError, asyncio.TimeoutError, OSError):
        raise SedscopeError(_NO_SCHEDULER) from None
    return threads or 1


def _count_threads(dask_scheduler: Any) -> int:
    return sum(worker.nthreads for worker in dask_scheduler.workers.values())


def wait_for(
    client: Any, futures: Sequence[Any], sizes: Sequence[int], progress: Progress | None
) -> None:
    """Wait for all futures, and raise the error of the first that fails.

    ``sizes``: the number of clips of the first futures; further futures count for none.
    """
    clips = {future.key: size for future, size in zip(futures, sizes, strict=False)}
    done, total = 0, sum(sizes)
    if progress:
        progress(0, total)
    watch = ClusterWatch(client)
    distinct = {future.key: future for future in futures}
    completed = distributed_package().as_completed([*distinct.values()])
    while not completed.is_empty():
        if not completed.has_ready():
            time.sleep(_POLL)
            watch.check()
            continue
        for future in completed.next_batch(block=False):
            if future.status != "finished":
                run_watched(client, future._result())  # raises its error
            done += clips.get(future.key, 0)
            if progress:
                progress(done, total)


def run_watched(client: Any, work: Awaitable[Any]) -> Any:
    """Run a coroutine of the client to its end, and return its result."""
    watch = ClusterWatch(client)

    async def run() -> Any:
        return await work

    running = asyncio.run_coroutine_threadsafe(run(), client.loop.asyncio_loop)
    try:
        while not concurrent.futures.wait([running], timeout=_POLL).done:
            watch.check()
    except BaseException:
        running.cancel()
        raise
    return running.result()
