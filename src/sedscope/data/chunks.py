"""Chunks of long recordings joined to one timeline, averaged where they overlap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ..errors import SedscopeError, counted, listing
from .clip_ids import clip_id, clip_ids
from .times import to_ticks

if TYPE_CHECKING:
    from ..io.locations import Place
    from .scores import ClipScores, Scores

Unit: TypeAlias = Literal["seconds", "centiseconds", "milliseconds"]
Chunks: TypeAlias = "Mapping[str, tuple[str, float]] | str | Place | None"

_PER_SECOND = {"seconds": 1, "centiseconds": 100, "milliseconds": 1000}
_NUMBER = r"(\d+(?:\.\d+)?)"
_WITH_END = re.compile(rf"(.+)([-_]){_NUMBER}\2{_NUMBER}")
_WITH_START = re.compile(rf"(.+)[-_]{_NUMBER}")


def stitch(scores: Scores, chunks: Chunks, unit: Unit) -> Scores:
    """See :meth:`sedscope.Scores.stitch`."""
    from .scores import Scores

    if unit not in _PER_SECOND:
        raise SedscopeError(f"unit={unit!r}: choose {' or '.join(map(repr, _PER_SECOND))}")
    if chunks is None:
        placed = places_by_name(scores, unit)
    elif isinstance(chunks, Mapping):
        placed = _places(chunks)
    else:
        placed = _places(_read_chunks(chunks))
    ids = clip_ids(placed, "chunks")
    known = {clip: placed[name] for name, clip in ids.items()}
    missing = [clip for clip in scores if clip not in known]
    if missing:
        raise SedscopeError(
            f"no place is given for {counted(len(missing), 'chunk')} with scores: {listing(missing)}"
        )
    recordings: dict[str, list[tuple[int, str]]] = {}
    for clip in scores:
        recording, start = known[clip]
        recordings.setdefault(recording, []).append((start, clip))

    def load(recording: str) -> ClipScores:
        return joined([(start, scores[clip]) for start, clip in sorted(recordings[recording])])

    return Scores(
        recordings,
        load,
        classes=scores.classes,
        thread_safe=scores.thread_safe,
        whole_clips=scores.whole_clips,
    )


def joined(chunks: Iterable[tuple[int, ClipScores]]) -> ClipScores:
    """Chunks and the ticks where they begin: frames between all boundaries, and in each the mean of
    the chunks that cover it; ``-inf`` where none does. Means are float64."""
    from .scores import ClipScores

    parts = [(start + clip.ticks, clip.values) for start, clip in chunks]
    if len(parts) == 1:
        return ClipScores.unchecked(parts[0][1], parts[0][0])
    ticks = np.unique(np.concatenate([times for times, _ in parts]))
    covered = np.zeros(len(ticks) - 1, np.int64)
    spans = [np.searchsorted(ticks, times) for times, _ in parts]
    for span in spans:
        covered[span[0] : span[-1]] += 1
    overlapping = covered.max(initial=0) > 1
    kind = np.float64 if overlapping else np.result_type(*(values.dtype for _, values in parts))
    total = np.zeros((len(covered), parts[0][1].shape[1]), kind)
    with np.errstate(invalid="ignore"):  # inf and -inf give NaN, which is refused where it is used
        for span, (_, values) in zip(spans, parts, strict=True):
            total[span[0] : span[-1]] += np.repeat(values, np.diff(span), axis=0)
    if overlapping:
        total /= np.maximum(covered, 1)[:, None]
    total[covered == 0] = -np.inf
    return ClipScores.unchecked(total, ticks)


def places_by_name(clips: Iterable[str], unit: Unit = "seconds") -> dict[str, tuple[str, int]]:
    """Recording and start of chunks named ``RECORDING-START`` or ``RECORDING-START-END``.

    >>> places_by_name(["park_1-1200-2200"], "centiseconds")
    {'park_1-1200-2200': ('park_1', 12000000)}
    """
    places = {}
    unnamed = []
    for clip in clips:
        both = _WITH_END.fullmatch(clip)
        if both and float(both[4]) > float(both[3]):
            recording, start = both[1], both[3]
        elif alone := _WITH_START.fullmatch(clip):
            recording, start = alone.groups()
        else:
            unnamed.append(clip)
            continue
        places[clip] = recording, int(to_ticks(float(start) / _PER_SECOND[unit]))
    if unnamed:
        raise SedscopeError(
            f"{counted(len(unnamed), 'chunk')} not named RECORDING-START or RECORDING-START-END: "
            f"{listing(unnamed)}. Give a table of chunk, recording and start instead"
        )
    return places


def _places(chunks: Mapping[str, tuple[str, float]]) -> dict[str, tuple[str, int]]:
    places = {}
    wrong = []
    for chunk, place in chunks.items():
        try:
            recording, start = place
            places[chunk] = clip_id(recording), int(to_ticks(float(start)))
        except (TypeError, ValueError):
            wrong.append(f"{chunk}: {place!r}")
    if wrong:
        number = counted(len(wrong), "chunk")
        raise SedscopeError(f"{number} without recording and start in seconds: {listing(wrong)}")
    return places


def _read_chunks(path: str | Place) -> dict[str, tuple[str, float]]:
    """A table ``filename recording start``, in seconds, separated by tabs or commas."""
    from ..io.locations import place
    from ..io.text_tables import decode, delimiter_of, numbers, read_bytes, read_text_table

    file = place(path)
    table = read_text_table(file, delimiter_of(decode(read_bytes(file).split(b"\n", 1)[0], file)))
    wanted = ("filename", "recording", "start")
    missing = [name for name in wanted if name not in table.header]
    if missing:
        raise SedscopeError(
            f"{file}: no column {listing(list(map(repr, missing)))}; found "
            f"{listing(list(map(repr, table.header)))}"
        )
    name, recording, start = (table.header.index(column) for column in wanted)
    starts = numbers(table, [start])[0]
    rows = zip(table.rows, starts, strict=True)
    return {row[name].strip(): (row[recording].strip(), begin) for row, begin in rows}
