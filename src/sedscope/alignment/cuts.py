"""Clips that are cut out of recordings: stretches, blocks, and the references of the whole recordings.

A collar is around each boundary of a reference. Where a clip is a part of a recording, the clip may cut a
reference, which makes no boundary, and a boundary outside of the clip may be near enough to matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import IntArray, ScoreArray
from ..data.choices import refuse_beyond_memory
from ..data.clip_events import AnyClip, ClipEvents
from ..data.clip_scores import ClipPieces, ClipScores, as_scores
from ..data.scores import Scores, frames_or_events
from ..data.times import LONGEST_TICKS, TICKS_PER_SECOND, Ticks, to_seconds, to_ticks
from .alignment import Alignment

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth

EVERYTHING = (-LONGEST_TICKS, LONGEST_TICKS)
"""The region of a clip that cuts no reference."""


class Boundaries(NamedTuple):
    """Boundaries of references that count, with times from the start of their clip."""

    times: Ticks
    labels: NDArray[np.int32]
    clips: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class UncutReferences:
    """The references of recordings that count, and which part of a recording each clip is."""

    events: Ticks
    """(events × 2) onsets and offsets in the recordings, ordered by recording."""
    labels: NDArray[np.int32]
    """The class of each event."""
    starts: IntArray
    """The first event of each recording, and the number of all events."""
    recordings: IntArray
    """Per clip, its recording."""
    begins: Ticks
    """Per clip, where it begins in its recording."""
    regions: Ticks
    """(clips × 2) where the references of the clip were cut: its region, of which it may be a part."""
    crossing_count: bool
    """Whether references that cross the border of a region count in it."""
    shortest: int = -1
    """References count if they are longer. Those that were cut are as long as the part in the region."""
    longest: int = LONGEST_TICKS
    """References count if they are at most as long."""

    @classmethod
    def of_regions(
        cls,
        truth: GroundTruth,
        parts: Sequence[Stretch | None],
        class_number: Mapping[str, int],
        *,
        crossing_count: bool,
    ) -> UncutReferences:
        """Return the references of the recordings of some regions.

        ``parts``: the region of each clip; None for a clip that is not in the ground truth.
        """
        number = {clip: i for i, clip in enumerate(truth.clips)}
        label_class = np.array([class_number.get(label, -1) for label in truth.labels], np.int32)
        rows = np.flatnonzero(~truth.ignored)
        rows = rows[label_class[truth.event_labels[rows]] >= 0]
        regions = [
            EVERYTHING if part is None or part.is_whole_clip else (part.start, part.end)
            for part in parts
        ]
        return cls(
            events=np.stack([truth.onsets[rows], truth.offsets[rows]], axis=1),
            labels=label_class[truth.event_labels[rows]],
            # a last recording without references, for clips that are not in the ground truth
            starts=np.searchsorted(truth.event_clips[rows], np.arange(len(number) + 2)),
            recordings=np.array(
                [len(number) if part is None else number[part.clip] for part in parts], np.int64
            ),
            begins=np.array([0 if part is None else part.start for part in parts], np.int64),
            regions=np.array(regions, np.int64).reshape(-1, 2),
            crossing_count=crossing_count,
        )

    def choose(self, clips: NDArray[np.intp]) -> UncutReferences:
        """Keep only the clips with these indices, and their recordings."""
        kept, recordings = np.unique(self.recordings[clips], return_inverse=True)
        counts = self.starts[kept + 1] - self.starts[kept]
        rows = _ranges(self.starts[kept], counts)
        return replace(
            self,
            events=self.events[rows],
            labels=self.labels[rows],
            starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            recordings=recordings.astype(np.int64),
            begins=self.begins[clips],
            regions=self.regions[clips],
        )

    def parts(self, clips: IntArray, begins: Ticks) -> UncutReferences:
        """Return the references for parts of the clips, which begin at these times of their clips."""
        return replace(
            self,
            recordings=self.recordings[clips],
            begins=self.begins[clips] + begins,
            regions=self.regions[clips],
        )

    def of_classes(self, kept: NDArray[np.bool_]) -> UncutReferences:
        """Keep only some of the classes. ``kept``: whether each class is one of them."""
        rows = kept[self.labels]
        return replace(
            self,
            events=self.events[rows],
            labels=(np.cumsum(kept) - 1).astype(np.int32)[self.labels[rows]],
            starts=np.concatenate([[0], np.cumsum(rows)])[self.starts].astype(np.int64),
        )

    def of_length(self, shortest: int, longest: int) -> UncutReferences:
        """Keep the references that are longer than ``shortest``, and at most as long as ``longest``."""
        return replace(self, shortest=max(self.shortest, shortest), longest=min(self.longest, longest))

    def boundaries(self, durations: Ticks, reach: int) -> Boundaries:
        """Return the boundaries within the clips, or at most ``reach`` away from them."""
        recordings = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.lexsort((self.events.ravel(), np.repeat(recordings, 2)))
        times, events = self.events.ravel()[order], order // 2
        firsts, ends = np.empty((2, len(durations)), np.int64)
        limits = np.stack([self.begins - reach, self.begins + durations + reach], axis=1)
        for clip, recording in enumerate(self.recordings.tolist()):
            rows = slice(2 * self.starts[recording], 2 * self.starts[recording + 1])
            firsts[clip] = rows.start + np.searchsorted(times[rows], limits[clip, 0], side="left")
            ends[clip] = rows.start + np.searchsorted(times[rows], limits[clip, 1], side="right")
        clips = np.repeat(np.arange(len(durations), dtype=np.int32), ends - firsts)
        nearby = _ranges(firsts, ends - firsts)
        counting = self._count(events[nearby], clips)
        nearby, clips = nearby[counting], clips[counting]
        return Boundaries(times[nearby] - self.begins[clips], self.labels[events[nearby]], clips)

    def identity(self) -> bytes:
        """Return bytes that differ if the boundaries may differ."""
        arrays = (self.events, self.labels, self.starts, self.recordings, self.begins, self.regions)
        facts = (self.crossing_count, self.shortest, self.longest, [array.shape for array in arrays])
        return b"".join([repr(facts).encode(), *(array.tobytes() for array in arrays)])

    def _count(self, events: IntArray, clips: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether references count in clips."""
        onsets, offsets = self.events[events].T
        begins, ends = self.regions[clips].T
        inside = (onsets < ends) & (offsets > begins)
        first, last = np.maximum(onsets, begins), np.minimum(offsets, ends)
        lengths = np.where(inside, last - first, offsets - onsets)
        counting: NDArray[np.bool_] = (lengths > self.shortest) & (lengths <= self.longest)
        if not self.crossing_count:
            counting &= ~inside | ((onsets >= begins) & (offsets <= ends))
        return counting


