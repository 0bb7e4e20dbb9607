"""On a Dask cluster: parts of the clips go to workers by name, merged deltas come back."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from ..alignment import Alignment
from ..batches import Progress
from ..criteria import Criterion
from ..errors import SedscopeError
from ..gathering import Wanted
from .parts import Found, find, merge, part_of, ranges

_PARTS_PER_THREAD = 4
_MOST_CLIPS = 512
_MERGED_AT_ONCE = 4
_RETRIES = 2
_LOOK_UP = 0.02  # seconds
_PATIENCE = 30  # seconds


class DaskEngine:
    """Goes through the clips on a cluster.

    ``scheduler``: its address or a ``distributed.Client``; unless given, a cluster of processes is
    started on this machine and stopped afterwards. Scores that are read from files travel as paths,
    which every worker must be able to open.
    """

    def __init__(self, scheduler: Any = None, *, clips_per_part: int | None = None) -> None:
        self.scheduler = scheduler
        self.clips_per_part = clips_per_part

    def __call__(
        self,
        alignment: Alignment,
        wanted: Mapping[Criterion, Wanted],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Found:
        """See :class:`~sedscope.collect.Engine`."""
        with _client(self.scheduler, threads) as client:
            size = self.clips_per_part or _part_size(len(alignment.clips), client)
            parts = [part_of(alignment, clips) for clips in ranges(len(alignment.clips), size)]
            found = [
                client.submit(_find, part, dict(wanted), retries=_RETRIES, pure=False) for part in parts
            ]
            merged = _merged_as_a_tree(client, found)
            try:
                _wait(client, merged, found, [len(part.clips) for part in parts], progress)
                result: Found = merged.result()
            except BaseException as error:
                failed = next(
                    (
                        part
                        for future, part in zip(found, parts, strict=True)
                        if future.status == "error"
                    ),
                    None,
                )
                for future in (merged, *found):
                    future.release()  # what has not begun is not done
                if isinstance(error, SedscopeError) or not isinstance(error, Exception):
                    raise
                raise SedscopeError(_said(error, failed)) from error
        return result


def _find(part: Alignment, wanted: Mapping[Criterion, Wanted]) -> Found:
    return find(part, wanted, threads=1)


def _merged_as_a_tree(client: Any, found: list[Any]) -> Any:
    """Neighbours are merged, then the merged ones, until one is left."""
    level = found
    while len(level) > 1:
        level = [
            client.submit(merge, *level[i : i + _MERGED_AT_ONCE], retries=_RETRIES, pure=False)
            if len(level[i : i + _MERGED_AT_ONCE]) > 1
            else level[i]
            for i in range(0, len(level), _MERGED_AT_ONCE)
        ]
    return level[0]


def _wait(
    client: Any, merged: Any, found: list[Any], sizes: list[int], progress: Progress | None
) -> None:
    """Wait for all parts and what is merged of them; the first that fails is raised."""
    clips = {future.key: size for future, size in zip(found, sizes, strict=True)}
    done, total = 0, sum(sizes)
    if progress:
        progress(0, total)
    watch = _Watch(client)
    completed = _distributed().as_completed([*found, merged] if merged is not found[0] else found)
    while not completed.is_empty():
        if not completed.has_ready():
            time.sleep(_LOOK_UP)
            watch.look()
            continue
        for future in completed.next_batch(block=False):
            if future.status != "finished":
                future.result()  # raises what went wrong
            done += clips.get(future.key, 0)
            if progress:
                progress(done, total)


class _Watch:
    """Notices when nobody works any more: before workers run out of memory, they stop and wait."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._next = time.monotonic() + 1
        self._idle_since: float | None = None
        self._known = False

    def look(self) -> None:
        """Refuse to wait for workers that all have stopped; those still to come are waited for."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 1
        workers, at_work = self._client.run_on_scheduler(_workers)
        self._known = self._known or workers > 0
        if at_work or not self._known:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since > _PATIENCE:
            raise SedscopeError(
                "all workers are gone, or have stopped because their memory is nearly full: give them "
                "more memory"
            )


def _workers(dask_scheduler: Any) -> tuple[int, int]:
    """How many workers there are, and how many of them can work or are at it."""
    workers = dask_scheduler.workers.values()
    return len(workers), sum(w.status.name == "running" or bool(w.executing) for w in workers)


def _said(error: Exception, failed: Alignment | None) -> str:
    """What a user can do about a part that failed."""
    where = "" if failed is None else f" on clips {failed.clips[0]} … {failed.clips[-1]}"
    if isinstance(error, _distributed().KilledWorker):
        return (
            f"workers died again and again{where}, perhaps because they ran out of memory: give them "
            "more"
        )
    if isinstance(error, MemoryError):
        return f"a worker ran out of memory{where}: give it more"
    return f"a worker failed{where}: {type(error).__name__}: {error}"


def _part_size(clips: int, client: Any) -> int:
    workers = sum(client.nthreads().values()) or 1
    return max(1, min(_MOST_CLIPS, -(-clips // (_PARTS_PER_THREAD * workers))))


@contextmanager
def _client(scheduler: Any, threads: int | None) -> Iterator[Any]:
    """A client of the given cluster, or of one of its own."""
    distributed = _distributed()
    if isinstance(scheduler, distributed.Client):
        yield scheduler
        return
    if scheduler is not None:
        try:
            client = distributed.Client(str(scheduler), timeout="10s")
        except (OSError, ValueError) as error:
            raise SedscopeError(f"no Dask scheduler at {scheduler}: {error}") from None
        with client:
            yield client
        return
    from ..threads import thread_count

    with _without_interrupts():
        cluster = distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        )
    with ExitStack() as closing:
        closing.enter_context(cluster)
        client = closing.enter_context(distributed.Client(cluster))
        try:
            cluster.scale(thread_count(threads))
            _wait_for_workers(client)
            yield client
        except KeyboardInterrupt:
            cluster.shutdown_on_close = False  # nobody waits for it at the end
            _kill_workers(cluster)  # else they finish what they have begun
            threading.Thread(target=_close, args=(closing.pop_all(),), daemon=True).start()
            raise


def _wait_for_workers(client: Any) -> None:
    import asyncio

    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except (TimeoutError, asyncio.TimeoutError):
        raise SedscopeError(
            f"no worker has started within {_PATIENCE} s; is there memory left on this machine?"
        ) from None


def _close(stopped: ExitStack) -> None:
    """Close a cluster whose workers are gone, of which nobody wants to hear."""
    handlers = [*logging.getLogger("distributed").handlers]
    for handler in handlers:
        handler.addFilter(_nothing)
    with suppress(Exception):
        stopped.close()
    time.sleep(1)  # the last messages come late
    for handler in handlers:
        handler.removeFilter(_nothing)


def _nothing(_: logging.LogRecord) -> bool:
    return False


def _kill_workers(cluster: Any) -> None:
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, getattr(signal, "SIGKILL", signal.SIGTERM))


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Threads that are started here, and what they start, do not see Ctrl-C, which is for the client;
    one that comes meanwhile is not lost."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    _start_tracker()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_tracker() -> None:
    """Start the process that cleans up after this one. Started later, it would unblock the signal, and
    complain of what an interrupted program leaves to it."""
    from multiprocessing import resource_tracker

    sys.warnoptions.append("ignore:resource_tracker:UserWarning")  # handed on to it
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise SedscopeError(
            "engine='dask' needs the packages dask and distributed: pip install 'sedscope[dask]'"
        ) from None
    return distributed
