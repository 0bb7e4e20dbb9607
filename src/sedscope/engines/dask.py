"""On a Dask cluster: parts of the clips go to workers by name, merged deltas come back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import Progress
from ..counting.one_pass import Wanted, largest_false_alarms
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from .dask_client import PATIENCE, distributed_package
from .parts import Found, find, merge, part_of, ranges

_PARTS_PER_THREAD = 4
_MOST_CLIPS = 512
_MERGED_AT_ONCE = 4
_RETRIES = 2
_LOOK_UP = 0.02  # seconds


class DaskEngine:
    """Goes through the clips on a cluster.

    ``client``: a ``distributed.Client``. Scores that are read from files travel as paths, which every
    worker must be able to open; this process reads none.
    """

    def __init__(self, client: Any, *, clips_per_part: int | None = None) -> None:
        self.client = client
        self.clips_per_part = clips_per_part

    def __call__(
        self,
        alignment: Alignment,
        wanted: Mapping[Criterion, Wanted],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Found:
        """See :class:`~sedscope.engines.floor_search.Engine`."""
        parts = self._parts(alignment)
        found = [self._submit(_find, part, dict(wanted)) for part in parts]
        merged = self._merged_as_a_tree(found)
        try:
            _wait(self.client, [*found, merged], [len(part.clips) for part in parts], progress)
            result: Found = merged.result()
        except BaseException as error:
            ended = zip(found, parts, strict=True)
            failed = next((part for future, part in ended if future.status == "error"), None)
            for future in (merged, *found):
                future.release()  # what has not begun is not done
            if isinstance(error, SedscopeError) or not isinstance(error, Exception):
                raise
            raise SedscopeError(_said(error, failed)) from error
        return result

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None, threads: int
    ) -> NDArray[np.float64] | None:
        """See :func:`~sedscope.counting.one_pass.largest_false_alarms`."""
        parts = self._parts(alignment)
        found = [self._submit(largest_false_alarms, part, variant, 1) for part in parts]
        try:
            _wait(self.client, found, [len(part.clips) for part in parts], None)
            of_parts = self.client.gather(found)
        except SedscopeError:
            raise
        except Exception:
            return None  # whoever goes through all clips says why
        finally:
            for future in found:
                future.release()
        return None if any(one is None for one in of_parts) else np.concatenate(of_parts)

    def _parts(self, alignment: Alignment) -> list[Alignment]:
        workers = sum(self.client.nthreads().values()) or 1
        clips = len(alignment.clips)
        size = max(1, min(_MOST_CLIPS, -(-clips // (_PARTS_PER_THREAD * workers))))
        return [part_of(alignment, one) for one in ranges(clips, self.clips_per_part or size)]

    def _submit(self, work: Any, *arguments: Any) -> Any:
        return self.client.submit(work, *arguments, retries=_RETRIES, pure=False)

    def _merged_as_a_tree(self, found: Sequence[Any]) -> Any:
        """Neighbours are merged, then the merged ones, until one is left."""
        level = found
        while len(level) > 1:
            groups = [level[i : i + _MERGED_AT_ONCE] for i in range(0, len(level), _MERGED_AT_ONCE)]
            level = [self._submit(merge, *group) if len(group) > 1 else group[0] for group in groups]
        return level[0]


def _find(part: Alignment, wanted: Mapping[Criterion, Wanted]) -> Found:
    return find(part, wanted, threads=1)


def _wait(client: Any, futures: Sequence[Any], sizes: Sequence[int], progress: Progress | None) -> None:
    """Wait for all; the first that fails is raised. ``sizes``: of how many clips the first ones are."""
    clips = {future.key: size for future, size in zip(futures, sizes, strict=False)}
    done, total = 0, sum(sizes)
    if progress:
        progress(0, total)
    watch = _Watch(client)
    every = {future.key: future for future in futures}
    completed = distributed_package().as_completed([*every.values()])
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
        elif now - self._idle_since > PATIENCE:
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
    if isinstance(error, distributed_package().KilledWorker):
        return (
            f"workers died again and again{where}, perhaps because they ran out of memory: give them "
            "more"
        )
    if isinstance(error, MemoryError):
        return f"a worker ran out of memory{where}: give it more"
    return f"a worker failed{where}: {type(error).__name__}: {error}"
