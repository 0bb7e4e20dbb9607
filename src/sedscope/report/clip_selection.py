"""The clips that a reader can browse: those with the most errors, and some without any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..alignment.alignment import Alignment
from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..data.arrays import IntArray
from ..data.clips import clip_id
from ..errors import SedscopeError, counted, listing
from .systems import System

_GOOD_SHARE = 6  # one clip in six has no errors, if there are any such clips


@dataclass(frozen=True, eq=False)
class ClipSelection:
    """The clips to browse."""

    clips: Sequence[int]
    """Their indices in the alignment, in the order of the page."""
    thresholds: Mapping[str, float]
    """For each detailed class the threshold of the best F-score, the lowest of all systems."""


def select_clips(
    systems: Sequence[System], at_positions: Sequence[Counts], clips_shown: int | Iterable[str]
) -> ClipSelection:
    """Rank the clips by their errors at the best F-score of each class, and select some.

    Of every class, the clip with the most errors is among them if there is room.

    ``at_positions`` holds the counts of each system at the slider positions, by one criterion.
    """
    alignment = systems[0].alignment
    assert alignment is not None
    best = [_best_thresholds(counts) for counts in at_positions]
    errors = np.zeros(len(alignment.clips), np.int64)
    worst = []
    for system, counts, thresholds in zip(systems, at_positions, best, strict=True):
        for of_class in class_errors(system.deltas[counts.criterion], thresholds):
            errors += of_class.sum(axis=1)
            if of_class.any():
                worst.append(int(np.argmax(of_class.sum(axis=1))))
    return ClipSelection(
        clips=choose_clips(alignment, errors, clips_shown, worst),
        thresholds={label: min(thresholds[label] for thresholds in best) for label in best[0]},
    )


def _best_thresholds(counts: Counts) -> dict[str, float]:
    """Return, for each class, the slider position with the best F-score.

    A class without references gets the first position, where nothing is detected.
    """
    thresholds = {}
    for label, table in counts.items():
        fscores = np.nan_to_num(table.tally().fscore()[1:], nan=-1.0)
        thresholds[label] = float(table.scores[int(np.argmax(fscores))]) if len(fscores) else np.inf
    return thresholds


def class_errors(deltas: Deltas, thresholds: Mapping[str, float]) -> Iterator[IntArray]:
    """Return the false positives and the missed references of each class, or their time, as (clips × 2).

    Frames with ``score > thresholds[label]`` are active. Classes without a threshold are left out.
    """
    table, clips = deltas.tables.detections, deltas.tables.detections.clip_of_row()
    starts, references = table.class_starts(), deltas.tables.references
    tp_changes, fp_changes = table.columns
    for c, label in enumerate(deltas.classes):
        if label not in thresholds:
            continue
        false, missed = np.zeros((2, len(deltas.clips)), np.int64)
        rows = slice(starts[c], starts[c + 1])
        active = np.flatnonzero(table.scores[rows].astype(np.float64) > thresholds[label]) + starts[c]
        np.add.at(false, clips[active], fp_changes[active].astype(np.int64))
        np.subtract.at(missed, clips[active], tp_changes[active].astype(np.int64))
        of_class = references.labels == c
        times = references.times[of_class] if deltas.criterion.measures_time else 1
        np.add.at(missed, references.clips[of_class], times)
        yield np.stack([false, missed], axis=1)


def choose_clips(
    alignment: Alignment, errors: IntArray, clips_shown: int | Iterable[str], worst: Iterable[int]
) -> list[int]:
    """Choose the clips to browse, those with the most errors first.

    ``errors`` holds the number of errors of each clip, and ``worst`` the clip with the most errors of
    each class. ``clips_shown`` names clips or says how many to choose. Of a number, up to one in six are
    clips with references and without errors, and the worst ones are chosen before others.
    """
    numbers = np.arange(len(alignment.clips))
    by_errors = np.lexsort((numbers, -errors))
    if not isinstance(clips_shown, int):
        named = _numbers_of(alignment, clips_shown)
        return [int(i) for i in by_errors if i in named]
    if isinstance(clips_shown, bool) or clips_shown < 0:
        raise SedscopeError(
            f"clips_shown={clips_shown!r} must be a number of clips, at least 0, or a list of clips."
        )
    references = np.diff(alignment.counted().starts)
    by_references = np.lexsort((numbers, -references))
    good = [int(i) for i in by_references if errors[i] == 0 and references[i]]
    good = good[: clips_shown // _GOOD_SHARE]
    faulty = [int(i) for i in by_errors if errors[i] > 0]
    chosen = set([*dict.fromkeys([*worst, *faulty])][: clips_shown - len(good)])
    return [*(i for i in faulty if i in chosen), *good]


def _numbers_of(alignment: Alignment, names: Iterable[str]) -> set[int]:
    number = {clip: i for i, clip in enumerate(alignment.clips)}
    clips = [clip_id(name) for name in names]
    unknown = [clip for clip in clips if clip not in number]
    if unknown:
        raise SedscopeError(
            f"The report cannot show {counted(len(unknown), 'clip')} that the evaluation does not "
            f"contain: {listing(unknown)}. Check the names in clips_shown."
        )
    return {number[clip] for clip in clips}
