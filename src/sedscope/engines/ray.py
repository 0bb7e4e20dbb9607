"""The Ray engine: the three functions as tasks; states stay in Ray's object stores until they are merged."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial as bound
from pathlib import Path
from typing import Any

from ..alignment.alignment import Alignment
from ..counting.clip_reader import thread_count
from ..errors import SedscopeError
from ..progress import ProblemLog, Progress
from .cluster import Bundle, ClusterEngine, MergeTree, WorkError
from .engine import Engine
from .run import Run
from .states import Finished

_RETRIES = 3
_POLL = 0.5  # seconds


class RayEngine(ClusterEngine):
    """Runs the pass on the workers of a Ray cluster, to which this process is connected."""

    def __init__(self, *, checkpoint: str | Path | None = None) -> None:
        super().__init__(checkpoint=checkpoint)
        self.ray = _package()

    def workers(self) -> int:
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    def map(
        self,
        work: Callable[[Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        progress: Progress | None,
    ) -> list[Any]:
        task, shared = self._task(_apply), self.ray.put(work)
        futures = [task.remote(shared, item) for item in items]
        return self._results(futures, futures, sizes, progress)

    def reduce(
        self,
        first: Callable[[tuple[Alignment, ...]], list[Any]],
        bundles: Sequence[Bundle],
        merge_states: Callable[[Sequence[bytes]], bytes],
        last: Callable[[bytes, int], Finished],
        blocks: int,
        log: ProblemLog,
    ) -> list[Finished]:
        work, merging, finishing = map(self.ray.put, (first, merge_states, last))
        task = self._task(_states, num_returns=1 + blocks)
        merge_some, finish_one = (self._task(work).remote for work in (_merge, _finish))
        trees = [MergeTree(bound(merge_some, merging)) for _ in range(blocks)]
        problems = []
        for bundle in bundles:
            of_bundle, *states = task.remote(work, bundle)
            problems.append(of_bundle)
            for tree, state in zip(trees, states, strict=True):
                tree.add(state)
        finished = [finish_one(finishing, tree.merged(), block) for block, tree in enumerate(trees)]
        del trees, tree, states, state  # merged states are kept on the cluster, and no others
        return self._results(finished, problems, [len(bundle.clips) for bundle in bundles], log, log.add)

    def _task(self, work: Callable[..., Any], num_returns: int = 1) -> Any:
        return self.ray.remote(work).options(num_cpus=1, max_retries=_RETRIES, num_returns=num_returns)

    def _results(
        self,
        finished: Sequence[Any],
        futures: Sequence[Any],
        sizes: Sequence[int],
        progress: Progress | None,
        heard: Callable[..., None] | None = None,
    ) -> list[Any]:
        """Wait for the first and the last tasks, and return the results of the last.

        ``heard``: gets what each of the first returns.
        """
        waiting, total, done = dict(zip(futures, sizes, strict=True)), sum(sizes), 0
        if progress:
            progress(0, total)
        try:
            while waiting:
                ready, _ = self.ray.wait([*waiting], timeout=_POLL, fetch_local=False)
                done += sum(map(waiting.pop, ready))
                if heard:
                    heard(*itertools.chain(*self.ray.get(ready)))
                if progress:  # whether or not there is more: a log has a line every ten seconds
                    progress(done, total)
            results: list[Any] = self.ray.get([*finished])
        except self.ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, SedscopeError):
                raise cause from None
            raise WorkError(f"A worker failed: {type(cause).__name__}: {cause}") from error
        except self.ray.exceptions.RayError as error:
            reason = str(error).splitlines()[0]
            raise WorkError(
                f"Workers died repeatedly, perhaps because they ran out of memory: {reason}"
            ) from error
        return results


def _apply(work: Callable[[Any], Any], item: Any) -> Any:
    return work(item)


def _states(first: Callable[[tuple[Alignment, ...]], list[Any]], bundle: tuple[Alignment, ...]) -> Any:
    return (*first(bundle),)


def _merge(merge_states: Callable[[Sequence[bytes]], bytes], *states: bytes) -> bytes:
    return merge_states(states)


def _finish(last: Callable[[bytes, int], Finished], state: bytes, block: int) -> Finished:
    return last(state, block)


def _package() -> Any:
    try:
        import ray
    except ImportError:
        raise SedscopeError("engine='ray' needs the package ray: pip install 'sedscope[ray]'") from None
    return ray


@contextmanager
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine on the Ray cluster that this process is connected to, on that of an address, or on one
    of this machine, which is stopped at the end."""
    ray = _package()
    connected = ray.is_initialized()
    if not connected:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if run.scheduler is None:
            options |= {"num_cpus": thread_count(run.threads), "include_dashboard": False}
            options["runtime_env"] = {"py_executable": sys.executable}
        else:
            options["address"] = str(run.scheduler)
        try:
            ray.init(**options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise SedscopeError(f"There is no Ray cluster at {run.scheduler}: {error}") from None
    try:
        yield RayEngine(checkpoint=run.checkpoint)
    finally:
        if not connected:
            ray.shutdown()
