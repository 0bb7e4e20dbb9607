"""Scores that are read once: kept as far as there is room, with the hash of what was read."""

from __future__ import annotations

import hashlib
from threading import Lock

from .alignment import Alignment
from .scores import ClipScores, Scores

_ROOM = 2**29  # bytes


class RememberedScores(Scores):
    """The same scores; clips that were read before are not read again while there is room for them."""

    def __init__(self, scores: Scores, room: int = _ROOM) -> None:
        self._scores = scores
        self._held: dict[str, ClipScores] = {}
        self._digests: dict[str, bytes] = {}
        self._room = room
        self._lock = Lock()
        super().__init__(
            scores,
            self._read,
            classes=scores.classes,
            in_memory=scores.in_memory,
            thread_safe=scores.thread_safe,
            whole_clips=scores.whole_clips,
        )

    def digest(self, clips: tuple[str, ...]) -> str:
        """The SHA-256 hash of the scores of some clips, in order of name, however they are stored."""
        whole = hashlib.sha256("\0".join(self.classes).encode())
        for clip in sorted(clips):
            if clip not in self._digests:
                self._read(clip)
            whole.update(clip.encode() + b"\0" + self._digests[clip])
        return whole.hexdigest()

    def _read(self, clip: str) -> ClipScores:
        if clip in self._held:
            return self._held[clip]
        read = self._scores[clip]
        if clip not in self._digests:
            found = hashlib.sha256(f"{read.values.dtype.str}{read.values.shape}".encode())
            found.update(read.ticks.tobytes())
            found.update(read.values.tobytes())
            self._digests[clip] = found.digest()
        with self._lock:
            size = 0 if self._scores.in_memory else read.values.nbytes + read.ticks.nbytes
            if size <= self._room:
                self._room -= size
                self._held[clip] = read
                self.in_memory = len(self._held) == len(self)  # from now on reading costs nothing
        return read


def remembered(scores: Scores) -> RememberedScores:
    """The scores, remembered from now on if they are not yet."""
    return scores if isinstance(scores, RememberedScores) else RememberedScores(scores)


def truth_digest(alignment: Alignment) -> str:
    """The SHA-256 hash of the reference events and durations of what is evaluated."""
    whole = hashlib.sha256("\0".join((*alignment.clips, "", *alignment.classes)).encode())
    for array in (alignment.events, alignment.labels, alignment.starts, alignment.durations):
        whole.update(array.tobytes())
    return whole.hexdigest()
