"""Rows of changes in little space: scores that several tables share, and numbers that a compressor can use.

The rows of all tables about the same clips have few distinct scores for each class and clip. Those are stored
once, in order, as differences of whole numbers that order as the scores do. A row of a table then says which
of these scores it has, mostly the next one. The order of the rows of a class and clip means nothing, so they
come back ordered by score.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..criteria.delta_tables import DeltaRows, row_starts
from ..data.arrays import IntArray, ScoreArray
from .clip_reader import thread_count

_UNSIGNED = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<u8"}


@dataclass(frozen=True, eq=False)
class SharedScores:
    """The distinct scores of each class and clip, rising.

    ``counts``: (classes × clips) how many there are. ``gaps``: the first one of each class and clip as a
    number that orders as the scores do, and by how much each following one is larger.
    """

    counts: NDArray[np.int32]
    gaps: NDArray[Any]

    def scores(self, dtype: np.dtype[Any]) -> ScoreArray:
        """Return the scores of all classes and clips, one after the other."""
        counts = self.counts.ravel()
        if (counts < 0).any() or counts.sum(dtype=np.int64) != len(self.gaps):
            raise ValueError("there are more or fewer scores than stated")
        counts = counts[counts > 0]
        firsts = np.cumsum(counts, dtype=np.int64) - counts
        sums = np.cumsum(self.gaps, dtype=self.gaps.dtype)  # these wrap around
        return _as_scores(sums - np.repeat(sums[firsts] - self.gaps[firsts], counts), dtype)


@dataclass(frozen=True, eq=False)
class CompactRows:
    """A table whose scores are shared.

    ``moves``: from row to row, how far the number of the score moves. ``columns``: those of the table; the
    last one without what the last one of the first table says at this score.
    """

    moves: IntArray
    columns: tuple[NDArray[Any], ...]


def compact(tables: Sequence[DeltaRows]) -> tuple[SharedScores, list[CompactRows]]:
    """Store tables of the same classes and clips, with scores of one type, compactly.

    Cross-triggers are ordered by the class that they are on before the score, so that it hardly ever
    changes.
    """
    with ThreadPoolExecutor(thread_count(None)) as pool:
        of_classes = [*pool.map(partial(_compact_class, tables), range(len(tables[0].starts)))]
    before = np.cumsum([0, *(len(part.gaps) for part in of_classes)]).tolist()
    rows = []
    for k in range(len(tables)):
        numbers = [part.numbers[k] + first for part, first in zip(of_classes, before, strict=False)]
        columns = zip(*(part.columns[k] for part in of_classes), strict=True)
        moves = np.diff(np.concatenate(numbers), prepend=0)
        rows.append(CompactRows(moves, tuple(map(np.concatenate, columns))))
    counts = np.stack([part.counts for part in of_classes])
    return SharedScores(counts, np.concatenate([part.gaps for part in of_classes])), rows


def restore(
    shared: SharedScores, tables: Sequence[CompactRows], dtype: np.dtype[Any]
) -> list[DeltaRows]:
    """Return the tables that :func:`compact` stored. ``dtype``: of their scores."""
    scores, starts = shared.scores(dtype), row_starts(shared.counts)
    ends = np.cumsum(shared.counts, dtype=np.int64)
    of_first = np.empty(0)
    restored = []
    for k, table in enumerate(tables):
        numbers = np.cumsum(table.moves)
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(scores)):
            raise ValueError("a row has a score that there is not")
        pairs = np.searchsorted(ends, numbers, side="right")
        if (pairs[1:] < pairs[:-1]).any() or any(len(c) != len(numbers) for c in table.columns):
            raise ValueError("the rows are not in order")
        *columns, last = table.columns
        if k == 0:
            of_first = _by_number(numbers, last, len(scores))
        else:
            last = last + of_first[numbers].astype(last.dtype)
        before = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=len(scores)))])
        restored.append(DeltaRows(before[starts], scores[numbers], (*columns, last)))
    return restored


class _CompactClass(NamedTuple):
    """One class of several tables."""

    counts: NDArray[np.int32]
    gaps: NDArray[Any]
    numbers: list[IntArray]
    """Per table, the number of the score of each row, from 0."""
    columns: list[tuple[NDArray[Any], ...]]


def _compact_class(tables: Sequence[DeltaRows], c: int) -> _CompactClass:
    rows = [slice(int(table.starts[c, 0]), int(table.starts[c, -1])) for table in tables]
    keys = np.concatenate([_as_keys(table.scores[k]) for table, k in zip(tables, rows, strict=True)])
    clips = tables[0].starts.shape[1] - 1
    of_rows = np.concatenate([np.repeat(np.arange(clips), np.diff(table.starts[c])) for table in tables])
    order = _order(of_rows, keys)
    keys, owners = keys[order], of_rows[order]
    other_clip = np.diff(owners, prepend=-1) > 0
    new = other_clip.copy()
    new[1:] |= keys[1:] != keys[:-1]
    all_numbers = np.empty(len(order), np.int64)
    all_numbers[order] = np.cumsum(new) - 1
    keys, other_clip = keys[new], other_clip[new]
    gaps = np.where(other_clip, keys, np.diff(keys, prepend=keys[:1]))
    counts = np.bincount(owners[new], minlength=clips).astype(np.int32)
    numbers: list[IntArray] = []
    columns: list[tuple[NDArray[Any], ...]] = []
    of_first = np.empty(0)
    begin = 0
    for table, of_class in zip(tables, rows, strict=True):
        end = begin + of_class.stop - of_class.start
        number, own = all_numbers[begin:end], [column[of_class] for column in table.columns]
        if len(own) == 2 and own[0].itemsize > own[1].itemsize:  # the other class comes first
            labels = int(own[0].max(initial=0)) + 1
            in_order = _order(of_rows[begin:end] * labels + own[0], number)
        else:
            in_order = np.argsort(number, kind="stable")
        number = number[in_order]
        *others, last = (column[in_order] for column in own)
        if not numbers:
            of_first = _by_number(number, last, len(keys))
        else:
            last = last - of_first[number].astype(last.dtype)
        numbers.append(number)
        columns.append((*others, last))
        begin = end
    return _CompactClass(counts, gaps, numbers, columns)


def _by_number(numbers: IntArray, column: NDArray[Any], scores: int) -> NDArray[Any]:
    """Return what a column says at each score; 0 where it has no row."""
    by_number = np.zeros(scores, column.dtype)
    by_number[numbers] = column
    return by_number


def _order(groups: NDArray[np.integer], keys: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order by group, then key. Rows that are equal in both come in any order."""
    bits = int(keys.max(initial=0)).bit_length()
    if bits + int(groups.max(initial=0)).bit_length() > 63:
        by_key = np.argsort(keys)
        return by_key[np.argsort(groups[by_key], kind="stable")]
    return np.argsort((groups.astype(np.int64) << bits) | keys.astype(np.int64))