def _ranges(firsts: IntArray, counts: IntArray) -> IntArray:
    """Return ranges of indices, one after the other.

    >>> _ranges(np.array([7, 2]), np.array([3, 2])).tolist()
    [7, 8, 9, 2, 3]
    """
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(counts.sum())


def frames_between(ticks: Ticks, start: int, end: int) -> slice:
    """Return the frames that overlap a stretch of time.

    >>> frames_between(np.array([0, 10, 20, 30]), 15, 30)
    slice(1, 3, None)
    """
    first = max(0, int(np.searchsorted(ticks, start, side="right")) - 1)
    stop = min(len(ticks) - 1, int(np.searchsorted(ticks, end, side="left")))
    return slice(first, max(first, stop))


@dataclass(frozen=True)
class Stretch:
    """A stretch of a clip, in microseconds."""

    clip: str
    start: int
    end: int
    is_whole_clip: bool = False
    """Whether it is the whole clip, which is not cut at all."""

    def of(self, clip: AnyClip) -> AnyClip:
        """Return the frames within the stretch, with times from its start. Frames across its ends are cut.

        So are events that are kept as they are.
        """
        if self.is_whole_clip:
            return clip
        if isinstance(clip, ClipEvents):
            return clip.within(self.start, self.end)
        frames = frames_between(clip.ticks, self.start, self.end)
        ticks = np.zeros(1, np.int64)
        if frames.start < frames.stop:
            ticks = (
                np.clip(clip.ticks[frames.start : frames.stop + 1], self.start, self.end) - self.start
            )
        if isinstance(clip, ClipPieces):
            return ClipPieces(lambda: _pieces_within(clip, frames), edges=to_seconds(ticks))
        return ClipScores.unchecked(clip.values[frames], ticks)


