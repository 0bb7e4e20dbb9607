"""Clips to browse: scores, references and detections over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...data.alignment import Alignment
from ...data.arrays import FloatArray
from ...data.scores import ClipScores
from ..audio import EmbeddedAudio, embed_audio
from ..schema import PanelData
from ..score_ranks import MAX_RUNS, ClipScoreRanks, score_ranks
from ..source import ReportSource
from .panel import Panel, PanelContent

_MAX_CLASSES = 12


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
    audio: str | None
    """A ``data:`` URL."""


@dataclass(frozen=True)
class ClipsData(PanelData):
    """The clips to browse, those with the most errors first."""

    clips: Sequence[ClipEntry]


def build(source: ReportSource) -> PanelContent | None:
    """Build the clips; nothing if there are none to browse."""
    selection = source.clip_selection
    alignments = [system.alignment for system in source.systems if system.alignment is not None]
    names = [] if selection is None else [alignments[0].clips[number] for number in selection.clips]
    audio = EmbeddedAudio() if source.audio is None else embed_audio(source.audio, names)
    if selection is None or not names:
        return None
    max_runs = MAX_RUNS // (len(names) * len(alignments))
    clips = [
        _clip_entry(number, alignments, source.thresholds, selection.thresholds, audio, max_runs)
        for number in selection.clips
    ]
    return PanelContent(ClipsData(clips), audio.notes)


def _clip_entry(
    number: int,
    alignments: Sequence[Alignment],
    thresholds: Mapping[str, FloatArray],
    lowest: Mapping[str, float],
    audio: EmbeddedAudio,
    max_runs: int,
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
            score_ranks(
                clip_scores,
                {k: _column_number(alignment, detailed[k]) for k in kept},
                {k: thresholds[detailed[k]] for k in kept},
                max_runs,
            )
            for clip_scores, alignment in zip(scores, alignments, strict=True)
        ],
        audio=audio.urls.get(clip),
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


def _column(scores: ClipScores, alignment: Alignment, label: str) -> FloatArray:
    return scores.values[:, _column_number(alignment, label)].astype(np.float64)


def _column_number(alignment: Alignment, label: str) -> int:
    return int(alignment.columns[alignment.classes.index(label)])


PANEL = Panel("clips", "Clips", build)
