"""Reading clips in batches: all at once from memory, otherwise a bounded number of clips ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

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

    ahead: deque[Future[ReadResult]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for clip in clips:
            ahead.append(pool.submit(read, clip))
            if len(ahead) >= 4 * threads:
                yield _result(ahead.popleft())
        while ahead:
            yield _result(ahead.popleft())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a caller that stops early does not wait


def _result(future: Future[ReadResult]) -> ReadResult:
    """Wait for a result, but wake up now and then: a signal may have reached another thread."""
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=_WAIT)
    return future.result()
