"""Clients of a Dask cluster, and waiting for it, but not forever."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any

from ..counting.clip_reader import thread_count
from ..errors import SedscopeError
from ..progress import Progress

PATIENCE = 20  # seconds


@contextmanager
def client_of(scheduler: Any, threads: int | None) -> Iterator[Any]:
    """Return a client of the cluster at an address, or the client itself.

    Without either, start a cluster of processes on this machine, and stop it afterwards.
    """
    distributed = distributed_package()
    if isinstance(scheduler, distributed.Client):
        yield scheduler
        return
    cluster = None
    new_processes = _safe_import_path() if scheduler is None else nullcontext()
    with new_processes, ExitStack() as closing:
        try:
            if scheduler is not None:
                client = closing.enter_context(_client_at(str(scheduler)))
            else:
                cluster = closing.enter_context(_local_cluster())
                client = closing.enter_context(distributed.Client(cluster))
                cluster.scale(thread_count(threads))
                _wait_for_workers(client)
            yield client
        except KeyboardInterrupt:
            if cluster is not None:
                cluster.shutdown_on_close = False  # do not wait for it at the end
                _kill_workers(cluster)  # otherwise they finish what they have begun
            threading.Thread(target=_close, args=(closing.pop_all(),), daemon=True).start()
            raise


def _client_at(address: str) -> Any:
    class Client(distributed_package().Client):  # type: ignore[misc]
        """A client that does not wait forever for the first answer, which Dask's own timeout leaves out."""

        def start(self, **options: Any) -> None:
            try:
                super().start(callback_timeout=PATIENCE, **options)
            except BaseException:
                self.close(timeout=1)
                raise

    try:
        return Client(address, timeout="10s")
    except Exception as error:  # what is not a scheduler may answer anything
        reason = str(error) or "timed out"
        if not isinstance(error, (OSError, ValueError, asyncio.TimeoutError)):
            reason = "another service answers."
        raise SedscopeError(f"There is no Dask scheduler at {address}: {reason}") from None


@contextmanager
def _safe_import_path() -> Iterator[None]:
    """Let new processes import nothing from the current folder while they start. Afterwards they have the
    path of this process. Needs Python 3.11."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _local_cluster() -> Any:
    with _without_interrupts():
        return distributed_package().LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs="CRITICAL",
            config={"distributed.worker.profile.enabled": False},  # which grows with the time
        )


def _wait_for_workers(client: Any) -> None:
    import asyncio

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except (TimeoutError, asyncio.TimeoutError):
        raise SedscopeError(
            f"No worker has started within {PATIENCE} s. Is there memory left on this machine?"
        ) from None


def _close(stopped: ExitStack) -> None:
    """Close a cluster whose workers are gone, without its log messages."""
    handlers = [*logging.getLogger("distributed").handlers]
    for handler in handlers:
        handler.addFilter(_nothing)
    with suppress(Exception):
        stopped.close()
    time.sleep(1)  # the last messages arrive late
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
    """Hide Ctrl-C from threads and processes that are started in this block: it is for the client.

    An interrupt that arrives meanwhile is delivered afterwards.
    """
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
    """Start the process that cleans up after this one. If it started later, it would unblock the signal,
    and warn about what an interrupted program leaves behind."""
    from multiprocessing import resource_tracker

    sys.warnoptions.append("ignore:resource_tracker:UserWarning")  # inherited by it
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()


def distributed_package() -> Any:
    """Import the package ``distributed``."""
    try:
        import distributed
    except ImportError:
        raise SedscopeError(
            "engine='dask' needs the packages dask and distributed: pip install 'sedscope[dask]'"
        ) from None
    return distributed


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

    def check(self) -> bool:
        """Look at the cluster about once a second, and raise an error if it has not worked for a while.

        Return whether it was time to look.
        """
        now = time.monotonic()
        if now < self._next:
            return False
        problem = self._problem()
        if problem is None:
            self._stopped_since = None
        elif self._stopped_since is None:
            self._stopped_since = now
        elif time.monotonic() - self._stopped_since > PATIENCE:
            raise SedscopeError(f"{problem} (The evaluation waited {PATIENCE} s.)")
        self._next = time.monotonic() + 1
        return True

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
    client: Any,
    futures: Sequence[Any],
    results: Sequence[Any],
    sizes: Sequence[int],
    progress: Progress | None,
    heard: Callable[..., None] | None = None,
) -> None:
    """Wait for futures and for results that depend on them, and raise the error of the first that fails.

    ``sizes``: by how much each future advances the progress. ``heard``: gets what each of them returns. What
    is no result is not kept on the cluster any longer than others need it.
    """
    clips = {future.key: size for future, size in zip(futures, sizes, strict=False)}
    done, total = 0, sum(sizes)
    if progress:
        progress(0, total)
    watch = ClusterWatch(client)
    kept = {future.key: future for future in results}
    distinct = {future.key: future for future in futures} | kept
    completed = distributed_package().as_completed([*distinct.values()])
    while not completed.is_empty():
        if not completed.has_ready():
            time.sleep(_POLL)
            if watch.check() and progress:  # though there is no more: a log has a line every ten seconds
                progress(done, total)
            continue
        for future in completed.next_batch(block=False):
            if future.status != "finished" or (heard and future.key in clips):
                returned = run_watched(client, future._result())  # or raises its error
                if heard:
                    heard(*returned)
            if future.key not in kept:
                future.release()
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
