"""Chunks of long recordings: where each one starts, and how they are stitched to one timeline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from ..errors import SedscopeError, listing, subject
from .clip_ids import clip_id, clip_ids
from .score_arrays import ClipScores
from .times import to_ticks

Unit: TypeAlias = Literal["seconds", "centiseconds", "milliseconds"]
ChunkTable: TypeAlias = Mapping[str, tuple[str, float]]
"""``{chunk: (recording, start in seconds)}``."""
Chunks: TypeAlias = ChunkTable | str | Path | None
"""A table, a file with one, or None: the names of the chunks say where they start."""

_PER_SECOND = {"seconds": 1, "centiseconds": 100, "milliseconds": 1000}
_NUMBER = r"(\d+(?:\.\d+)?)"
_WITH_END = re.compile(rf"(.+)([-_]){_NUMBER}\2{_NUMBER}")
_WITH_START = re.compile(rf"(.+)[-_]{_NUMBER}")


def chunks_by_recording(
    clips: Iterable[str], chunks: ChunkTable | None, unit: Unit
) -> dict[str, list[tuple[int, str]]]:
    """Group the chunks by recording: the start of each in microseconds, and its clip, in order."""
    names = list(clips)
    starts = starts_by_name(names, unit) if chunks is None else _checked_starts(chunks)
    ids = clip_ids(starts, "chunks")
    start_of = {clip: starts[name] for name, clip in ids.items()}
    missing = [clip for clip in names if clip not in start_of]
    if missing:
        raise SedscopeError(
            f"{subject(len(missing), 'chunk', 'has')} scores but no recording and start: "
            f"{listing(missing)}."
        )
    recordings: dict[str, list[tuple[int, str]]] = {}
    for clip in names:
        recording, start = start_of[clip]
        recordings.setdefault(recording, []).append((start, clip))
    return {recording: sorted(parts) for recording, parts in recordings.items()}


def check_unit(unit: str) -> None:
    """Refuse an unknown unit of time."""
    if unit not in _PER_SECOND:
        choices = " or ".join(map(repr, _PER_SECOND))
        raise SedscopeError(f"unit={unit!r} is not valid. Choose {choices}.")


def stitch_clips(chunks: Iterable[tuple[int, ClipScores]]) -> ClipScores:
    """Stitch chunks, each with the tick where it starts, to one timeline.

    Frames lie between any two boundaries. The score of a frame is the mean of the chunks that cover it
    (as float64 where chunks overlap), and ``-inf`` where no chunk does.
    """
    parts = [(start + clip.ticks, clip.values) for start, clip in chunks]
    if len(parts) == 1:
        return ClipScores.unchecked(parts[0][1], parts[0][0])
    ticks = np.unique(np.concatenate([times for times, _ in parts]))
    coverage = np.zeros(len(ticks) - 1, np.int64)
    spans = [np.searchsorted(ticks, times) for times, _ in parts]
    for span in spans:
        coverage[span[0] : span[-1]] += 1
    overlapping = coverage.max(initial=0) > 1
    dtype = np.float64 if overlapping else np.result_type(*(values.dtype for _, values in parts))
    total = np.zeros((len(coverage), parts[0][1].shape[1]), dtype)
    with np.errstate(invalid="ignore"):  # inf and -inf add up to NaN, which is refused where it is used
        for span, (_, values) in zip(spans, parts, strict=True):
            total[span[0] : span[-1]] += np.repeat(values, np.diff(span), axis=0)
    if overlapping:
        total /= np.maximum(coverage, 1)[:, None]
    total[coverage == 0] = -np.inf
    return ClipScores.unchecked(total, ticks)


def starts_by_name(clips: Iterable[str], unit: Unit = "seconds") -> dict[str, tuple[str, int]]:
    """Read the recording and start of chunks named ``RECORDING-START`` or ``RECORDING-START-END``.

    >>> starts_by_name(["park_1-1200-2200"], "centiseconds")
    {'park_1-1200-2200': ('park_1', 12000000)}
    """
    starts = {}
    unnamed = []
    for clip in clips:
        with_end = _WITH_END.fullmatch(clip)
        if with_end and float(with_end[4]) > float(with_end[3]):
            recording, start = with_end[1], with_end[3]
        elif with_start := _WITH_START.fullmatch(clip):
            recording, start = with_start.groups()
        else:
            unnamed.append(clip)
            continue
        starts[clip] = recording, int(to_ticks(float(start) / _PER_SECOND[unit]))
    if unnamed:
        raise SedscopeError(
            f"{subject(len(unnamed), 'chunk', 'is')} not named RECORDING-START or RECORDING-START-END: "
            f"{listing(unnamed)}. Give a table of chunk, recording and start instead."
        )
    return starts


def _checked_starts(chunks: ChunkTable) -> dict[str, tuple[str, int]]:
    starts = {}
    wrong = []
    for chunk, entry in chunks.items():
        try:
            recording, start = entry
            starts[chunk] = clip_id(recording), int(to_ticks(float(start)))
        except (TypeError, ValueError):
            wrong.append(f"{chunk}: {entry!r}")
    if wrong:
        raise SedscopeError(
            f"{subject(len(wrong), 'chunk', 'has')} no recording and start in seconds: {listing(wrong)}."
        )
    return starts
