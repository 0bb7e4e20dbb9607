"""The Dask engine: workers of a cluster receive parts of the clips by name, and return merged deltas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..counting.deltas import Deltas
from ..counting.one_pass import PassPart, largest_false_alarms
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from ..progress import Progress, StagedProgress
from .dask_client import client_of, count_threads, distributed_package, run_watched, wait_for
from .engine import Engine, Item, by_variant, clip_ranges, merge_parts, part_deltas, part_of
from .run import Run

_PARTS_PER_THREAD = 4
_MOST_CLIPS = 512
_MERGED_AT_ONCE = 4
_CLIPS_AT_ONCE = 2048  # whose deltas are held together, where those of all clips would be too many
_RETRIES = 2


class DaskEngine(Engine):
    """Runs the pass on the workers of a cluster.

    ``client``: a ``distributed.Client``. Scores that come from files travel as paths, which every worker
    must be able to open; the client reads none of them.
    """

    splits_clips = True

    def __init__(self, client: Any, *, clips_per_part: int | None = None) -> None:
        super().__init__(threads=1)  # the workers' own threads run several blocks at a time
        self.client = client
        self.clips_per_part = clips_per_part

    def run_pass(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> dict[Criterion, Deltas]:
        parts = self._parts(alignment)
        futures = [self._submit(_part_deltas, part, dict(requests)) for part in parts]
        merged = self._merge_as_tree(futures)
        try:
            wait_for(self.client, [*futures, merged], [len(part.clips) for part in parts], progress)
            deltas: dict[Criterion, Deltas] = self._gather(merged)
        except BaseException as error:
            pairs = zip(futures, parts, strict=True)
            failed = next((part for future, part in pairs if future.status == "error"), None)
            for future in (merged, *futures):
                future.release()  # work that has not begun is not done
            if isinstance(error, SedscopeError) or not isinstance(error, Exception):
                raise
            raise SedscopeError(_message(error, failed)) from error
        return deltas

    def pass_in_parts(
        self, alignment: Alignment, requests: Requests, progress: Progress | None
    ) -> Iterator[PassPart]:
        total = len(alignment.clips)
        steps = StagedProgress(progress, total)
        for clips in clip_ranges(total, _CLIPS_AT_ONCE):
            stage = steps.stage(len(clips))
            yield from by_variant(self.run_pass(part_of(alignment, clips), requests, stage))

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        parts = self._parts(alignment)
        futures = [self._submit(largest_false_alarms, part, variant, 1) for part in parts]
        try:
            wait_for(self.client, futures, [len(part.clips) for part in parts], None)
            maxima = self._gather(futures)
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
        scatter = self.client.scatter(work, broadcast=True, hash=False, asynchronous=True)
        shared = run_watched(self.client, scatter)
        futures = [self._submit(_apply, shared, block) for block in blocks]
        try:
            wait_for(self.client, futures, [1] * len(blocks), progress)
            values: list[FloatArray] = self._gather(futures)
        except Exception as error:
            if isinstance(error, SedscopeError):
                raise
            raise SedscopeError(_message(error, None)) from error
        finally:
            for future in (*futures, shared):
                future.release()
        return values

    def _parts(self, alignment: Alignment) -> list[Alignment]:
        clips, threads = len(alignment.clips), count_threads(self.client)
        size = max(1, min(_MOST_CLIPS, -(-clips // (_PARTS_PER_THREAD * threads))))
        return [part_of(alignment, part) for part in clip_ranges(clips, self.clips_per_part or size)]

    def _submit(self, work: Any, *arguments: Any) -> Any:
        return self.client.submit(work, *arguments, retries=_RETRIES, pure=False)

    def _gather(self, futures: Any) -> Any:
        return run_watched(self.client, self.client.gather(futures, asynchronous=True))

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
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine on the cluster of the options, or on one of this machine."""
    if run.checkpoint is not None:
        raise SedscopeError("A checkpoint only works on one machine. Use it with `engine='threads'`.")
    with client_of(run.scheduler, run.threads) as client:
        yield DaskEngine(client)


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
