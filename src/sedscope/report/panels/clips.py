"""Clips to browse: scores, references and detections over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...data.alignment import Alignment
from ...data.arrays import FloatArray
from ...data.scores import ClipScores
from ...data.times import Ticks, to_ticks
from ...diagnosis.clips import diagnose_aligned_clip
from ...diagnosis.error_types import TYPES
from ..audio import AudioPart, embed_audio
from ..packing import pack_bytes, pack_steps
from ..schema import Packed, PanelData
from ..source import ReportSource
from .panel import Panel, PanelContent

_MAX_FRAMES = 2000
_MAX_CLASSES = 12


@dataclass(frozen=True)
class ClipScoreRanks:
    """The scores of one system in a clip.

    The rank of a score is the number of thresholds of its class below it. So detections are exact at
    every slider position.
    """

    edges: tuple[int, int, int] | Packed
    """Frame boundaries in microseconds: first, last and number of equal frames, or all of them."""
    frames_per_column: int
    """Of how many frames a rank is the largest one. With more than 1, detections are not exact."""
    ranks: Mapping[int, str]
    """For each detailed class that is drawn, one byte per column in base64."""


@dataclass(frozen=True)
class ClipEntry:
    """A clip to browse."""

    name: str
    end: int
    """In microseconds."""
    references: Sequence[tuple[int, int, int]]
    """Class, onset and offset in microseconds. A class without details is −1 − its index."""
    undrawn: int
    """How many more classes are near their threshold in this clip."""
    systems: Sequence[ClipScoreRanks]
    audio: Sequence[AudioPart] = ()
    """In order of time; of long recordings only some parts."""


@dataclass(frozen=True)
class ClipsData(PanelData):
    """The clips to browse, those with the most errors first."""

    clips: Sequence[ClipEntry]


def build(source: ReportSource) -> PanelContent | None:
    """Build the clips; nothing if there are none to browse."""
    selection = source.clip_selection
    alignments = [system.alignment for system in source.systems if system.alignment is not None]
    names = [] if selection is None else [alignments[0].clips[number] for number in selection.clips]
    if selection is None or not names:
        if source.audio is not None:
            embed_audio(source.audio, {}, lambda _: ())  # refuses a folder that does not exist
        return None
    clips = [
        _clip_entry(number, alignments, source.thresholds, selection.thresholds)
        for number in selection.clips
    ]
    if source.audio is None:
        return PanelContent(ClipsData(clips))
    lengths = {clip.name: clip.end for clip in clips}
    audio = embed_audio(source.audio, lengths, lambda clip: _times_of_errors(source, clip))
    heard = [replace(clip, audio=audio.parts.get(clip.name, ())) for clip in clips]
    return PanelContent(ClipsData(heard), audio.notes)


def _times_of_errors(source: ReportSource, clip: str) -> list[tuple[int, int]]:
    """Return onset and offset of the errors of all systems in a clip, in microseconds.

    They are those by which the clips were selected. If the clip has none, or if no criterion judges
    events, references take their place.
    """
    selection = source.clip_selection
    assert selection is not None
    alignments = [system.alignment for system in source.systems if system.alignment is not None]
    judged = [
        diagnose_aligned_clip(alignment, clip, criterion, selection.thresholds)
        for alignment in alignments
        for criterion in source.judging_criteria[:1]
    ]
    errors = [
        to_ticks([event.onset, event.offset])
        for diagnosis in judged
        for event in (*diagnosis.detections, *diagnosis.references)
        if event.error_type not in TYPES[0] and event.label in selection.thresholds
    ]
    number = alignments[0].clips.index(clip)
    references = alignments[0].events[slice(*alignments[0].starts[number : number + 2])]
    return [(int(onset), int(offset)) for onset, offset in errors or references]


def _clip_entry(
    number: int,
    alignments: Sequence[Alignment],
    thresholds: Mapping[str, FloatArray],
    lowest: Mapping[str, float],
) -> ClipEntry:
    """Build one clip.

    It shows the classes with references, and those with a score above ``lowest``, up to 12.
    """
    first = alignments[0]
    clip = first.clips[number]
    detailed = list(thresholds)
    events = slice(first.starts[number], first.starts[number + 1])
    references = [
        (_class_number(first.classes, int(label), detailed), onset, offset)
        for label, (onset, offset) in zip(
            first.labels[events], first.events[events].tolist(), strict=True
        )
    ]
    scores = [alignment.scores[clip] for alignment in alignments]
    drawn = dict.fromkeys(k for k, *_ in references if k >= 0)
    for clip_scores, alignment in zip(scores, alignments, strict=True):
        drawn |= dict.fromkeys(_classes_above(clip_scores, alignment, thresholds, lowest))
    kept = sorted(list(drawn)[:_MAX_CLASSES])
    return ClipEntry(
        name=clip,
        end=int(max(first.durations[number], *(clip_scores.ticks[-1] for clip_scores in scores))),
        references=references,
        undrawn=len(drawn) - len(kept),
        systems=[
            _score_ranks(clip_scores, alignment, {k: detailed[k] for k in kept}, thresholds)
            for clip_scores, alignment in zip(scores, alignments, strict=True)
        ],
    )


def _class_number(classes: Sequence[str], label: int, detailed: Sequence[str]) -> int:
    return detailed.index(classes[label]) if classes[label] in detailed else -1 - label


def _classes_above(
    scores: ClipScores,
    alignment: Alignment,
    thresholds: Mapping[str, FloatArray],
    lowest: Mapping[str, float],
) -> list[int]:
    """Return the detailed classes with a score above ``lowest``, the highest rank first."""
    ranks = {}
    for k, label in enumerate(thresholds):
        largest = _column(scores, alignment, label).max(initial=-np.inf)
        if largest > lowest[label]:
            ranks[k] = int(np.searchsorted(thresholds[label][::-1], largest))
    return sorted(ranks, key=lambda k: -ranks[k])


def _score_ranks(
    scores: ClipScores,
    alignment: Alignment,
    labels: Mapping[int, str],
    thresholds: Mapping[str, FloatArray],
) -> ClipScoreRanks:
    frames = -(-len(scores.values) // _MAX_FRAMES) or 1
    return ClipScoreRanks(
        edges=_edges(scores.ticks[::frames], scores.ticks[-1]),
        frames_per_column=frames,
        ranks={
            k: pack_bytes(_ranks(_column(scores, alignment, label), thresholds[label], frames))
            for k, label in labels.items()
        },
    )


def _column(scores: ClipScores, alignment: Alignment, label: str) -> FloatArray:
    column = alignment.columns[alignment.classes.index(label)]
    return scores.values[:, column].astype(np.float64)


def _ranks(scores: FloatArray, thresholds: FloatArray, frames: int) -> NDArray[np.uint8]:
    """Return, for each group of frames, the number of thresholds below its largest score."""
    ranks = np.searchsorted(thresholds[::-1], scores).astype(np.uint8)
    return np.maximum.reduceat(ranks, np.arange(0, len(ranks), frames)) if len(ranks) else ranks


def _edges(ticks: Ticks, end: int) -> tuple[int, int, int] | Packed:
    """Pack frame boundaries: first, last and number of equal frames, or all of them."""
    edges = ticks if ticks[-1] == end else np.append(ticks, end)
    frames = max(1, len(edges) - 1)
    equal = np.floor(edges[0] + np.arange(len(edges)) * ((edges[-1] - edges[0]) / frames) + 0.5)
    if np.array_equal(equal, edges):
        return int(edges[0]), int(edges[-1]), len(edges) - 1
    return pack_steps(edges)


PANEL = Panel("clips", "Clips", build)
