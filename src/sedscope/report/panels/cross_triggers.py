"""Cross-triggers: which class is detected in place of which, and in which clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...counting.counts import ClassCounts
from ...counting.deltas import Deltas
from ...criteria import Criterion
from ...criteria.delta_tables import DeltaRows
from ...data.arrays import FloatArray
from ..packing import pack_rows
from ..source import Panel, PanelContent, ReportSource

CLIPS_PER_CELL = 20

ClipRange: TypeAlias = tuple[int, float, float]
"""A clip, and two scores: it has a cross-trigger at thresholds below the first and not below the
second, which is ``-inf`` if the cross-trigger stays."""

Cells: TypeAlias = Mapping[tuple[int, int], Sequence[ClipRange]]
"""The clips of each cell, by detected class and actual class (indices of detailed classes)."""

ClipRanks: TypeAlias = tuple[int, int, int]
"""A clip, and for each of its two scores how many thresholds of the detected class lie below it."""


def build(source: ReportSource) -> PanelContent | None:
    """Build the matrices; nothing if no criterion counts cross-triggers."""
    tables = [
        counts[label]
        for system in source.systems[:1]
        for counts in system.counts.values()
        for label in source.detailed
    ]
    if not any(len(table.cross_rows) for table in tables):
        return None
    counts = [
        [
            [_counts_by_class(table, source.detailed) for table in by_criterion[criterion].values()]
            for criterion in source.criteria
        ]
        for by_criterion in source.at_positions
    ]
    cells, clips = _cells_of_systems(source)
    alignment = source.systems[0].alignment
    return {
        "counts": counts,  # by system, criterion and detected class
        "cells": cells,  # by system and criterion: clips by "detected,actual" class
        "clip_names": [] if alignment is None else [alignment.clips[i] for i in clips],
    }, ()


def _counts_by_class(table: ClassCounts, detailed: Sequence[str]) -> dict[int, str]:
    """Pack how many cross-triggers a class has on each other class, row by row."""
    if not len(table.cross_labels):
        return {}
    labels, index = np.unique(table.cross_labels, return_inverse=True)
    changes = np.zeros((len(labels), len(table.scores)), np.int64)
    np.add.at(changes, (index, table.cross_rows), table.cross_changes)
    number = {label: k for k, label in enumerate(detailed)}
    return {
        number[table.classes[m]]: packed
        for m, packed in zip(labels.tolist(), pack_rows(changes), strict=True)
        if table.classes[m] in number
    }


def _cells_of_systems(source: ReportSource) -> tuple[list[list[dict[str, list[ClipRanks]]]], list[int]]:
    """Return the cells by system and criterion, and the clips that they refer to by number.

    Clips that can be browsed come first, in their order.
    """
    alignment, selection = source.systems[0].alignment, source.clip_selection
    if alignment is None or selection is None:
        return [[{} for _ in source.criteria] for _ in source.systems], []
    detailed = np.array([alignment.classes.index(label) for label in source.detailed], np.intp)
    cells: list[dict[Criterion, Cells]] = [
        {criterion: find_cells(system.deltas[criterion], detailed) for criterion in source.criteria}
        for system in source.systems
    ]
    listed = {
        clip
        for by_criterion in cells
        for matrix in by_criterion.values()
        for ranges in matrix.values()
        for clip, *_ in ranges
    }
    clips = list(dict.fromkeys([*selection.clips, *sorted(listed)]))
    number = {clip: i for i, clip in enumerate(clips)}
    thresholds = list(source.thresholds.values())
    return [
        [_ranked(matrix, number, thresholds) for matrix in by_criterion.values()]
        for by_criterion in cells
    ], clips


def find_cells(deltas: Deltas, detailed: NDArray[np.intp]) -> Cells:
    """Find the clips with the highest scores for each cell of the matrix.

    ``detailed`` holds the detailed classes as indices into the classes of the deltas.
    """
    table = deltas.tables.cross_triggers
    labels, changes = table.columns
    number = np.full(len(deltas.classes), -1)
    number[detailed] = np.arange(len(detailed))
    starts, clips = table.class_starts(), table.clip_of_row()
    cells: dict[tuple[int, int], list[ClipRange]] = {}
    for c in detailed:
        actual = number[labels[starts[c] : starts[c + 1]]]
        for m in np.unique(actual[actual >= 0]).tolist():
            rows = np.flatnonzero(actual == m) + starts[c]
            if ranges := _highest_ranges(table, clips, changes, rows):  # changes may add up to nothing
                cells[int(number[c]), m] = ranges
    return cells


def _highest_ranges(
    table: DeltaRows, clips: NDArray[np.intp], changes: NDArray[Any], rows: NDArray[np.intp]
) -> list[ClipRange]:
    """Return where the clips of a cell have a cross-trigger, the highest scores first."""
    order = rows[np.lexsort((-table.scores[rows].astype(np.float64), clips[rows]))]
    clip, score = clips[order], table.scores[order].astype(np.float64)
    last = np.append((clip[1:] != clip[:-1]) | (score[1:] != score[:-1]), True)
    total = np.cumsum(changes[order].astype(np.int64))[last]
    clip, score = clip[last], score[last]
    same_clip = np.concatenate([[False], clip[1:] == clip[:-1]])
    begins = np.flatnonzero(~same_clip)
    before = np.concatenate([[0], total])[begins]
    count = total - np.repeat(before, np.diff(np.append(begins, len(clip))))
    present = count > 0
    starts = np.flatnonzero(present & ~(np.concatenate([[False], present[:-1]]) & same_clip))
    absent = np.flatnonzero(~present)
    end = np.append(absent, len(clip))[np.searchsorted(absent, starts)]
    ends_in_clip = (end < len(clip)) & (np.append(clip, -1)[end] == clip[starts])
    end_score = np.where(ends_in_clip, np.append(score, -np.inf)[end], -np.inf)
    order = np.lexsort((clip[starts], -score[starts]))
    by_score = clip[starts][order].tolist()
    listed = set(list(dict.fromkeys(by_score))[:CLIPS_PER_CELL])
    ranges = zip(by_score, score[starts][order].tolist(), end_score[order].tolist(), strict=True)
    return [clip_range for clip_range in ranges if clip_range[0] in listed]


def _ranked(
    cells: Cells, number: Mapping[int, int], thresholds: Sequence[FloatArray]
) -> dict[str, list[ClipRanks]]:
    """Return the cells with clips as numbered on the page, and scores as ranks among thresholds."""
    ranked = {}
    for (c, m), ranges in cells.items():
        scores = np.array([scores for _, *scores in ranges]).T
        first, last = np.searchsorted(thresholds[c][::-1], scores).tolist()
        ranked[f"{c},{m}"] = [
            (number[clip], above, below)
            for (clip, *_), above, below in zip(ranges, first, last, strict=True)
            if above > below
        ]
    return ranked


PANEL = Panel("cross_triggers", "Cross-triggers", build)
