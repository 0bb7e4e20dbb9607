"""Clips to browse: scores, references and detections over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...alignment.alignment import Alignment
from ...data.arrays import FloatArray
from ...data.clip_events import ClipEvents
from ...data.score_sources import frames_or_events
from ...data.scores import ClipScores
from ...data.times import to_ticks
from ...diagnosis.clips import diagnose_aligned_clip
from ...diagnosis.judging import NOT_FALSE
from ..audio import embed_audio
from ..score_ranks import MAX_RUNS, event_ranks, score_ranks
from ..source import Data, Panel, PanelContent, ReportSource

_MAX_CLASSES = 12


def build(source: ReportSource) -> PanelContent | None:
    """Build the clips; nothing if there are none to browse."""
    selection = source.clip_selection
    alignments = [system.alignment for system in source.systems if system.alignment is not None]
    names = [] if selection is None else [alignments[0].clips[number] for number in selection.clips]
    if selection is None or not names:
        if source.audio is not None:
            embed_audio(source.audio, {}, lambda _: ())  # refuses a folder that does not exist
        return None
    max_runs = MAX_RUNS // (len(names) * len(alignments))
    clips = [
        _clip_entry(number, alignments, source.thresholds, selection.thresholds, max_runs)
        for number in selection.clips
    ]
    if source.audio is None:
        return {"clips": clips}, ()
    lengths = {clip["name"]: clip["end"] for clip in clips}
    audio = embed_audio(source.audio, lengths, lambda clip: _times_of_errors(source, clip))
    heard = [{**clip, "audio": audio.parts.get(clip["name"], ())} for clip in clips]
    return {"clips": heard}, audio.notes


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
        if event.error_type not in ("found", *NOT_FALSE) and event.label in selection.thresholds
    ]
    number = alignments[0].clips.index(clip)
    counted = alignments[0].counted()
    references = counted.events[slice(*counted.starts[number : number + 2])]
    return [(int(onset), int(offset)) for onset, offset in errors or references]


def _clip_entry(
    number: int,
    alignments: Sequence[Alignment],
    thresholds: Mapping[str, FloatArray],
    lowest: Mapping[str, float],
    max_runs: int,
) -> Data:
    """Build one clip.

    It shows the classes with references, and those with a score above ``lowest``, up to 12.
    """
    first = alignments[0]
    clip = first.clips[number]
    detailed = list(thresholds)
    events = slice(first.starts[number], first.starts[number + 1])
    rows = [
        (_class_number(first.classes, int(label), detailed), onset, offset)
        for label, (onset, offset) in zip(
            first.labels[events], first.events[events].tolist(), strict=True
        )
    ]
    is_ignored = first.ignored[events].tolist()
    references, ignored = (
        [row for row, out in zip(rows, is_ignored, strict=True) if out is chosen]
        for chosen in (False, True)
    )
    opened = [frames_or_events(clip, alignment.scores.open(clip)) for alignment in alignments]
    scores = [
        content.highest(len(alignment.scores.classes)) if isinstance(content, ClipEvents) else content
        for content, alignment in zip(opened, alignments, strict=True)
    ]
    drawn = dict.fromkeys(k for k, *_ in references if k >= 0)
    for content, alignment in zip(opened, alignments, strict=True):
        drawn |= dict.fromkeys(_classes_above(content, alignment, thresholds, lowest))
    kept = sorted(list(drawn)[:_MAX_CLASSES])
    drawn_thresholds = {k: thresholds[detailed[k]] for k in kept}
    systems = []
    for content, clip_scores, alignment in zip(opened, scores, alignments, strict=True):
        columns = {k: _column_number(alignment, detailed[k]) for k in kept}
        if isinstance(content, ClipEvents):
            systems.append(event_ranks(content, clip_scores, columns, drawn_thresholds))
        else:
            systems.append(score_ranks(clip_scores, columns, drawn_thresholds, max_runs))
    return {
        "name": clip,
        "end": int(max(first.durations[number], *(clip_scores.ticks[-1] for clip_scores in scores))),
        "references": references,
        "ignored": [row for row in ignored if row[0] in kept],
        "undrawn": len(drawn) - len(kept),  # classes near their threshold
        "systems": systems,
        "audio": (),
    }


def _class_number(classes: Sequence[str], label: int, detailed: Sequence[str]) -> int:
    return detailed.index(classes[label]) if classes[label] in detailed else -1 - label


def _classes_above(
    clip: ClipScores | ClipEvents,
    alignment: Alignment,
    thresholds: Mapping[str, FloatArray],
    lowest: Mapping[str, float],
) -> list[int]:
    """Return the detailed classes with a score above ``lowest``, the highest rank first."""
    ranks = {}
    for k, label in enumerate(thresholds):
        largest = _scores_of(clip, _column_number(alignment, label)).max(initial=-np.inf)
        if largest > lowest[label]:
            ranks[k] = int(np.searchsorted(thresholds[label][::-1], largest))
    return sorted(ranks, key=lambda k: -ranks[k])


def _scores_of(clip: ClipScores | ClipEvents, column: int) -> FloatArray:
    """Return the scores of all frames or events of a class."""
    if isinstance(clip, ClipEvents):
        return clip.confidences[clip.columns == column]
    return clip.values[:, column].astype(np.float64)


def _column_number(alignment: Alignment, label: str) -> int:
    return int(alignment.columns[alignment.classes.index(label)])


PANEL = Panel("clips", "Clips", build)
