"""Clips read in batches: all at once if they are in memory, else a bounded number ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..data.recordings import ClipPieces
from ..data.scores import ClipScores, Scores
from ..errors import SedscopeError

if TYPE_CHECKING:
    from concurrent.futures import Future

_BATCH_BYTES = 64 * 2**20
_BATCH_CLIPS = 128
MANY_FAILURES = 20
_LOOK_UP = 0.2  # seconds

Loaded: TypeAlias = "ClipScores | ClipPieces | SedscopeError"


@dataclass(frozen=True)
class LoadedClips:
    """The scores of the clips ``[first, first + len(scores))``, or why some could not be read."""

    first: int
    scores: Sequence[ClipScores]
    failures: Sequence[SedscopeError] = ()


@dataclass(frozen=True)
class LoadedPieces:
    """Clip ``number``, which comes in pieces: they are still to be read."""

    number: int
    clip: ClipPieces


def load(scores: Scores, clips: Sequence[str], threads: int) -> Iterator[LoadedClips | LoadedPieces]:
    """Read the clips in order, several at a time where that is safe.

    After a failure only further failures are looked for, up to a number worth reading.
    """
    if scores.in_memory:
        yield LoadedClips(0, [scores[clip] for clip in clips])
        return
    first, batch, size = 0, list[ClipScores](), 0
    failures: list[SedscopeError] = []
    for number, loaded in enumerate(read_each(scores, clips, threads)):
        if isinstance(loaded, SedscopeError):
            failures.append(loaded)
            if len(failures) >= MANY_FAILURES:
                break
        if failures:
            continue
        if isinstance(loaded, ClipPieces):
            if batch:
                yield LoadedClips(first, batch)
            yield LoadedPieces(number, loaded)
            first, batch, size = number + 1, [], 0
            continue
        assert isinstance(loaded, ClipScores)
        batch.append(loaded)
        size += loaded.values.nbytes
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_CLIPS:
            yield LoadedClips(first, batch)
            first, batch, size = number + 1, [], 0
    yield LoadedClips(first, [] if failures else batch, failures)


def read_each(scores: Scores, clips: Iterable[str], threads: int) -> Iterator[Loaded]:
    """Each clip in order, or why it could not be read."""

    def read_one(clip: str) -> Loaded:
        try:
            return scores.open(clip)
        except SedscopeError as error:
            return error

    if not scores.thread_safe or threads == 1:
        yield from map(read_one, clips)
        return
    from concurrent.futures import ThreadPoolExecutor

    ahead: deque[Future[Loaded]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for clip in clips:
            ahead.append(pool.submit(read_one, clip))
            if len(ahead) >= 4 * threads:
                yield _result(ahead.popleft())
        while ahead:
            yield _result(ahead.popleft())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # whoever stops need not wait


def _result(future: Future[Loaded]) -> Loaded:
    """Wait, but look up now and then: a signal may have reached another thread than this one."""
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=_LOOK_UP)
    return future.result()
