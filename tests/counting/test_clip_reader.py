"""Clips are read ahead on threads: in order, and not too far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import sedscope as sed
from sedscope.counting import clip_reader
from sedscope.counting.clip_reader import read_clips, read_each

CLIPS = [f"{i:04}" for i in range(400)]
THREADS = 3


def scores_of(load: Callable[[int], None]) -> sed.Scores:
    """Scores whose clips say their number; ``load`` is called before each is read."""

    def read(clip: str) -> sed.ClipScores:
        load(int(clip))
        return sed.ClipScores(np.full((1, 1), int(clip), np.float32), [0, 1])

    return sed.Scores(CLIPS, read, classes=["Dog"], thread_safe=True)


@pytest.mark.parametrize("slow", [range(0), range(150, 170), range(0, 400, 50)])
def test_clips_come_in_order_whatever_they_take(slow: range) -> None:
    def load(number: int) -> None:
        if number in slow:
            time.sleep(0.006)
        if number % 97 == 5:
            raise sed.SedscopeError(f"clip {number}")

    numbers = [
        int(str(clip).split()[1]) if isinstance(clip, sed.SedscopeError) else int(clip.values[0, 0])
        for clip in read_each(scores_of(load), CLIPS, THREADS)
        if isinstance(clip, (sed.SedscopeError, sed.ClipScores))
    ]
    assert numbers == [*range(len(CLIPS))]


def test_few_slow_clips_are_read_ahead_after_many_fast_ones() -> None:
    lock = threading.Lock()
    read = 0

    def load(number: int) -> None:
        nonlocal read
        if number >= 200:
            time.sleep(0.006)
        with lock:
            read += 1

    ahead = 0
    for number, _ in enumerate(read_each(scores_of(load), CLIPS, THREADS)):
        if number >= 200:
            time.sleep(0.003)
            ahead = max(ahead, read - number)
    # each of the tasks that were begun before stops at its first slow clip, and so do those that follow
    assert ahead <= 8 * THREADS + 32 * THREADS


def test_a_reader_that_is_left_stops_soon() -> None:
    begun: list[int] = []

    def load(number: int) -> None:
        begun.append(number)
        if number >= 100:
            time.sleep(0.003)

    reader = read_each(scores_of(load), CLIPS, THREADS)
    for _ in range(110):
        next(reader)
    del reader
    read_by_then = len(begun)
    time.sleep(0.1)
    assert len(begun) <= read_by_then + 2 * THREADS


def test_few_large_clips_are_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sedscope.counting.clip_reader._BYTES_AHEAD", 100)  # of clips of 20 bytes
    lock = threading.Lock()
    read = 0

    def load(number: int) -> None:
        nonlocal read
        with lock:
            read += 1

    ahead, numbers = 0, []
    for number, clip in enumerate(read_each(scores_of(load), CLIPS[:60], THREADS)):
        assert isinstance(clip, sed.ClipScores)
        numbers.append(int(clip.values[0, 0]))
        time.sleep(0.003)
        ahead = max(ahead, read - number - 1)
    assert numbers == [*range(60)]
    assert ahead <= 100 / 20 + 1 + THREADS  # a thread may be reading when the others have read enough


def test_batches_of_slow_clips_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(10_000))
    monkeypatch.setattr(clip_reader, "perf_counter", lambda: float(next(seconds)))
    monkeypatch.setattr(clip_reader, "_BATCH_SECONDS", 7)
    batches = [
        batch
        for batch in read_clips(scores_of(lambda _: None), CLIPS, 1)
        if isinstance(batch, clip_reader.ClipsRead)
    ]
    assert 20 < len(batches) <= 400
    firsts = [int(batch.scores[0].values[0, 0]) for batch in batches if batch.scores]
    assert firsts == [batch.first for batch in batches if batch.scores]
    assert sum(len(batch.scores) for batch in batches) == 400


def test_clips_go_on_after_one_that_cannot_be_read() -> None:
    def load(number: int) -> None:
        if number in (0, 7, 8, 399):
            raise sed.SedscopeError(f"clip {number}")

    read: list[int] = []
    failures: list[str] = []
    for batch in read_clips(scores_of(load), CLIPS, THREADS):
        assert isinstance(batch, clip_reader.ClipsRead)
        numbers = [int(clip.values[0, 0]) for clip in batch.scores]
        assert numbers == [*range(batch.first, batch.first + len(numbers))]
        failures += map(str, batch.failures)
        read += numbers
    assert read == [*range(1, 7), *range(9, 399)]
    assert failures == [f"clip {number}" for number in (0, 7, 8, 399)]
