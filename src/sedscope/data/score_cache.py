"""Scores that are read once: checksums of what was read, and clips that are kept while there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock

import numpy as np

from .._native import checksum
from .arrays import IntArray, ScoreArray, sha256
from .clip_events import AnyClip, ClipEvents
from .clip_scores import ChecksummedClip, ClipPieces, ClipScores
from .scores import Scores, frames_or_events
from .times import Ticks

_MODULUS = 2**128
_FRAMES_SUMMED = 4096  # of a clip that have a checksum of their own


class ScoreDigests:
    """Takes a checksum of each clip while the clip is read.

    It depends on the numbers, times and labels alone: not on the order of columns, and not on whether
    numbers that 32 bits can hold take 64.
    """

    def __init__(self, scores: Scores, classes: Sequence[str]) -> None:
        """``classes``: those whose scores count."""
        self._read, self._classes = scores, sorted(classes)
        column = {label: i for i, label in enumerate(scores.classes)}
        columns = [column[label] for label in self._classes]
        self._columns = None if columns == [*column.values()] else np.array(columns, np.int64)
        self._digests: dict[str, bytes] = {}
        self.scores = scores._remade(scores, self._load, recut=scores._source.recut)
        """The same scores, whose checksums are taken."""

    def digest(self, clips: Iterable[str]) -> int | None:
        """Return a digest of clips: the sum of their digests, so that those of parts add up to that of
        the whole, in any order. None if one of them was not read."""
        names = "\0".join(self._classes).encode("utf-8", "surrogatepass")
        total = 0
        for clip in clips:
            if clip not in self._digests:
                return None
            name = clip.encode("utf-8", "surrogatepass")
            digest = sha256(names + b"\0\0" + name + b"\0" + self._digests[clip])
            total += int.from_bytes(digest.digest()[:16], "big")
        return total % _MODULUS

    def _load(self, clip: str) -> AnyClip:
        opened = self._read.open(clip)
        if isinstance(opened, ClipPieces):
            checksums = _Checksums(self._columns)
            return _SummedPieces(opened, checksums, lambda digest: self._digests.update({clip: digest}))
        self._digests[clip] = clip_digest(opened, self._columns)
        return opened


class _SummedPieces(ClipPieces):
    """The same pieces. Their digest, that of the whole clip, is known after the last one."""

    __slots__ = ("_checksums", "_record")

    def __init__(self, clip: ClipPieces, checksums: _Checksums, record: Callable[[bytes], None]) -> None:
        self.read, self.ticks = clip.read, clip.ticks
        self._checksums, self._record = checksums, record

    def pieces(self, classes: int) -> Iterator[ScoreArray]:
        self._checksums.clear()
        for piece in super().pieces(classes):
            self._checksums.add(piece)
            yield piece
            del piece  # before the next one is read
        self._record(_digest(self.ticks, self._checksums.of_all()))


class _Checksums:
    """The checksums of blocks of frames, whatever pieces they arrive in."""

    def __init__(self, columns: IntArray | None) -> None:
        """``columns``: those that count, in the order of their labels; None for all, in this order."""
        self._columns = columns
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self._sums: list[bytes] = []
        self._rest: ScoreArray | None = None

    def add(self, values: ScoreArray) -> None:
        """Add the next frames."""
        if self._rest is not None and len(self._rest):
            values = np.concatenate([self._rest, values])
        whole = len(values) - len(values) % _FRAMES_SUMMED
        for start in range(0, whole, _FRAMES_SUMMED):
            self._sums.append(_checksum(values[start : start + _FRAMES_SUMMED], self._columns))
        self._rest = values[whole:].copy()

    def of_all(self) -> bytes:
        """Return the checksums of all frames."""
        rest = (
            [] if self._rest is None or not len(self._rest) else [_checksum(self._rest, self._columns)]
        )
        return b"".join([*self._sums, *rest])


def _checksum(values: ScoreArray, columns: IntArray | None, *, narrow: bool = True) -> bytes:
    """Return the checksum of some frames, the same for 32 and 64 bits if all numbers fit into 32.

    ``narrow=False``: always that of 64 bits.
    """
    if columns is not None:
        values = values[:, columns]
    if narrow and values.dtype == np.float64:
        with np.errstate(over="ignore"):
            short = values.astype(np.float32)
        values = short if np.array_equal(short, values) else values
    return _bytes_of(checksum(np.ascontiguousarray(values)))


def _bytes_of(number: int) -> bytes:
    return number.to_bytes(8, "little")


def merged_digests(digests: Iterable[int]) -> int:
    """Return the digest of all clips from those of parts of them."""
    return sum(digests) % _MODULUS


def merged_or_unknown(digests: Iterable[int | None]) -> int | None:
    """Return the digest of all clips, or of all runs; None if that of a part is not known."""
    known = [*digests]
    return None if None in known else merged_digests(digest for digest in known if digest is not None)


def clip_digest(clip: ClipScores | ClipEvents, columns: IntArray | None = None) -> bytes:
    """Return a digest of the scores of a clip and their frame boundaries, or of its events.

    ``columns``: those that count, in this order. Events include the extent of the clip if they were found
    in frames. Of events with equal confidences, the order counts.
    """
    if isinstance(clip, ClipScores):
        one_block = clip.values.size > 0 and len(clip.values) <= _FRAMES_SUMMED
        unchanged = columns is None and clip.values.dtype == np.float32
        if isinstance(clip, ChecksummedClip) and one_block and unchanged:
            return _digest(clip.ticks, _bytes_of(clip.checksum))
        starts = range(0, len(clip.values), _FRAMES_SUMMED)
        sums = [_checksum(clip.values[start : start + _FRAMES_SUMMED], columns) for start in starts]
        return _digest(clip.ticks, b"".join(sums))
    if columns is not None:
        places = np.full(1 + max(clip.columns.max(initial=0), columns.max(initial=0)), -1, np.int32)
        places[columns] = np.arange(len(columns))
        clip = clip.in_columns(places)
    order = np.lexsort((-clip.confidences, clip.columns))
    extent = np.empty(0, np.int64) if clip.extent is None else clip.extent
    arrays = (clip.columns[order].astype("<i8"), extent.astype("<i8"))
    content = clip.confidences[order].astype("<f8").tobytes() + b"".join(map(np.ndarray.tobytes, arrays))
    return _digest(clip.times[order].ravel(), content)


def _digest(times: Ticks, content: bytes) -> bytes:
    """Return the digest of times and of what there is between them."""
    bits = np.ascontiguousarray(times).view(np.float64)
    return sha256(_checksum(bits[:, None], None, narrow=False) + content).digest()


_ROOM = 2**29  # bytes


class ScoreCache:
    """Loads clips. Those that were read before are kept in memory while there is room for them."""

    def __init__(self, scores: Scores, room: int = _ROOM) -> None:
        self._read = scores
        self._kept: dict[str, ClipScores] = {}
        self._identities: dict[str, str | None] = {}
        self._room = room
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[ScoreCache], tuple[Scores]]:
        """Travel to another process without the clips that are kept here."""
        return ScoreCache, (self._read,)

    def __call__(self, clip: str) -> ClipScores | ClipEvents:
        if clip in self._kept:
            return self._kept[clip]
        identity = self._read.identity(clip)
        clip_scores = frames_or_events(clip, self._read.open(clip))
        if isinstance(clip_scores, ClipEvents):  # they are in memory
            return clip_scores
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
