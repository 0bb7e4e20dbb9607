"""The Spark engine: a dataset of parts. Spark's own shuffle brings the states of a block together."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..alignment.alignment import Alignment
from ..counting.clip_reader import thread_count
from ..counting.one_pass import largest_false_alarms
from ..data.arrays import FloatArray
from ..data.clips import clip_id
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from ..progress import ProblemLog, Progress
from .cluster import Bundle, ClusterEngine, WorkError
from .engine import Engine
from .run import Run
from .states import Finished

_RETRIES = 4
_POLL = 0.5  # seconds


class SparkEngine(ClusterEngine):
    """Runs the pass on the executors of a Spark application. ``session``: a ``SparkSession``."""

    def __init__(self, session: Any, *, checkpoint: str | Path | None = None) -> None:
        super().__init__(checkpoint=checkpoint)
        self.context = session.sparkContext

    def workers(self) -> int:
        return max(1, int(self.context.defaultParallelism))

    def map(
        self,
        work: Callable[[Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        progress: Progress | None,
    ) -> list[Any]:
        done = self._done()

        def apply(numbered: tuple[int, Any]) -> tuple[int, Any]:
            number, item = numbered
            result = work(item)
            done.add((sizes[number], ()))
            return number, result

        log = ProblemLog(progress)
        results = dict(self._collect(self._data(items).map(apply), done, sum(sizes), log))
        return [results[number] for number in range(len(items))]

    def reduce(
        self,
        first: Callable[[tuple[Alignment, ...]], list[Any]],
        bundles: Sequence[Bundle],
        merge_states: Callable[[Sequence[bytes]], bytes],
        last: Callable[[bytes, int], Finished],
        blocks: int,
        log: ProblemLog,
    ) -> list[Finished]:
        done, sizes = self._done(), [len(bundle.clips) for bundle in bundles]

        def states(counted: tuple[int, list[Any]]) -> list[tuple[int, bytes]]:
            size, (problems, *of_blocks) = counted
            done.add((size, problems))
            return [*enumerate(of_blocks)]

        alignment = bundles[0].alignment
        if alignment.scores._table is None:
            found = self._data(bundles).map(lambda numbered: (sizes[numbered[0]], first(numbered[1])))
        else:
            found = self._by_clip(alignment, first)
        merged = (
            found.flatMap(states)
            .reduceByKey(lambda state, other: merge_states([state, other]), min(blocks, len(bundles)))
            .map(lambda keyed: (keyed[0], last(keyed[1], keyed[0])))
        )
        finished = dict(self._collect(merged, done, sum(sizes), log))
        return [finished[block] for block in range(blocks)]

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None
    ) -> FloatArray | None:
        if alignment.scores._table is None:
            return super().largest_false_alarms(alignment, variant)
        found = self._by_clip(alignment, lambda parts: largest_false_alarms(parts[0], variant, 1))
        known = [maxima for _, maxima in found.collect() if maxima is not None]
        return np.concatenate(known) if known else None

    def _by_clip(self, alignment: Alignment, work: Callable[[tuple[Alignment, ...]], Any]) -> Any:
        """Apply a function to parts of a table in Spark, which brings the rows of clips together.

        Return a dataset of pairs: the number of clips, and the result.
        """
        pickling: Any = import_module("pyspark.cloudpickle")  # as Spark itself sends functions
        rows = alignment.scores._table.by_clip(alignment.clips)
        shared = self.context.broadcast(pickling.dumps(alignment))

        def apply(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            whole = pickle.loads(shared.value)
            numbers = {clip: number for number, clip in enumerate(whole.clips)}
            for names in whole.scores._table.in_hand(batches):
                clips = sorted(numbers[clip] for clip in map(clip_id, names) if clip in numbers)
                if not clips:
                    continue
                part = whole.choose(np.array(clips))
                result = work((replace(part, scores=part.scores.only(part.clips)),))
                content = pickle.dumps((len(clips), result))
                yield pyarrow.RecordBatch.from_pydict({"content": [content]})

        return rows.mapInArrow(apply, "content binary").rdd.map(lambda row: pickle.loads(row.content))

    def _data(self, items: Sequence[Any]) -> Any:
        """Return a dataset with a partition for each item."""
        return self.context.parallelize([*enumerate(items)], max(1, len(items)))

    def _done(self) -> Any:
        """Return what tasks add to when they are done: the sizes of their items, and their problems."""
        return self.context.accumulator((0, ()), _Sums())

    def _collect(self, data: Any, done: Any, total: int, log: ProblemLog) -> list[Any]:
        """Run a job, and report how far it is meanwhile."""
        log(0, total)
        with ThreadPoolExecutor(1) as pool:
            job = pool.submit(data.collect)
            while True:
                try:
                    results: list[Any] = job.result(_POLL)
                    break
                except NotYet:
                    size, problems = done.value
                    log.add(*problems)
                    log(min(size, total), total)  # work that is done again counts again
                except BaseException as error:
                    self.context.cancelAllJobs()
                    if not isinstance(error, Exception):
                        raise
                    raise _explained(error) from error
        log.add(*done.value[1])
        log(total, total)
        return results


class _Sums:
    """How Spark adds up tuples."""

    def zero(self, _: tuple[Any, ...]) -> tuple[Any, ...]:
        return 0, ()

    def addInPlace(self, some: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(a + b for a, b in zip(some, others, strict=True))


def _explained(error: Exception) -> SedscopeError:
    """Say what happened on the executors. Errors of the work arrive as text only."""
    lines = [line.strip() for line in str(error).splitlines() if "Error: " in line]
    reason = lines[-1] if lines else (str(error).strip() or type(error).__name__).splitlines()[0]
    return WorkError(f"A worker failed: {reason}")


@contextmanager
def open_engine(run: Run) -> Iterator[Engine]:
    """Open the engine of a session, of the active one, of a master at an address, or on this machine. A
    session that is started here is stopped at the end."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SedscopeError(
            "engine='spark' needs the package pyspark: pip install 'sedscope[spark]'"
        ) from None
    session = run.scheduler if isinstance(run.scheduler, SparkSession) else None
    session = session or SparkSession.getActiveSession()
    if session is not None:
        yield SparkEngine(session, checkpoint=run.checkpoint)
        return
    master = run.scheduler or f"local[{thread_count(run.threads)},{_RETRIES}]"
    if run.scheduler is None:  # workers on this machine run in the same environment
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(str(master)).appName("sedscope")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    started = builder.getOrCreate()
    try:
        yield SparkEngine(started, checkpoint=run.checkpoint)
    finally:
        started.stop()
