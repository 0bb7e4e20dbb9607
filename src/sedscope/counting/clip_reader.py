"""Reading clips in batches: all at once from memory, otherwise a bounded number of clips ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..data.arrays import ScoreArray
from ..data.clip_events import ClipEvents
from ..data.recordings import ClipPieces
from ..data.scores import ClipScores, Scores
from ..errors import SedscopeError

if TYPE_CHECKING:
    from concurrent.futures import Future

_BATCH_BYTES = 64 * 2**20
_BATCH_CLIPS = 512
MANY_FAILURES = 20
_WAIT = 0.2  # seconds
_SHORT_TASK = 0.002  # seconds
_MOST_TOGETHER = 32

_Result = TypeVar("_Result")

ReadResult: TypeAlias = "ClipScores | ClipPieces | ClipEvents | SedscopeError"


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

    After a failure only further failures are collected, until there are many.
    """
    if scores.in_memory:
        yield ClipsRead(0, scores.whole(clips))
        return
    first, batch, size = 0, list[ClipScores](), 0
    events: list[ClipEvents] = []
    failures: list[SedscopeError] = []
    for number, clip in enumerate(read_each(scores, clips, threads)):
        if isinstance(clip, SedscopeError):
            failures.append(clip)
            if len(failures) >= MANY_FAILURES:
                break
        if failures or isinstance(clip, SedscopeError):
            continue
        if isinstance(clip, ClipPieces):
            if batch:
                yield ClipsRead(first, batch)
            yield RecordingOpened(number, clip)
            first, batch, size = number + 1, [], 0
            continue
        if isinstance(clip, ClipEvents):  # then all clips are
            events.append(clip)
            continue
        batch.append(clip)
        size += clip.values.nbytes
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_CLIPS:
            yield ClipsRead(first, batch)
            first, batch, size = number + 1, [], 0
    if events and not failures:
        yield EventsRead(first, events)
    else:
        yield ClipsRead(first, [] if failures else batch, failures)


def read_each(scores: Scores, clips: Iterable[str], threads: int) -> Iterator[ReadResult]:
    """Read each clip in order; a clip that cannot be read gives its error."""

    def read(clip: str) -> ReadResult:
        try:
            return scores.open(clip)
        except SedscopeError as error:
            return error

    if not scores.thread_safe or threads == 1:
        yield from map(read, clips)
        return
    from concurrent.futures import ThreadPoolExecutor

    def read_together(clips: Sequence[str]) -> tuple[list[ReadResult], float]:
        start = perf_counter()
        return [read(clip) for clip in clips], perf_counter() - start

    ahead: deque[Future[tuple[list[ReadResult], float]]] = deque()
    pool = ThreadPoolExecutor(threads)
    remaining = iter(clips)
    together = 1  # clips of a task: passing one to a thread takes as long as reading a small file
    try:
        while task := [*islice(remaining, together)]:
            ahead.append(pool.submit(read_together, task))
            if len(ahead) >= 4 * threads:
                results, seconds = _result(ahead.popleft())
                if seconds < _SHORT_TASK:
                    together = min(2 * together, _MOST_TOGETHER)
                elif seconds > 4 * _SHORT_TASK:
                    together = max(1, together // 2)
                yield from results
        while ahead:
            yield from _result(ahead.popleft())[0]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a caller that stops early does not wait


def _result(future: Future[_Result]) -> _Result:
    """Wait for a result, but wake up now and then: a signal may have reached another thread."""
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=_WAIT)
    return future.result()
