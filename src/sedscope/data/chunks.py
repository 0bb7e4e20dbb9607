"""Chunks of long recordings: where each one starts, and how they are stitched to one timeline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, listing, located, refuse
from .arrays import FloatArray, ScoreArray, group_means
from .choices import Gaps, check_choice
from .clip_scores import ClipScores
from .clips import clip_id, clip_ids
from .times import LONGEST_TICKS, Ticks, to_ticks

if TYPE_CHECKING:
    from .scores import Scores


Unit: TypeAlias = Literal["seconds", "centiseconds", "milliseconds"]
ChunkTable: TypeAlias = Mapping[str, tuple[str, float]]
"""``{chunk: (recording, start in seconds)}``."""
Chunks: TypeAlias = ChunkTable | str | Path | None
"""A table, a file with one, or None: the names of the chunks say where they start."""

_PER_SECOND = {"seconds": 1, "centiseconds": 100, "milliseconds": 1000}
_SAME_SHARE = 100  # boundaries that differ by at most 1/100 of the shortest frame are one
_LENGTH_SHARE = 10  # a chunk may be longer or shorter than stated by 1/10 and a frame
_FRAMES_AT_ONCE = 2**16  # of overlapping chunks
_NUMBER = r"(\d+(?:\.\d+)?)"
_WITH_END = re.compile(rf"(.+)([-_]){_NUMBER}\2{_NUMBER}")
_WITH_START = re.compile(rf"(.+)[-_]{_NUMBER}")


@dataclass(frozen=True, order=True)
class Chunk:
    """A part of a recording."""

    start: int
    """Where it starts in the recording, in microseconds."""
    clip: str
    length: int | None = None
    """Its length in microseconds, if its name says where it ends."""


def chunks_by_recording(
    clips: Iterable[str], chunks: ChunkTable | None, unit: Unit
) -> dict[str, list[Chunk]]:
    """Group the chunks by recording, in order of their starts."""
    names = list(clips)
    starts = starts_by_name(names, unit) if chunks is None else _checked_starts(chunks)
    ids = clip_ids(starts, "chunks")
    start_of = {clip: starts[name] for name, clip in ids.items()}
    missing = [clip for clip in names if clip not in start_of]
    refuse(missing, "chunk", "has scores but no recording and start")
    recordings: dict[str, list[Chunk]] = {}
    for clip in names:
        recording, start, length = start_of[clip]
        recordings.setdefault(recording, []).append(Chunk(start, clip, length))
    return {recording: sorted(parts) for recording, parts in recordings.items()}


def stitch_clips(chunks: Sequence[tuple[Chunk, ClipScores]], gaps: Gaps) -> ClipScores:
    """Stitch chunks to one timeline.

    Frames lie between any two boundaries; boundaries that differ by at most 1 % of the shortest frame
    are one. The score of a frame is the mean of the chunks that cover it (where chunks overlap: the
    exact mean, rounded to a float64). Where no chunk does, it is ``-inf`` if gaps are ``"silent"``.
    Otherwise gaps are refused, except those that are shorter than a frame: the frame before then lasts
    until the next chunk.
    """
    check_lengths(chunks)
    filled = [(chunk, clip) for chunk, clip in chunks if len(clip.values)] or chunks[:1]
    parts = [(chunk.start + clip.ticks, clip.values) for chunk, clip in filled]
    if len(parts) == 1:
        return ClipScores.unchecked(parts[0][1], parts[0][0])
    ticks = np.unique(np.concatenate([times for times, _ in parts]))
    shortest = min((int(np.diff(times).min(initial=LONGEST_TICKS)) for times, _ in parts), default=0)
    ticks = ticks[np.concatenate([[True], np.diff(ticks) > shortest // _SAME_SHARE])]
    coverage = np.zeros(len(ticks) - 1, np.int64)
    spans = [np.searchsorted(ticks, times, side="right") - 1 for times, _ in parts]
    for span in spans:
        coverage[span[0] : span[-1]] += 1
    shape = len(coverage), parts[0][1].shape[1]
    if coverage.max(initial=0) > 1:
        scores: ScoreArray = _means_of_chunks([values for _, values in parts], spans, shape)
    else:
        scores = np.zeros(shape, np.result_type(*(values.dtype for _, values in parts)))
        for span, (_, values) in zip(spans, parts, strict=True):
            scores[span[0] : span[-1]] = np.repeat(values, np.diff(span), axis=0)
    uncovered = np.flatnonzero(coverage == 0)
    if gaps == "silent":
        scores[uncovered] = -np.inf
    elif len(uncovered):
        _refuse_gaps(ticks, uncovered, chunks)
        scores[uncovered] = scores[uncovered - 1]
    return ClipScores.unchecked(scores, ticks)


def _means_of_chunks(
    chunks: Sequence[ScoreArray], spans: Sequence[NDArray[np.intp]], shape: tuple[int, int]
) -> FloatArray:
    """Return the mean of the chunks that cover each frame, or 0. NaN of inf and -inf is refused later.

    ``spans``: the frames at which those of each chunk begin, and at which the last one ends.
    """
    means = np.zeros(shape)
    begins, ends = np.array([[span[0], span[-1]] for span in spans]).T
    for first in range(0, len(means), _FRAMES_AT_ONCE):
        last = min(first + _FRAMES_AT_ONCE, len(means))
        frames, rows = [], []
        for k in np.flatnonzero((begins < last) & (ends > first)).tolist():
            covered = np.arange(max(first, begins[k]), min(last, ends[k]))
            frames.append(covered - first)
            rows.append(chunks[k][np.searchsorted(spans[k], covered, side="right") - 1])
        if rows:
            means[first:last] = group_means(np.concatenate(rows), np.concatenate(frames), last - first)
    return means


def check_lengths(chunks: Sequence[tuple[Chunk, ClipScores]]) -> None:
    """Refuse chunks whose names state another length. The last one may be shorter than stated."""
    wrong = []
    for chunk, clip in chunks:
        if chunk.length is None or not len(clip.values):
            continue
        length, last_frame = int(clip.ticks[-1]), int(clip.ticks[-1] - clip.ticks[-2])
        tolerance = chunk.length / _LENGTH_SHARE + last_frame
        is_last = len(chunks) > 1 and chunk.start == chunks[-1][0].start
        if length > chunk.length + tolerance or (length < chunk.length - tolerance and not is_last):
            wrong.append(
                f"{chunk.clip} ({chunk.length / 1e6:g} s by its name, {length / 1e6:g} s of scores)"
            )
    advice = "Choose another unit (seconds, centiseconds or milliseconds), or give a table of chunk, "
    advice += "recording and start."
    refuse(wrong, "chunk", "does not have the length that RECORDING-START-END states", advice)


def _refuse_gaps(
    ticks: Ticks, uncovered: NDArray[np.intp], chunks: Sequence[tuple[Chunk, ClipScores]]
) -> None:
    """Refuse gaps between chunks that are as long as the last frame of a chunk, or longer."""
    longest = max(int(clip.ticks[-1] - clip.ticks[-2]) for _, clip in chunks if len(clip.values))
    long_gaps = [
        f"{ticks[i] / 1e6:.10g}–{ticks[i + 1] / 1e6:.10g} s"
        for i in uncovered.tolist()
        if ticks[i + 1] - ticks[i] >= longest
    ]
    if long_gaps:
        advice = (
            "If chunks are missing, add them. Choose another unit if the times are not in this one. "
        )
        advice += "To take gaps as frames in which nothing is active, use `gaps='silent'`."
        raise SedscopeError(f"No chunk covers {listing(long_gaps)}. {advice}", advice=advice)


def starts_by_name(
    clips: Iterable[str], unit: Unit = "seconds"
) -> dict[str, tuple[str, int, int | None]]:
    """Read the recording and start of chunks named ``RECORDING-START`` or ``RECORDING-START-END``, and
    their length if it is known.

    >>> starts_by_name(["park_1-1200-2200"], "centiseconds")
    {'park_1-1200-2200': ('park_1', 12000000, 10000000)}
    """
    starts: dict[str, tuple[str, int, int | None]] = {}
    unnamed = []
    for clip in clips:
        with_end = _WITH_END.fullmatch(clip)
        if with_end and float(with_end[4]) > float(with_end[3]):
            start, end = (_named_tick(clip, with_end[k], unit) for k in (3, 4))
            starts[clip] = with_end[1], start, end - start
        elif with_start := _WITH_START.fullmatch(clip):
            starts[clip] = with_start[1], _named_tick(clip, with_start[2], unit), None
        else:
            unnamed.append(clip)
    advice = "Give a table of chunk, recording and start instead."
    refuse(unnamed, "chunk", "is not named RECORDING-START or RECORDING-START-END", advice)
    return starts


def _named_tick(clip: str, number: str, unit: Unit) -> int:
    try:
        return int(to_ticks(float(number) / _PER_SECOND[unit]))
    except ValueError as error:
        raise SedscopeError(f"chunk {clip}: {error}") from None


def _checked_starts(chunks: ChunkTable) -> dict[str, tuple[str, int, int | None]]:
    starts: dict[str, tuple[str, int, int | None]] = {}
    wrong = []
    for chunk, entry in chunks.items():
        try:
            recording, start = entry
            starts[chunk] = clip_id(recording), int(to_ticks(float(start))), None
        except (TypeError, ValueError):
            wrong.append(f"{chunk}: {entry!r}")
    refuse(wrong, "chunk", "has no recording and start in seconds")
    return starts


def stitched_scores(scores: Scores, chunks: ChunkTable | None, *, unit: Unit, gaps: Gaps) -> Scores:
    """Stitch the chunks of each recording when it is needed."""
    check_choice(Unit, unit=unit)
    check_choice(Gaps, gaps=gaps)
    recordings = chunks_by_recording(scores, chunks, unit)
    return scores_of_recordings(
        scores,
        recordings,
        lambda _, parts: stitch_clips(parts, gaps),
        lambda _: f"gaps={gaps!r}",
        "stitch()",
    )


def scores_of_recordings(
    scores: Scores,
    recordings: Mapping[str, Sequence[Chunk]],
    join: Callable[[str, Sequence[tuple[Chunk, ClipScores]]], ClipScores],
    definition: Callable[[str], str],
    step: str,
) -> Scores:
    """Return the scores of recordings, whose chunks are joined when they are read.

    ``definition``: says of a recording how it is joined. ``step``: what the post-processing is called.
    """

    def load(recording: str) -> ClipScores:
        parts = [(chunk, scores[chunk.clip]) for chunk in recordings[recording]]
        with located(f"recording {recording}"):
            return join(recording, parts)

    def identify(recording: str) -> str | None:
        parts = [(chunk, scores.identity(chunk.clip)) for chunk in recordings[recording]]
        known = all(identity is not None for _, identity in parts)
        return f"{definition(recording)} {parts!r}" if known else None

    return scores._remade(
        recordings,
        load,
        in_memory=False,
        identify=identify,
        processing=(*scores.processing, step),
        assumed_clips=(),
        locate=None,
    )