def _pieces_within(clip: ClipPieces, frames: slice) -> Iterator[ScoreArray]:
    """Yield those parts of the pieces that hold some frames. Pieces after them are not read."""
    first = 0
    pieces = iter(clip.read())
    while first < frames.stop:
        piece = next(pieces, None)
        if piece is None:
            break
        array = as_scores(piece)
        inside = array[max(0, frames.start - first) : max(0, frames.stop - first)]
        first += len(array)
        del piece, array  # before the next one is made
        if len(inside):
            yield inside


class StretchLoader:
    """Loads stretches of clips. A clip that can be identified is read once for its consecutive stretches.

    ``anonymous``: so is one that cannot, because nothing changes it meanwhile.
    """

    def __init__(
        self, scores: Scores, stretches: Mapping[str, Stretch], *, anonymous: bool = False
    ) -> None:
        self.scores, self.stretches, self.anonymous = scores, stretches, anonymous
        self._latest: tuple[str, str | None, AnyClip] | None = None

    def load(self, name: str) -> AnyClip:
        """Return the scores of a stretch."""
        stretch, latest = self.stretches[name], self._latest
        identity = self.scores.identity(stretch.clip)
        if latest is not None and latest[:2] == (stretch.clip, identity):
            return stretch.of(latest[2])
        clip = self.scores.open(stretch.clip)
        if identity is not None or self.anonymous:
            self._latest = (stretch.clip, identity, clip)
        return stretch.of(clip)

    def identify(self, name: str) -> str | None:
        """Return a text that changes whenever the scores of a stretch do."""
        stretch = self.stretches[name]
        identity = self.scores.identity(stretch.clip)
        if stretch.is_whole_clip or identity is None:
            return identity
        return f"{identity} from {stretch.start} to {stretch.end}"

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_latest": None}


_BYTES_OF_A_BLOCK = 1000


