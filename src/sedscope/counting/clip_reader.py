"""Reading clips in batches: all at once from memory, otherwise a bounded number of clips ahead."""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..data.arrays import ScoreArray
from ..data.clip_events import AnyClip, ClipEvents
from ..data.clip_scores import ClipPieces
from ..data.score_cache import ScoreDigests
from ..data.scores import ClipScores, Scores
from ..errors import SedscopeError, short_number

if TYPE_CHECKING:
    from concurrent.futures import Future


_MOST_THREADS = 1024


def thread_count(threads: int | None) -> int:
    """As many as given, else one per core that this process may use."""
    if threads is None:
        available = getattr(os, "sched_getaffinity", None)
        return len(available(0)) if available else os.cpu_count() or 1
    try:
        number = operator.index(threads)
    except TypeError:
        raise SedscopeError(f"threads={threads!r} must be a whole number") from None
    if not 1 <= number <= _MOST_THREADS:
        raise SedscopeError(
            f"threads={short_number(number)} must be at least 1 and at most {_MOST_THREADS}"
        )
    return number


_BATCH_BYTES = 64 * 2**20
_BATCH_CLIPS = 512
_BATCH_SECONDS = 2.0  # so that progress shows, however long clips take
MANY_FAILURES = 20
_WAIT = 0.2  # seconds
_SHORT_TASK, _LONG_TASK = 0.002, 0.005  # seconds
_MOST_TOGETHER = 32
_BYTES_AHEAD = 4 * _BATCH_BYTES  # of clips that were read and wait for their turn

_Result = TypeVar("_Result")

ReadResult: TypeAlias = "AnyClip | SedscopeError"


@dataclass(frozen=True)
class ClipsRead:
    """The scores of the clips ``[first, first + len(scores))``, or why some could not be read."""

    first: int
    scores: Sequence[ClipScores]
    failures: Sequence[SedscopeError] = ()
    maxima: ScoreArray | None = None
    """(clips × columns) the largest scores, where they are known already."""


@dataclass(frozen=True)
class EventsRead:
    """The events of the clips from number ``first`` on, kept as they are."""

    first: int
    clips: Sequence[ClipEvents]


@dataclass(frozen=True)
class RecordingOpened:
    """Clip ``number``, which arrives in pieces. They are still to be read."""

    number: int
    clip: ClipPieces


def read_clips(
    scores: Scores, clips: Sequence[str], threads: int
) -> Iterator[ClipsRead | EventsRead | RecordingOpened]:
    """Read the clips in order, several at a time where that is safe.

    A clip that cannot be read comes as its failure, and the others go on until there are many.
    """
    if scores.in_memory:
        yield ClipsRead(0, scores.whole(clips))
        return
    first, batch, size = 0, list[ClipScores](), 0
    events: list[ClipEvents] = []
    failures = 0
    began = perf_counter()
    for number, clip in enumerate(read_each(scores, clips, threads)):
        if isinstance(clip, (SedscopeError, ClipPieces)):
            if batch:
                yield ClipsRead(first, batch)
            first, batch, size = number + 1, [], 0
            if isinstance(clip, ClipPieces):
                yield RecordingOpened(number, clip)
                continue
            yield ClipsRead(number, [], [clip])
            failures += 1
            if failures >= MANY_FAILURES:
                return
            continue
        if isinstance(clip, ClipEvents):  # then all clips are
            events.append(clip)
            continue
        batch.append(clip)
        size += clip.values.nbytes
        late = perf_counter() - began >= _BATCH_SECONDS
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_CLIPS or late:
            yield ClipsRead(first, batch)
            first, batch, size, began = number + 1, [], 0, perf_counter()
    if not events:
        yield ClipsRead(first, batch)
    elif not failures:
        yield EventsRead(first, events)


def read_digest(
    scores: Scores, clips: Iterable[str], classes: Sequence[str], threads: int
) -> int | None:
    """Read clips, and return the digest of the scores of some classes; None if a clip cannot be read."""
    digests = ScoreDigests(scores, classes)
    names = [*clips]
    for opened in read_each(digests.scores, names, threads):
        if isinstance(opened, SedscopeError):
            return None  # the pass over the clips reports it
        if isinstance(opened, ClipPieces):
            for _ in opened.pieces(len(scores.classes)):
                pass
    return digests.digest(names)


def read_each(scores: Scores, clips: Iterable[str], threads: int) -> Iterator[ReadResult]:
    """Read each clip in order; a clip that cannot be read gives its error.

    Threads are at most a few clips ahead, fewer if these are large, and more only while clips are read in
    no time.
    """

    def read(clip: str) -> ReadResult:
        try:
            return scores.open(clip)
        except SedscopeError as error:
            return error

    if scores._table is not None:
        scores._table.require_rows()
    if not scores.thread_safe or threads == 1:
        yield from map(read, clips)
        return
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event, Lock

    stopped = Event()
    lock, waiting = Lock(), 0  # bytes

    def count(change: int) -> None:
        nonlocal waiting
        with lock:
            waiting += change

    def read_task(task: Sequence[str], needed: bool) -> tuple[list[ReadResult], float]:
        """Read clips until that takes long or too many are waiting, and say how long it took.

        ``needed``: whether the first one is the next in order, and is read however many are waiting.
        """
        start, results = perf_counter(), list[ReadResult]()
        for clip in task:
            if waiting > _BYTES_AHEAD and (results or not needed):
                break
            results.append(read(clip))
            count(_size(results[-1]))
            if stopped.is_set() or perf_counter() - start > _LONG_TASK:
                break
        return results, perf_counter() - start

    def read_in_order(clips: Iterator[str]) -> Iterator[ReadResult]:
        ahead: deque[tuple[list[str], Future[tuple[list[ReadResult], float]]]] = deque()
        together = 1  # clips of a task: passing one to a thread takes as long as reading a small file
        while True:
            task = [*islice(clips, together)]
            if task:
                ahead.append((task, pool.submit(read_task, task, not ahead)))
                if len(ahead) < 4 * threads:
                    continue
            if not ahead:
                return
            task, future = ahead.popleft()
            results, seconds = _result(future)
            rest = task[len(results) :]
            results.reverse()
            while results:  # a clip is let go before the next one
                count(-_size(results[-1]))
                yield results.pop()
            if rest:
                yield from read_in_order(iter(rest))
                together = 1
            elif seconds < _SHORT_TASK:
                together = min(2 * together, _MOST_TOGETHER)

    pool = ThreadPoolExecutor(threads)
    try:
        yield from read_in_order(iter(clips))
    finally:
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)  # a caller that stops early does not wait


def _size(clip: ReadResult) -> int:
    """Return how many bytes the scores of a clip take."""
    return clip.values.nbytes + clip.ticks.nbytes if isinstance(clip, ClipScores) else 0


def _result(future: Future[_Result]) -> _Result:
    """Wait for a result, but wake up now and then: a signal may have reached another thread."""
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=_WAIT)
    return future.result()
