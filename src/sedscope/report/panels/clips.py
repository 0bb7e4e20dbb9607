"""Clips to browse: scores, references and detections over time.

Scores are ranks among the slider positions. In a long clip, neighbouring frames of equal rank are one
run. Most scores of a long recording lie below all slider positions, so there are far fewer runs than
frames, and detections stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...alignment.alignment import Alignment
from ...data.arrays import FloatArray
from ...data.clip_events import ClipEvents
from ...data.scores import ClipScores, frames_or_events
from ...data.times import Ticks, to_ticks
from ...diagnosis.clips import diagnose_aligned_clip
from ...diagnosis.judging import NOT_FALSE
from ..audio import embed_audio
from ..packing import pack, pack_bytes, pack_steps
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


FEW_FRAMES = 2000
"""A clip with so few frames is stored frame by frame."""
MAX_RUNS = 1_500_000
"""Of all clips of a page, systems and classes together; a run takes about three bytes."""


def event_ranks(
    events: ClipEvents,
    highest: ClipScores,
    columns: Mapping[int, int],
    thresholds: Mapping[int, FloatArray],
) -> Data:
    """Rank the scored events of some classes.

    ``highest``: the highest confidences at each instant. The other arguments are those of
    :func:`score_ranks`.
    """
    ranked = {}
    for k, column in columns.items():
        rows = events.columns == column
        ranks = np.searchsorted(thresholds[k][::-1], events.confidences[rows])
        ranked[k] = sorted(
            (onset, offset, rank)
            for (onset, offset), rank in zip(events.times[rows].tolist(), ranks.tolist(), strict=True)
            if rank
        )
    return {**score_ranks(highest, columns, thresholds, MAX_RUNS), "events": ranked}


def score_ranks(
    scores: ClipScores, columns: Mapping[int, int], thresholds: Mapping[int, FloatArray], max_runs: int
) -> Data:
    """Rank the scores of some classes: how many thresholds of the class lie below each.

    So detections are exact at every slider position. ``ranks`` has a byte per run of columns in base64,
    ``runs`` the number of columns of each run, and ``events`` the onset, offset and rank of events that
    are kept as they are.

    Parameters
    ----------
    scores : ClipScores
        The scores of the clip.
    columns : mapping of int to int
        The detailed classes to draw, and their columns in the scores.
    thresholds : mapping of int to FloatArray
        For each of these classes the thresholds of its slider positions, decreasing.
    max_runs : int
        With more runs, neighbouring frames share a rank, but never more than needed for 2000 columns.
    """
    ranks = {
        k: np.searchsorted(thresholds[k][::-1], scores.values[:, column].astype(np.float64)).astype(
            np.uint8
        )
        for k, column in columns.items()
    }
    if len(scores.values) <= FEW_FRAMES:
        return {
            "edges": _edges(scores.ticks, scores.ticks[-1]),
            "frames_per_column": 1,
            "ranks": {k: pack_bytes(of_class) for k, of_class in ranks.items()},
            "runs": None,
            "events": None,
        }
    most = -(-len(scores.values) // FEW_FRAMES)
    frames, runs = 1, {k: _runs(of_class) for k, of_class in ranks.items()}
    while frames < most and sum(len(starts) for starts, _ in runs.values()) > max_runs:
        frames = min(2 * frames, most)
        runs = {k: _runs(_largest(of_class, frames)) for k, of_class in ranks.items()}
    number = -(-len(scores.values) // frames)
    return {
        "edges": _edges(scores.ticks[::frames], scores.ticks[-1]),
        "frames_per_column": frames,  # a rank is the largest of so many: with more than 1, not exact
        "ranks": {k: pack_bytes(of_runs) for k, (_, of_runs) in runs.items()},
        "runs": {k: pack(np.diff(starts, append=number)) for k, (starts, _) in runs.items()},
        "events": None,
    }


def _runs(ranks: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Return where each run of equal ranks starts, and its rank."""
    starts = np.flatnonzero(np.concatenate([[True], ranks[1:] != ranks[:-1]]))
    return starts, ranks[starts]


def _largest(ranks: NDArray[np.uint8], frames: int) -> NDArray[np.uint8]:
    """Return the largest rank of each group of frames."""
    return np.maximum.reduceat(ranks, np.arange(0, len(ranks), frames))


def _edges(ticks: Ticks, end: int) -> tuple[int, float, int, int] | str:
    """Pack boundaries: the first, the length and number of columns and the last, or all of them."""
    edges = ticks if ticks[-1] == end else np.append(ticks, end)
    columns, regular = len(edges) - 1, edges[:-1]  # the last column may be shorter
    mean = (int(regular[-1]) - int(regular[0])) / (columns - 1) if columns > 1 else 0.0
    # where the length is no whole number of microseconds, the mean of rounded boundaries is a little off
    simple = (float(Fraction(mean).limit_denominator(limit)) for limit in (10, 100, 1000))
    for length in (mean, *simple):
        if np.array_equal(np.floor(edges[0] + np.arange(columns) * length + 0.5), regular):
            return int(edges[0]), length, columns, int(edges[-1])
    return pack_steps(edges)


PANEL = Panel("clips", "Clips", build)