def _as_keys(scores: ScoreArray) -> NDArray[Any]:
    """Return whole numbers without sign that order as the scores do. Zero and minus zero stay apart."""
    bits = np.ascontiguousarray(scores).view(_UNSIGNED[scores.itemsize])
    sign = bits.dtype.type(1 << (8 * scores.itemsize - 1))
    return np.where(bits & sign, ~bits, bits | sign)


def _as_scores(keys: NDArray[Any], dtype: np.dtype[Any]) -> ScoreArray:
    sign = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    scores: ScoreArray = np.where(keys & sign, keys & ~sign, ~keys).view(dtype)
    return scores


def compress(array: NDArray[Any]) -> bytes:
    """Return the bytes of an array, compressed: the lowest byte of all numbers, then the next one, and so on.

    Whole numbers with a sign are stored as their signs, eight in a byte, and their sizes.
    """
    numbers = np.ascontiguousarray(array).ravel()
    planes = []
    if numbers.dtype.kind == "i":
        planes.append(np.packbits(numbers < 0).tobytes())
        numbers = np.abs(numbers)  # that of the lowest number is itself
    of_bytes = numbers.view(np.uint8).reshape(-1, numbers.itemsize)
    planes += [of_bytes[:, k].tobytes() for k in range(numbers.itemsize)]
    return b"".join(part for plane in planes for part in _deflated(plane))


_SAMPLE = 2**16
_NOT_DEFLATED = 0
_WAYS = (zlib.Z_HUFFMAN_ONLY, zlib.Z_DEFAULT_STRATEGY)


def _deflated(plane: bytes) -> Iterator[bytes]:
    """Yield how a plane is stored, how long it is so, and what is stored.

    A sample of the plane decides in which way to compress it, if at all.
    """

    def deflate(content: bytes, strategy: int) -> bytes:
        deflater = zlib.compressobj(4, wbits=-15, memLevel=9, strategy=strategy)
        return deflater.compress(content) + deflater.flush()

    first = max(0, len(plane) // 2 - _SAMPLE // 2)
    sample = plane[first : first + _SAMPLE]
    sizes = {way: len(deflate(sample, way)) for way in _WAYS}
    way = min(sizes, key=lambda way: sizes[way])
    smaller = deflate(plane, way) if sizes[way] < 0.99 * len(sample) else plane
    yield bytes([1 if smaller is not plane else _NOT_DEFLATED])
    yield len(smaller).to_bytes(8, "little")
    yield smaller


def decompress(content: bytes, dtype: np.dtype[Any], number: int) -> NDArray[Any]:
    """Return the array that :func:`compress` made bytes of. ``number``: how many numbers it has."""
    place = 0

    def plane(length: int) -> NDArray[np.uint8]:
        nonlocal place
        how, first = content[place], place + 9
        place = first + int.from_bytes(content[place + 1 : first], "little")
        part = content[first:place]
        if how != _NOT_DEFLATED:
            part = zlib.decompressobj(-15).decompress(part, length + 1)
        if len(part) != length or place > len(content):
            raise ValueError("an array has another size than stated")
        return np.frombuffer(part, np.uint8)

    negative = plane(-(-number // 8)) if dtype.kind == "i" else None
    of_bytes = np.empty((number, dtype.itemsize), np.uint8)
    for k in range(dtype.itemsize):
        of_bytes[:, k] = plane(number)
    if place != len(content):
        raise ValueError("an array has another size than stated")
    numbers: NDArray[Any] = of_bytes.view(dtype).reshape(number)
    if negative is None:
        return numbers
    return np.where(np.unpackbits(negative, count=number).view(bool), -numbers, numbers)
