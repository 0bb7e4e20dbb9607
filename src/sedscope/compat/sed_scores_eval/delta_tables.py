"""Tables of deltas, in the form of sed_scores_eval.

A table is ``{clip: {label: (scores, {"tps": changes, "fps": changes, …})}}``: how much the counts of a
clip and class change when the threshold falls below each score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...counting.deltas import Deltas
from ...criteria import Clip, Collar, Criterion, Intersection, Segment
from ...criteria.delta_tables import DeltaRows, DeltaTables, ReferenceRows
from ...data.clips import clip_ids
from ...data.ground_truth import GroundTruth
from ...data.scores import ScoreArray
from ...data.times import TICKS_PER_SECOND
from ...errors import SedscopeError, listing, subject
from .counting import ERRORS, FloatArray, NamedDeltas, Statistics
from .utils.nested import deflatten, flatten

DeltaTable: TypeAlias = dict[str, dict[str, tuple[Any, dict[str, Any]]]]

CROSS = "cts\\"
"""The prefix of the column of cross-triggers with a class."""


def delta_table(named: NamedDeltas) -> DeltaTable:
    """Return the deltas of each clip and class by rising score, without scores that change nothing."""
    deltas, clips = named.deltas, len(named.names)
    pairs, scores, columns = _join_columns(_parts(deltas))
    bounds = np.searchsorted(pairs, np.arange(len(deltas.classes) * clips + 1)).tolist()
    without_crossing = isinstance(deltas.criterion, Intersection) and deltas.criterion.cttc is None
    table: DeltaTable = {name: {} for name in named.names}
    for c, label in enumerate(deltas.classes):
        class_columns = {name: column for name, column in columns.items() if name != CROSS + label}
        for i, name in enumerate(named.names):
            rows = slice(*bounds[c * clips + i : c * clips + i + 2])
            changes = {key: column[rows] for key, column in class_columns.items()}
            if without_crossing:
                changes["cts"] = np.zeros(rows.stop - rows.start, np.int64)
            table[name][label] = (scores[rows], changes)
    return table


@dataclass(frozen=True, eq=False)
class _DeltaColumns:
    """Columns of deltas. Each row belongs to a pair of class and clip and to a score."""

    pairs: NDArray[np.int64]
    scores: ScoreArray
    columns: Mapping[str, NDArray[Any]]

    @staticmethod
    def of_rows(table: DeltaRows, columns: Mapping[str, NDArray[Any]]) -> _DeltaColumns:
        classes, clips = table.starts.shape[0], table.starts.shape[1] - 1
        pairs = np.repeat(np.arange(classes * clips), np.diff(table.starts, axis=1).ravel())
        return _DeltaColumns(pairs, table.scores, columns)


def _parts(deltas: Deltas) -> list[_DeltaColumns]:
    tables = deltas.tables
    tp, fp = tables.detections.columns
    parts = [_DeltaColumns.of_rows(tables.detections, {"tps": tp, "fps": fp})]
    if isinstance(deltas.criterion, Intersection) and deltas.criterion.cttc is not None:
        labels, changes = tables.cross_triggers.columns
        crossed = {
            CROSS + name: np.where(labels == other, changes, 0)
            for other, name in enumerate(deltas.classes)
        }
        parts.append(_DeltaColumns.of_rows(tables.cross_triggers, crossed))
    if tables.errors is not None:
        sums = [column / TICKS_PER_SECOND for column in tables.errors.columns]
        parts.append(_DeltaColumns.of_rows(tables.errors, dict(zip(ERRORS, sums, strict=True))))
    if tables.trials is not None:
        parts.append(_segments_without_scores(deltas))
    return parts


def _segments_without_scores(deltas: Deltas) -> _DeltaColumns:
    """Return segments without scores at ``-inf``: they are never detected, but they are judged."""
    tables, clips = deltas.tables, len(deltas.clips)
    assert tables.trials is not None
    pairs = len(deltas.classes) * clips
    of_references = tables.references.labels.astype(np.int64) * clips + tables.references.clips
    references = np.bincount(of_references, minlength=pairs)
    tp, fp = tables.detections.columns
    scored = _DeltaColumns.of_rows(tables.detections, {}).pairs
    totals = [np.bincount(scored, column, minlength=pairs).astype(np.int64) for column in (tp, fp)]
    missed = references - totals[0]
    negatives = np.tile(tables.trials, len(deltas.classes)) - references - totals[1]
    (some,) = np.nonzero(missed + negatives)
    scores: ScoreArray = np.full(len(some), -np.inf)
    return _DeltaColumns(some, scores, {"tps": missed[some], "fps": negatives[some]})


def _join_columns(
    parts: Sequence[_DeltaColumns],
) -> tuple[NDArray[np.int64], FloatArray, dict[str, NDArray[Any]]]:
    """Return one row for each pair and score at which a column changes, by pair, then score."""
    pairs = np.concatenate([part.pairs for part in parts])
    scores = np.concatenate([part.scores for part in parts]).astype(np.float64)
    order = np.lexsort((scores, pairs))
    pairs, scores = pairs[order], scores[order]
    first = np.flatnonzero(
        np.append(True, (pairs[1:] != pairs[:-1]) | (scores[1:] != scores[:-1]))[: len(pairs)]
    )
    columns: dict[str, NDArray[Any]] = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        changes = np.concatenate(
            [part.columns.get(name, np.zeros(len(part.pairs), np.int8)) for part in parts]
        )
        wide = changes.astype(np.float64 if changes.dtype.kind == "f" else np.int64)
        columns[name] = np.add.reduceat(wide[order], first) if len(first) else wide
    changed = np.any([column != 0 for column in columns.values()], axis=0)
    return (
        pairs[first][changed],
        scores[first][changed],
        {name: column[changed] for name, column in columns.items()},
    )


def deltas_from_table(
    table: Mapping[str, Mapping[str, Any]], criterion: Criterion, truth: GroundTruth | None
) -> NamedDeltas:
    """Convert a table of deltas. ``truth``: the reference events; not needed for segments and clips,
    whose references are in the table."""
    if not isinstance(table, Mapping) or not table:
        raise SedscopeError("deltas must be a mapping from clips to the deltas of each class.")
    names = tuple(table)
    clips = tuple(clip_ids(names, "deltas").values())
    classes = tuple(table[names[0]])
    differing = [name for name in names if tuple(table[name]) != classes]
    if differing:
        raise SedscopeError(
            f"The deltas of some clips have other classes than {names[0]}: {listing(differing)}."
        )
    columns = _stack([[table[name][label] for name in names] for label in classes], classes)
    judged = isinstance(criterion, (Segment, Clip))
    references = _judged_references(columns) if judged else _references(truth, clips, classes)
    trials = None
    if judged:  # all classes are judged equally often
        of_class = slice(0, columns.starts[0, -1])
        trials = np.zeros(len(clips), np.int64)
        np.add.at(trials, columns.clips[of_class], (columns["tps"] + columns["fps"])[of_class])
    durations = np.ones(len(clips), np.int64)
    if truth is not None and truth.durations is not None:
        stated = dict(zip(truth.clips, truth.durations.tolist(), strict=True))
        durations = np.array([stated[clip] for clip in clips], np.int64)
    floors: ScoreArray = np.full(len(classes), -np.inf)
    summed = isinstance(criterion, Collar) and criterion.errors
    tables = DeltaTables(
        detections=columns.rows(["tps", "fps"], np.int32),
        cross_triggers=_cross_rows(columns, classes),
        references=references,
        trials=trials,
        errors=columns.rows(ERRORS, np.int64) if summed else None,
    )
    deltas = Deltas(criterion, classes, clips, durations, floors, tables.above(floors))
    return NamedDeltas(deltas, names)


@dataclass(frozen=True, eq=False)
class _DeltaStack:
    """The rows of all classes and clips, in this order."""

    starts: NDArray[np.int64]
    scores: FloatArray
    labels: NDArray[np.int64]
    clips: NDArray[np.int64]
    columns: Mapping[str, FloatArray]

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        if name not in self.columns:
            raise SedscopeError(f"The deltas have no {name!r}, so they belong to another criterion.")
        scale = TICKS_PER_SECOND if name in ERRORS else 1
        return np.rint(self.columns[name] * scale).astype(np.int64)

    def rows(self, names: Sequence[str], dtype: type) -> DeltaRows:
        return DeltaRows(self.starts, self.scores, tuple(self[name].astype(dtype) for name in names))


def _stack(tables: Sequence[Sequence[Any]], classes: Sequence[str]) -> _DeltaStack:
    number, clips = len(tables), len(tables[0])
    cells = [cell for class_tables in tables for cell in class_tables]
    flat = [flatten(changes, sep="\\") for _, changes in cells]
    lengths = np.array([len(at) for at, _ in cells])
    before = np.concatenate([[0], np.cumsum(lengths)])
    names = [name for name in ("tps", "fps", *ERRORS) if all(name in cell for cell in flat)]
    names += [CROSS + label for label in classes if any(CROSS + label in cell for cell in flat)]
    columns = {
        name: np.concatenate(
            [
                np.asarray(cell.get(name, np.zeros(length)), np.float64)
                for cell, length in zip(flat, lengths, strict=True)
            ]
        )
        for name in names
    }
    scores = np.concatenate([np.asarray(at, np.float64) for at, _ in cells])
    if any(len(column) != len(scores) for column in columns.values()):
        raise SedscopeError("Deltas need one change of each count for each score.")
    pair = np.repeat(np.arange(number * clips), lengths)
    return _DeltaStack(
        before[np.arange(number)[:, None] * clips + np.arange(clips + 1)].astype(np.int64),
        scores,
        pair // clips,
        pair % clips,
        columns,
    )


def _cross_rows(columns: _DeltaStack, classes: Sequence[str]) -> DeltaRows:
    """Return the cross-triggers as a sparse table."""
    present = [c for c, label in enumerate(classes) if CROSS + label in columns.columns]
    changes = np.zeros((len(present), len(columns.scores)), np.int64)
    for row, c in enumerate(present):
        changes[row] = columns[CROSS + classes[c]]
    rows, others = np.nonzero(changes.T)
    before = np.searchsorted(rows, columns.starts)
    return DeltaRows(
        before.astype(np.int64),
        columns.scores[rows],
        (np.array(present, np.int32)[others], changes.T[rows, others].astype(np.int32)),
    )


def _judged_references(columns: _DeltaStack) -> ReferenceRows:
    row = np.repeat(np.arange(len(columns.scores)), columns["tps"])
    return ReferenceRows(
        columns.clips[row].astype(np.int32),
        columns.labels[row].astype(np.int32),
        np.zeros(len(row), np.int64),
    )


def _references(
    truth: GroundTruth | None, clips: Sequence[str], classes: Sequence[str]
) -> ReferenceRows:
    assert truth is not None
    unknown = [label for label in truth.labels if label not in classes]
    if unknown:
        raise SedscopeError(
            f"{subject(len(unknown), 'label', 'is')} in the ground truth but not in the deltas: "
            f"{listing(unknown)}."
        )
    label_class = np.array([classes.index(label) for label in truth.labels], np.int32)
    clip_number = {clip: i for i, clip in enumerate(clips)}
    clip_of = np.array([clip_number[clip] for clip in truth.clips], np.int32)
    return ReferenceRows(
        clip_of[truth.event_clips], label_class[truth.event_labels], truth.offsets - truth.onsets
    )


def accumulated_intermediate_statistics_from_deltas(
    deltas: Mapping[str, Mapping[str, Any]],
) -> Statistics:
    """Return per class the scores at which counts change, and all counts at these scores.

    Scores increase, with ``inf`` last. The deltas may be those of any counts that are 0 where nothing is
    detected. At ``scores[i]``, frames with ``score >= scores[i]`` are active.
    """
    first = next(iter(deltas.values()))
    return {label: _add_up([clip_deltas[label] for clip_deltas in deltas.values()]) for label in first}


def _add_up(parts: list[Any]) -> Any:
    flat = [flatten(changes, sep="\\") for _, changes in parts]
    scores, row = np.unique(np.concatenate([at for at, _ in parts]), return_inverse=True)
    counts = {}
    for name in flat[0]:
        changes = np.zeros(len(scores) + 1)
        np.add.at(changes, row, np.concatenate([one[name] for one in flat]).astype(np.float64))
        counts[name] = np.cumsum(changes[::-1])[::-1]
    return np.append(scores, np.inf), deflatten(counts, sep="\\")
