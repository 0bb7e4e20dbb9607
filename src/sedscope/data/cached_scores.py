"""Scores that are read only once: clips are kept while there is room, with a hash of what was read."""

from __future__ import annotations

import hashlib
from threading import Lock

from .clip_events import ClipEvents
from .content_digests import clip_digest, events_digest
from .score_arrays import ClipScores
from .score_sources import frames_or_events
from .scores import Scores

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
        digest = hashlib.sha256("\0".join(self._read.classes).encode())
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
