"""Who is taken for whom, and in which clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.deltas import Deltas
from ..criteria.delta_tables import DeltaRows

CLIPS_PER_CELL = 20

Cell = list[tuple[int, float, float]]
"""Clips with the scores from which on, and down to which, they have a cross-trigger."""


def cells(deltas: Deltas, shown: NDArray[np.intp]) -> dict[tuple[int, int], Cell]:
    """By class and other class (numbers among those shown) the clips with the highest scores.

    A frame pattern is a cross-trigger for thresholds below the first score and not below the second,
    which is ``-inf`` if it stays one.
    """
    table = deltas.tables.cross_triggers
    labels, changes = table.columns
    number = np.full(len(deltas.classes), -1)
    number[shown] = np.arange(len(shown))
    starts, clips = table.class_starts(), table.clip_of_row()
    found: dict[tuple[int, int], Cell] = {}
    for c in shown:
        rows = slice(starts[c], starts[c + 1])
        others = number[labels[rows]]
        for m in np.unique(others[others >= 0]).tolist():
            chosen = np.flatnonzero(others == m) + starts[c]
            found[int(number[c]), m] = _highest(table, clips, changes, chosen)
    return found


def _highest(
    table: DeltaRows, clips: NDArray[np.intp], changes: NDArray[Any], rows: NDArray[np.intp]
) -> Cell:
    order = rows[np.lexsort((-table.scores[rows].astype(np.float64), clips[rows]))]
    clip, score = clips[order], table.scores[order].astype(np.float64)
    last = np.append((clip[1:] != clip[:-1]) | (score[1:] != score[:-1]), True)
    total = np.cumsum(changes[order].astype(np.int64))[last]
    clip, score = clip[last], score[last]
    begins = np.flatnonzero(np.concatenate([[True], clip[1:] != clip[:-1]]))
    before = np.concatenate([[0], total])[begins]
    count = total - np.repeat(before, np.diff(np.append(begins, len(clip))))
    there = count > 0
    same = np.concatenate([[False], clip[1:] == clip[:-1]])
    comes = np.flatnonzero(there & ~(np.concatenate([[False], there[:-1]]) & same))
    goes = np.flatnonzero(~there)
    nearest = np.searchsorted(goes, comes)
    at = np.append(goes, len(clip))[nearest]
    gone = np.where(
        (at < len(clip)) & (np.append(clip, -1)[at] == clip[comes]),
        np.append(score, -np.inf)[at],
        -np.inf,
    )
    order = np.lexsort((clip[comes], -score[comes]))
    rising = clip[comes][order].tolist()
    listed = set(list(dict.fromkeys(rising))[:CLIPS_PER_CELL])
    spans = zip(rising, score[comes][order].tolist(), gone[order].tolist(), strict=True)
    return [span for span in spans if span[0] in listed]


def as_json(
    found: dict[tuple[int, int], Cell], clip_number: dict[int, int], stops: Sequence[NDArray[np.float64]]
) -> dict[str, Any]:
    """For the page: clips, and for both scores how many stops of the class lie below them."""

    described: dict[str, Any] = {}
    for (c, m), cell in found.items():
        comes, goes = np.searchsorted(stops[c][::-1], np.array([span[1:] for span in cell]).T).tolist()
        described[f"{c},{m}"] = [
            [clip_number[i], first, last]
            for (i, *_), first, last in zip(cell, comes, goes, strict=True)
            if first > last
        ]
    return described
