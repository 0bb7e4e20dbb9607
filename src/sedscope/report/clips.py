"""Clips to browse: which ones, and what is drawn of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.deltas import Deltas
from ..data.alignment import Alignment
from ..data.clip_ids import clip_id
from ..data.scores import ClipScores
from ..errors import SedscopeError, counted, listing
from ..io.locations import folder_content, location
from .packing import differences, octets
from .slider_positions import Thresholds
from .systems import System

GOOD_SHARE = 6  # one in so many clips is a good one
_MOST_FRAMES = 2000
_MOST_CLASSES = 12


def clip_costs(deltas: Deltas, thresholds: Mapping[str, float]) -> NDArray[np.int64]:
    """(clips × 2) false positives, and missed references, of all classes at given thresholds."""
    table, clips = deltas.tables.detections, deltas.tables.detections.clip_of_row()
    starts = table.class_starts()
    tp_changes, fp_changes = table.columns
    false, missed = np.zeros(len(deltas.clips), np.int64), np.zeros(len(deltas.clips), np.int64)
    for c, label in enumerate(deltas.classes):
        if label not in thresholds:
            continue
        rows = slice(starts[c], starts[c + 1])
        active = np.flatnonzero(table.scores[rows].astype(np.float64) > thresholds[label]) + starts[c]
        np.add.at(false, clips[active], fp_changes[active].astype(np.int64))
        np.subtract.at(missed, clips[active], tp_changes[active].astype(np.int64))
        of_class = deltas.tables.references.labels == c
        np.add.at(missed, deltas.tables.references.clips[of_class], 1)
    return np.stack([false, missed], axis=1)


def choose_clips(
    alignment: Alignment, costs: NDArray[np.int64], shown: int | Iterable[str]
) -> list[int]:
    """Clips by number, the most costly first: so many, of which one in six is a good one (nothing is
    wrong in it, and there is something to find), or those that are named."""
    clips = alignment.clips
    total, references = costs.sum(axis=1), np.diff(alignment.starts)
    order = np.lexsort((np.arange(len(clips)), -total))
    if not isinstance(shown, int):
        number = {clip: i for i, clip in enumerate(clips)}
        wanted = [clip_id(name) for name in shown]
        unknown = [clip for clip in wanted if clip not in number]
        if unknown:
            raise SedscopeError(
                f"clips to show that were not evaluated: {counted(len(unknown), 'clip')}: "
                f"{listing(unknown)}"
            )
        chosen = {number[clip] for clip in wanted}
        return [int(i) for i in order if i in chosen]
    if isinstance(shown, bool) or shown < 0:
        raise SedscopeError(
            f"clips_shown={shown!r} must be a number of clips, at least 0, or their names"
        )
    good = [int(i) for i in np.lexsort((np.arange(len(clips)), -references)) if total[i] == 0]
    good = [i for i in good if references[i]][: shown // GOOD_SHARE]
    costly = [int(i) for i in order if total[i] > 0][: shown - len(good)]
    return [*costly, *good]


def describe_clip(
    number: int,
    systems: Sequence[System],
    stops: Sequence[Thresholds],
    shown: Sequence[str],
    costs: Sequence[NDArray[np.int64]],
    lowest: Sequence[float],
) -> dict[str, Any]:
    """One clip for the page.

    Scores are told by the number of stops of the class that lie below them, in a byte a frame: so
    detections at every stop are exact. Classes without references are drawn if a score lies above
    ``lowest``; at most twelve are.
    """
    first = systems[0].alignment
    assert first is not None
    clip = first.clips[number]
    events = slice(first.starts[number], first.starts[number + 1])
    position = {label: k for k, label in enumerate(shown)}
    references = [
        [position.get(first.classes[label], -1 - int(label)), *times]
        for label, times in zip(first.labels[events], first.events[events].tolist(), strict=True)
    ]
    of_systems: list[dict[str, Any]] = []
    drawn = dict.fromkeys(k for k, *_ in references if k >= 0)
    read: list[tuple[ClipScores, Alignment]] = []
    for system in systems:
        assert system.alignment is not None
        scores = system.alignment.scores[clip]
        read.append((scores, system.alignment))
        highest = {
            k: _column(scores, system.alignment, label).max(initial=-np.inf)
            for label, k in position.items()
        }
        near = [k for k in sorted(highest, key=lambda k: -_rank(highest[k], stops[k])) if k not in drawn]
        drawn |= dict.fromkeys(k for k in near if highest[k] > lowest[k])
    kept = sorted(list(drawn)[:_MOST_CLASSES])
    for (scores, alignment), cost in zip(read, costs, strict=True):
        pool = -(-len(scores.values) // _MOST_FRAMES) or 1
        of_systems.append(
            {
                "cost": cost[number].tolist(),
                "edges": _edges(scores.ticks[::pool], scores.ticks[-1]),
                "pool": pool,
                "codes": {
                    str(k): octets(_codes(_column(scores, alignment, shown[k]), stops[k], pool))
                    for k in kept
                },
            }
        )
    return {
        "name": clip,
        "end": int(max([first.durations[number], *(scores.ticks[-1] for scores, _ in read)])),
        "references": references,
        "left_out": len(drawn) - len(kept),
        "systems": of_systems,
    }


def _column(scores: ClipScores, alignment: Alignment, label: str) -> NDArray[np.float64]:
    column = alignment.columns[alignment.classes.index(label)]
    return scores.values[:, column].astype(np.float64)


def _rank(score: float, stops: Thresholds) -> int:
    return int(np.searchsorted(stops[::-1], score))


def _codes(scores: NDArray[np.float64], stops: Thresholds, pool: int) -> NDArray[np.uint8]:
    """Per frame, or per so many frames the highest, how many stops lie below its score."""
    codes = np.searchsorted(stops[::-1], scores).astype(np.uint8)
    return np.maximum.reduceat(codes, np.arange(0, len(codes), pool)) if len(codes) else codes


def _edges(ticks: NDArray[np.int64], end: int) -> list[int] | str:
    """Frame boundaries in microseconds: first, last and number of equal frames, or all of them."""
    edges = ticks if ticks[-1] == end else np.append(ticks, end)
    frames = max(1, len(edges) - 1)
    equal = np.floor(edges[0] + np.arange(len(edges)) * ((edges[-1] - edges[0]) / frames) + 0.5)
    if np.array_equal(equal, edges):
        return [int(edges[0]), int(edges[-1]), len(edges) - 1]
    return differences(edges)


def find_audio(folder: str | Path, clips: Sequence[str], room: int) -> tuple[dict[str, str], list[str]]:
    """Audio files of clips as data addresses, in order while there is room, and what is missing."""
    from base64 import b64encode

    here = location(folder)
    if not here.is_dir():
        raise SedscopeError(f"no folder of audio files: {folder}")
    files = {file.stem: file for file in folder_content(here) if file.suffix in _AUDIO_TYPES}
    found: dict[str, str] = {}
    absent = [clip for clip in clips if clip not in files]
    beyond = []
    for clip in clips:
        if clip in files:
            size = files[clip].stat().st_size * 4 // 3
            if size > room:
                beyond.append(clip)
                continue
            room -= size
            data = b64encode(files[clip].read_bytes()).decode("ascii")
            found[clip] = f"data:{_AUDIO_TYPES[files[clip].suffix]};base64,{data}"
    notes = []
    if absent:
        notes.append(f"no audio file for {counted(len(absent), 'shown clip')}")
    if beyond:
        notes.append(f"no room for the audio of {counted(len(beyond), 'shown clip')}")
    return found, notes


_AUDIO_TYPES = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
}
