"""Clients of a Dask cluster: of one that is running, or of one that is started on this machine."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from ..counting.threads import thread_count
from ..errors import SedscopeError

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
    with ExitStack() as closing:
        try:
            if scheduler is not None:
                client = closing.enter_context(_client_at(str(scheduler)))
            else:
                closing.enter_context(_safe_import_path())
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
        reason = error if isinstance(error, (OSError, ValueError)) else "another service answers."
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
            n_workers=0, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
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
