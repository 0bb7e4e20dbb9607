"""The Dask engine: parts of the clips travel by name, states stay on the workers until they are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial as bound
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..alignment.alignment import Alignment
from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..progress import Progress
from .cluster import ClusterEngine, WorkError, merged_as_tree
from .dask_client import client_of, count_threads, distributed_package, run_watched, wait_for
from .engine import Engine, Item
from .run import Run
from .states import Finished

_RETRIES = 2


class DaskEngine(ClusterEngine):
    """Runs the pass on the workers of a Dask cluster. ``client``: a ``distributed.Client``."""

    def __init__(
        self, client: Any, *, clips_per_part: int | None = None, checkpoint: str | Path | None = None
    ) -> None:
        super().__init__(clips_per_part=clips_per_part, checkpoint=checkpoint)
        self.client = client

    def workers(self) -> int:
        return count_threads(self.client)

    def map(
        self,
        work: Callable[[Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        progress: Progress | None,
    ) -> list[Any]:
        futures = [self._submit(_apply, work, item) for item in items]
        results: list[Any] = self._results(futures, futures, items, sizes, progress)
        return results

    def map_blocks(
        self,
        work: Callable[[Item], FloatArray],
        blocks: Sequence[Item],
        key: Callable[[], str | None],
        progress: Progress | None,
    ) -> list[FloatArray]:
        scatter = self.client.scatter(work, broadcast=True, hash=False, asynchronous=True)
        shared = run_watched(self.client, scatter)
        try:
            return super().map_blocks(shared, blocks, key, progress)
        finally:
            shared.release()

    def reduce(
        self,
        first: Callable[[Alignment], list[bytes]],
        parts: Sequence[Alignment],
        merge_states: Callable[[Sequence[bytes]], bytes],
        last: Callable[[bytes, int], Finished],
        blocks: int,
        progress: Progress | None,
    ) -> list[Finished]:
        futures = [self._submit(first, part) for part in parts]
        finished = []
        for block in range(blocks):
            # states are merged before further parts begin, so that workers hold few of them
            states = [self._submit(itemgetter(block), future, priority=1) for future in futures]
            merged = merged_as_tree(states, bound(self._submit, _merge, merge_states, priority=1))
            finished.append(self._submit(last, merged, block, priority=1))
        sizes = [len(part.clips) for part in parts]
        results: list[Finished] = self._results(finished, futures, parts, sizes, progress)
        return results

    def _results(
        self,
        finished: Sequence[Any],
        futures: Sequence[Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        progress: Progress | None,
    ) -> Any:
        """Wait for the first and the last futures, and return the results of the last."""
        try:
            wait_for(self.client, futures, finished, sizes, progress)
            return run_watched(self.client, self.client.gather(finished, asynchronous=True))
        except Exception as error:
            if isinstance(error, SedscopeError):
                raise
            pairs = zip(futures, items, strict=True)
            failed = next((item for future, item in pairs if future.status == "error"), None)
            raise WorkError(_message(error, failed)) from error
        finally:
            for future in (*finished, *futures):
                future.release()  # work that has not begun is not done

    def _submit(self, work: Any, *arguments: Any, priority: int = 0) -> Any:
        return self.client.submit(work, *arguments, retries=_RETRIES, pure=False, priority=priority)


def _merge(merge_states: Callable[[Sequence[bytes]], bytes], *states: bytes) -> bytes:
    return merge_states(states)


def _apply(work: Callable[[Any], Any], item: Any) -> Any:
    return work(item)


@contextmanager
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine on the cluster of the options, or on one of this machine."""
    with client_of(run.scheduler, run.threads) as client:
        yield DaskEngine(client, checkpoint=run.checkpoint)


def _message(error: Exception, failed: Any) -> str:
    """Say what happened to a part that failed, and what a user can do about it."""
    where = (
        "" if not isinstance(failed, Alignment) else f" on clips {failed.clips[0]} … {failed.clips[-1]}"
    )
    if isinstance(error, distributed_package().KilledWorker):
        return (
            f"Workers died repeatedly{where}, perhaps because they ran out of memory. Give them more "
            "memory."
        )
    if isinstance(error, MemoryError):
        return f"A worker ran out of memory{where}. Give it more memory."
    return f"A worker failed{where}: {type(error).__name__}: {error}"
