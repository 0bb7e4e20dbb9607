"""The Dask engine: parts of the clips travel by name, states stay on the workers until they are merged."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial as bound
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..alignment.alignment import Alignment
from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..progress import ProblemLog, Progress
from .cluster import Bundle, ClusterEngine, MergeTree, WorkError
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
        futures = [self._submit(_apply, work, _Packed.of(item)) for item in items]
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
        first: Callable[[tuple[Alignment, ...]], list[Any]],
        bundles: Sequence[Bundle],
        merge_states: Callable[[Sequence[bytes]], bytes],
        last: Callable[[bytes, int], Finished],
        blocks: int,
        log: ProblemLog,
    ) -> list[Finished]:
        work, merging, finishing = map(_Packed.of, (first, merge_states, last))
        trees = [MergeTree(bound(self._submit, _merge, merging, priority=1)) for _ in range(blocks)]
        problems = []
        for bundle in bundles:
            states = self._submit(_states, work, _Packed.of(bundle))
            problems.append(self._submit(itemgetter(0), states, priority=1))
            for block, tree in enumerate(
                trees, 1
            ):  # merged before further parts begin: workers hold few
                tree.add(self._submit(itemgetter(block), states, priority=1))
        finished = [
            self._submit(_finish, finishing, tree.merged(), block, priority=1)
            for block, tree in enumerate(trees)
        ]
        del trees, tree, states  # nothing here may refer to states any longer
        sizes = [len(bundle.clips) for bundle in bundles]
        results: list[Finished] = self._results(finished, problems, bundles, sizes, log, log.add)
        return results

    def _results(
        self,
        finished: Sequence[Any],
        futures: Sequence[Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        progress: Progress | None,
        heard: Callable[..., None] | None = None,
    ) -> Any:
        """Wait for the first and the last futures, and return the results of the last."""
        try:
            wait_for(self.client, futures, finished, sizes, progress, heard)
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


@dataclass(frozen=True)
class _Packed:
    """A function, or what it is applied to, as bytes. The scheduler would hold the objects themselves, which
    are many times as large."""

    content: bytes

    @classmethod
    def of(cls, packed: Any) -> _Packed:
        return cls(zlib.compress(_pickling().dumps(packed), 1))

    def unpacked(self) -> Any:
        return _pickling().loads(zlib.decompress(self.content))


def _pickling() -> Any:
    """Return the module by which Dask itself sends functions and arguments."""
    return import_module("distributed.protocol.pickle")


def _apply(work: Callable[[Any], Any], item: _Packed) -> Any:
    return work(item.unpacked())


def _states(first: _Packed, bundle: _Packed) -> Any:
    return first.unpacked()(bundle.unpacked())


def _merge(merge_states: _Packed, *states: bytes) -> Any:
    return merge_states.unpacked()(states)


def _finish(last: _Packed, state: bytes, block: int) -> Any:
    return last.unpacked()(state, block)


@contextmanager
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine on the cluster of the options, or on one of this machine."""
    with client_of(run.scheduler, run.threads) as client:
        yield DaskEngine(client, checkpoint=run.checkpoint)


def _message(error: Exception, failed: Any) -> str:
    """Say what happened to a part that failed, and what a user can do about it."""
    where = f" on {failed}" if isinstance(failed, Bundle) else ""
    if isinstance(error, distributed_package().KilledWorker):
        return (
            f"Workers died repeatedly{where}, perhaps because they ran out of memory. Give them more "
            "memory."
        )
    if isinstance(error, MemoryError):
        return f"A worker ran out of memory{where}. Give it more memory."
    return f"A worker failed{where}: {type(error).__name__}: {error}"