def cut_into_blocks(alignment: Alignment, seconds: float) -> Alignment:
    """Cut the recordings of an alignment into blocks of about this many seconds."""
    length = int(to_ticks(seconds))
    number = int((alignment.durations // length).sum())
    refuse_beyond_memory(
        _BYTES_OF_A_BLOCK * number,
        f"About {number} blocks of {seconds:g} s need",
        "Use longer blocks, and check the durations of the clips.",
    )
    blocks: dict[str, _Block] = {}
    block_clips: list[int] = []
    durations: list[int] = []
    event_blocks: IntArray = np.empty(len(alignment.events), np.int64)
    for number, clip in enumerate(alignment.clips):
        rows = slice(alignment.starts[number], alignment.starts[number + 1])
        duration = int(alignment.durations[number]) or int(alignment.scores.open(clip).ticks[-1])
        durations.append(duration)
        ends = block_ends(duration, length, alignment.events[rows])
        inside = np.searchsorted(ends[:-1], alignment.events[rows, 0], side="right")
        event_blocks[rows] = len(blocks) + inside
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            block_clips.append(number)
            blocks[f"{clip} at {start / 1e6:.6f} s"] = _Block(
                clip, start, end, last=bool(end == ends[-1])
            )
    starts = np.array([block.start for block in blocks.values()], np.int64)
    order = np.lexsort((alignment.events[:, 0], alignment.labels, event_blocks))
    counts = np.bincount(event_blocks, minlength=len(blocks))
    return replace(
        alignment,
        scores=_scores_of_blocks(alignment.scores, blocks),
        clips=tuple(blocks),
        events=(alignment.events - starts[event_blocks][:, None])[order],
        labels=alignment.labels[order],
        ignored=alignment.ignored[order],
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        durations=np.array([block.end - block.start for block in blocks.values()], np.int64),
        coverage="any",
        warnings=(),
        uncut=_uncut_references(alignment, np.array(durations)).parts(np.array(block_clips), starts),
    )


def _uncut_references(alignment: Alignment, durations: Ticks) -> UncutReferences:
    """Return the references of the recordings. ``durations``: known for all clips."""
    if alignment.uncut is not None:
        return alignment.uncut
    rows = ~alignment.ignored & (alignment.events[:, 0] < durations[alignment.event_clips])
    clips = len(alignment.clips)
    return UncutReferences(
        events=alignment.events[rows],
        labels=alignment.labels[rows],
        starts=np.concatenate([[0], np.cumsum(rows)])[alignment.starts].astype(np.int64),
        recordings=np.arange(clips),
        begins=np.zeros(clips, np.int64),
        regions=np.tile(np.array(EVERYTHING, np.int64), (clips, 1)),
        crossing_count=True,
    )


def clip_of_block(block: str) -> str:
    """Return the clip that a block was cut from.

    >>> clip_of_block("night at sea at 60.000000 s")
    'night at sea'
    """
    return block.rpartition(" at ")[0]


def block_ends(duration: int, length: int, events: Ticks) -> IntArray:
    """Return where the blocks of a recording end: in the longest pause near the length of each block.

    >>> block_ends(100, 20, np.array([[15, 22], [24, 41], [60, 61]])).tolist()
    [23, 44, 65, 85, 100]
    """
    pauses = _pauses(duration, events)
    ends: list[int] = []
    start = 0
    while duration - start > 1.5 * length:
        low = start + 3 * length // 4
        inside = pauses[:0]
        while not len(inside) and low < duration:  # further on if references leave no pause
            inside = np.clip(pauses, low, low + length // 2)
            inside = inside[inside[:, 1] > inside[:, 0]]
            low += length // 2
        if not len(inside):
            break
        begin, end = inside[np.argmax(inside[:, 1] - inside[:, 0])].tolist()
        middle = (begin + end) // 2
        second = round(middle / TICKS_PER_SECOND) * TICKS_PER_SECOND
        start = second if begin <= second <= end and second > start else middle
        if duration - start < length / 2:
            break
        ends.append(start)
    return np.array([*ends, duration], np.int64)


def _pauses(duration: int, events: Ticks) -> Ticks:
    """Return (pauses × 2) where no reference is active."""
    order = np.argsort(events[:, 0], kind="stable")
    begins = np.concatenate([[0], np.maximum.accumulate(events[order, 1])])
    pauses = np.stack([begins, np.append(events[order, 0], duration)], axis=1)
    return pauses[pauses[:, 1] > pauses[:, 0]]


@dataclass(frozen=True)
class _Block(Stretch):
    """A stretch between two pauses. The last one of a clip has all frames to the end of the scores."""

    last: bool = False

    def of(self, clip: AnyClip) -> AnyClip:
        """Return the frames or events within the block; those across its ends are cut."""
        whole = frames_or_events(self.clip, clip)
        end = max(self.end, int(whole.ticks[-1])) if self.last else self.end
        part = Stretch(self.clip, self.start, end).of(whole)
        if isinstance(part, ClipScores) and not len(part.values):  # no scores: nothing is detected
            silence = np.full((1, part.values.shape[1]), -np.inf, part.values.dtype)
            return ClipScores.unchecked(silence, np.array([0, end - self.start], np.int64))
        return part


def _scores_of_blocks(scores: Scores, blocks: Mapping[str, _Block]) -> Scores:
    """Return the scores of the blocks, which are cut out of those of the clips when they are read."""
    loader = StretchLoader(scores, blocks, anonymous=True)
    return scores._remade(blocks, loader.load, identify=loader.identify, assumed_clips=(), locate=None)
