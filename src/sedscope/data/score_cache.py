"""Scores that are read once: digests of what was read, and clips that are kept while there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Any

import numpy as np

from .arrays import ScoreArray, sha256
from .clip_events import ClipEvents
from .clip_scores import ClipPieces, ClipScores
from .score_sources import frames_or_events
from .scores import Scores
from .times import Ticks

_MODULUS = 2**128


class ScoreDigests:
    """Takes a digest of each clip while the clip is read."""

    def __init__(self, scores: Scores) -> None:
        self._read = scores
        self._digests: dict[str, bytes] = {}
        self.scores = scores._remade(scores, self._load, recut=scores._source.recut)
        """The same scores, whose digests are taken."""

    def digest(self, clips: Iterable[str]) -> int:
        """Return a digest of clips that were read: the sum of their digests, so that those of parts add
        up to that of the whole, in any order."""
        names = "\0".join(self.scores.classes).encode()
        total = 0
        for clip in clips:
            digest = sha256(names + b"\0\0" + clip.encode() + b"\0" + self._digests[clip])
            total += int.from_bytes(digest.digest()[:16], "big")
        return total % _MODULUS

    def _load(self, clip: str) -> ClipScores | ClipPieces | ClipEvents:
        opened = self._read.open(clip)
        if isinstance(opened, ClipPieces):
            return _HashedPieces(opened, lambda digest: self._digests.update({clip: digest}))
        self._digests[clip] = (
            events_digest(opened) if isinstance(opened, ClipEvents) else clip_digest(opened)
        )
        return opened


class _HashedPieces(ClipPieces):
    """The same pieces. Their digest, that of the whole clip, is known after the last one."""

    __slots__ = ("_record",)

    def __init__(self, clip: ClipPieces, record: Callable[[bytes], None]) -> None:
        self.read, self.ticks = clip.read, clip.ticks
        self._record = record

    def pieces(self, classes: int) -> Iterator[ScoreArray]:
        digest: Any = None
        for piece in super().pieces(classes):
            if digest is None:
                digest = _begin(piece.dtype, (len(self.ticks) - 1, classes), self.ticks)
            digest.update(np.ascontiguousarray(piece).data)
            yield piece
            del piece  # before the next one is read
        if digest is None:
            digest = _begin(np.dtype(np.float32), (0, classes), self.ticks)
        self._record(digest.digest())


def merged_digests(digests: Iterable[int]) -> int:
    """Return the digest of all clips from those of parts of them."""
    return sum(digests) % _MODULUS


def clip_digest(clip: ClipScores) -> bytes:
    """Return the SHA-256 hash of the scores of a clip and their frame boundaries."""
    digest = _begin(clip.values.dtype, clip.values.shape, clip.ticks)
    if clip.values.size:
        digest.update(np.ascontiguousarray(clip.values).data)
    return bytes(digest.digest())


def events_digest(clip: ClipEvents) -> bytes:
    """Return the SHA-256 hash of the events of a clip, and of its extent if they were found in frames."""
    digest = sha256(f"events{len(clip.times)}".encode())
    extent = () if clip.extent is None else (clip.extent,)
    for column in (clip.times, clip.columns, clip.confidences, *extent):
        digest.update(np.ascontiguousarray(column).data)
    return digest.digest()


def _begin(dtype: np.dtype[Any], shape: tuple[int, ...], ticks: Ticks) -> Any:
    digest = sha256(f"{dtype.str}{shape}".encode())
    digest.update(np.ascontiguousarray(ticks).data)
    return digest


_ROOM = 2**29  # bytes


class ScoreCache:
    """Loads clips. Those that were read before are kept in memory while there is room for them."""

    def __init__(self, scores: Scores, room: int = _ROOM) -> None:
        self._read = scores
        self._kept: dict[str, ClipScores] = {}
        self._digests: dict[str, bytes] = {}
        self._identities: dict[str, str | None] = {}
        self._room = room
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[ScoreCache], tuple[Scores]]:
        """Travel to another process without the clips that are kept here."""
        return ScoreCache, (self._read,)

    def digest(self, clips: tuple[str, ...]) -> str:
        """Return the SHA-256 hash of the scores of some clips, in order of name.

        It does not depend on how the scores are stored.
        """
        digest = sha256("\0".join(self._read.classes).encode())
        for clip in sorted(clips):
            if clip not in self._digests:
                self(clip)
            digest.update(clip.encode() + b"\0" + self._digests[clip])
        return digest.hexdigest()

    def __call__(self, clip: str) -> ClipScores | ClipEvents:
        if clip in self._kept:
            return self._kept[clip]
        identity = self._read.identity(clip)
        clip_scores = frames_or_events(clip, self._read.open(clip))
        if isinstance(clip_scores, ClipEvents):  # they are in memory
            self._digests.setdefault(clip, events_digest(clip_scores))
            return clip_scores
        if clip not in self._digests:
            self._digests[clip] = clip_digest(clip_scores)
        with self._lock:
            size = 0 if self._read.in_memory else clip_scores.values.nbytes + clip_scores.ticks.nbytes
            if size <= self._room:
                self._room -= size
                self._identities[clip] = identity
                self._kept[clip] = clip_scores
        return clip_scores

    def has_all(self) -> bool:
        """Return whether all clips are kept, so that loading costs nothing any more."""
        return self._read.in_memory or len(self._kept) == len(self._read)

    def identity(self, clip: str) -> str | None:
        """Return the identity of a clip; for one that is kept, that of the scores that were read."""
        if clip in self._kept:
            return self._identities[clip]
        return self._read.identity(clip)


def cached(scores: Scores) -> Scores:
    """Return the same scores, with a cache unless they have one already."""
    if cache_of(scores) is not None:
        return scores
    cache, recut = ScoreCache(scores), scores._source.recut
    return scores._remade(scores, cache, in_memory=cache.has_all, identify=cache.identity, recut=recut)


def cache_of(scores: Scores) -> ScoreCache | None:
    """Return the cache of scores, if they have one."""
    return scores._source.load if isinstance(scores._source.load, ScoreCache) else None
