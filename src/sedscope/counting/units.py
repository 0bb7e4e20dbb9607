"""Units: clips that need not be told apart are added up, so that what is kept does not grow with the hours.

The deltas of units are deltas whose "clips" are units: recordings, sites, days, or all clips together. Rows
with equal scores are one row. So a class has at most as many rows per unit as there are distinct scores: at
most 65,536 where scores have 16 bits. Counts are the same as those of the clips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..criteria.delta_tables import DeltaRows, FalseAlarmRows, IgnoredRows, ReferenceRows, row_starts
from ..data.arrays import FloatArray, IntArray
from .deltas import Deltas


def add_up_clips(deltas: Deltas, unit_of: NDArray[np.intp], units: tuple[str, ...]) -> Deltas:
    """Add up the clips of each unit.

    ``unit_of``: the unit of each clip, as an index into ``units``, which are names.
    """
    tables, number = deltas.tables, len(units)
    if tables.alarms is None:
        tables = replace(tables, alarms=_alarms(deltas))
    changes: dict[str, Any] = {
        name: _add_up_rows(table, unit_of, number, labelled=name == "cross_triggers")
        for name, table in tables.changes().items()
    }
    each = np.ones(len(deltas.clips), np.int64) if deltas.clip_numbers is None else deltas.clip_numbers
    return replace(
        deltas,
        clips=units,
        durations=_sums(deltas.durations, unit_of, number),
        tables=replace(
            tables,
            **changes,
            references=_add_up_references(tables.references, unit_of),
            ignored=_add_up_ignored(tables.ignored, unit_of),
            trials=None if tables.trials is None else _sums(tables.trials, unit_of, number),
            certain=FalseAlarmRows.none(),  # the alarms have them
        ),
        variants={
            variant: add_up_clips(part, unit_of, units) for variant, part in deltas.variants.items()
        },
        extents=None,
        clip_numbers=_sums(each, unit_of, number),
    )


def merge_units(parts: Sequence[Deltas]) -> Deltas:
    """Merge deltas of units, in any order and grouping. Units of the same name are one."""
    names = dict.fromkeys(unit for part in parts for unit in part.clips)
    units = tuple(sorted(names))  # in this order whichever part comes first
    place = {unit: number for number, unit in enumerate(units)}
    unit_of = np.array([place[unit] for part in parts for unit in part.clips], np.intp)
    first, *others = (_numbered(part, f"{number}:") for number, part in enumerate(parts))
    return add_up_clips(first.merge(*others), unit_of, units)


def of_block(deltas: Deltas, kept: NDArray[np.bool_]) -> Deltas:
    """Return deltas that have rows of some of the classes only. What was to be found of the others, and how
    long they are in all, stays known: rates of cross-triggers need it."""
    tables = deltas.tables
    changes: dict[str, Any] = {
        name: table.emptied(kept)
        for name, table in tables.changes().items()
        if name != "any_label"  # not by class
    }
    return replace(
        deltas,
        tables=replace(tables, **changes),
        variants={variant: of_block(part, kept) for variant, part in deltas.variants.items()},
    )


def nth_alarms(deltas: Deltas, n: int) -> FloatArray:
    """Return, per class, the score below which n clips certainly have a false positive at any threshold;
    ``-inf`` if there is none."""
    alarms = deltas.tables.alarms
    if alarms is None:
        maxima = deltas.certain_false_alarms()
        if n > maxima.shape[1]:
            return np.full(len(maxima), -np.inf)
        largest: FloatArray = np.partition(maxima, -n, axis=1)[:, -n]
        return largest
    nth, bounds = np.full(len(deltas.classes), -np.inf), alarms.class_starts().tolist()
    for c, (first, last) in enumerate(pairwise(bounds)):
        order = np.argsort(-alarms.scores[first:last])
        reached = np.searchsorted(np.cumsum(alarms.columns[0][first:last][order]), n)
        if reached < len(order):
            nth[c] = alarms.scores[first:last][order[reached]]
    return nth


def narrowed(column: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
    """Return whole numbers as the shortest type that holds them all."""
    lowest, highest = int(column.min(initial=-1)), int(column.max(initial=0))
    return column.astype(np.result_type(np.min_scalar_type(~highest), np.min_scalar_type(lowest)))


def widened(deltas: Deltas) -> Deltas:
    """Return deltas of units whose rows can be counted. Those of a state have shorter numbers."""

    def widen(name: str, table: DeltaRows) -> DeltaRows:
        labels = table.columns[: name == "cross_triggers"]
        changes = [column.astype(np.int64, copy=False) for column in table.columns[len(labels) :]]
        return replace(
            table, columns=(*(label.astype(np.int32, copy=False) for label in labels), *changes)
        )

    changes: dict[str, Any] = {
        name: widen(name, table) for name, table in deltas.tables.changes().items()
    }
    return replace(
        deltas,
        tables=replace(deltas.tables, **changes),
        variants={variant: widened(part) for variant, part in deltas.variants.items()},
    )


def _numbered(deltas: Deltas, prefix: str) -> Deltas:
    """Return deltas whose units have names of their own."""
    variants: Mapping[Any, Deltas] = deltas.variants
    return replace(
        deltas,
        clips=tuple(prefix + clip for clip in deltas.clips),
        variants={variant: _numbered(part, prefix) for variant, part in variants.items()},
    )


def _sums(numbers: NDArray[np.int64], unit_of: NDArray[np.intp], units: int) -> IntArray:
    sums: IntArray = np.zeros(units, np.int64)
    np.add.at(sums, unit_of, numbers)
    return sums


def _alarms(deltas: Deltas) -> DeltaRows:
    """Return the scores below which clips certainly have a false positive, a row each."""
    certain = deltas.certain_false_alarms()
    present = certain > -np.inf
    number = np.ones(np.count_nonzero(present), np.int64)
    return DeltaRows(row_starts(present.astype(np.int64)), certain[present], (number,))


def _add_up_rows(
    table: DeltaRows, unit_of: NDArray[np.intp], units: int, *, labelled: bool = False
) -> DeltaRows:
    """Return a table whose rows with equal scores in a class and unit are one, without those of sum zero.

    ``labelled``: the first column is a class, and only rows of the same one are added up.
    """
    classes, columns = len(table.starts), len(table.columns)
    parts, counts = [], np.zeros((classes, units), np.int64)
    for c in range(classes):  # those of all classes would need much more memory
        rows = slice(int(table.starts[c, 0]), int(table.starts[c, -1]))
        unit = np.repeat(unit_of, np.diff(table.starts[c]))
        scores = table.scores[rows] + table.scores.dtype.type(0)  # both zeros are one score
        keys = [unit, *(column[rows] for column in table.columns[:labelled]), scores]
        order = np.lexsort(keys[::-1])
        if not len(order):
            continue
        keys = [key[order] for key in keys]
        new = np.append(True, np.any([key[1:] != key[:-1] for key in keys], axis=0))
        firsts = np.flatnonzero(new)
        changes = [column[rows][order] for column in table.columns[labelled:]]
        sums = [np.add.reduceat(change, firsts, dtype=np.int64) for change in changes]
        kept = np.any(sums, axis=0)
        of_units, *labels, distinct = (key[firsts][kept] for key in keys)
        counts[c] = np.bincount(of_units, minlength=units)
        parts.append((distinct, *labels, *(column[kept] for column in sums)))
    nothing = [np.empty(0, np.int64)] * (columns - labelled)
    parts.append((table.scores[:0], *(column[:0] for column in table.columns[:labelled]), *nothing))
    distinct, *added = map(np.concatenate, zip(*parts, strict=True))
    return DeltaRows(row_starts(counts), distinct, tuple(added))


def _add_up_references(rows: ReferenceRows, unit_of: NDArray[np.intp]) -> ReferenceRows:
    """Return references with a row per unit and class."""
    number = np.ones(len(rows.clips), np.int64) if rows.numbers is None else rows.numbers
    clips, labels, (numbers, times) = _add_up_pairs(rows, unit_of, (number, rows.times))
    return ReferenceRows(clips, labels, times, numbers)


def _add_up_ignored(rows: IgnoredRows, unit_of: NDArray[np.intp]) -> IgnoredRows:
    clips, labels, (trials,) = _add_up_pairs(rows, unit_of, (rows.trials,))
    return IgnoredRows(clips, labels, trials)


def _add_up_pairs(
    rows: ReferenceRows | IgnoredRows, unit_of: NDArray[np.intp], columns: Sequence[IntArray]
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[IntArray]]:
    """Return the units and classes of some rows, each pair once, and the sums of columns."""
    labels = int(rows.labels.max(initial=0)) + 1
    pairs, inverse = np.unique(unit_of[rows.clips] * labels + rows.labels, return_inverse=True)
    sums = [_sums(column, inverse, len(pairs)) for column in columns]
    return (pairs // labels).astype(np.int32), (pairs % labels).astype(np.int32), sums
