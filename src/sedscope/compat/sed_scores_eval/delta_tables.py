"""Tables of deltas as sed_scores_eval hands them out and takes them.

They are ``{clip: {label: (scores, {"tps": changes, "fps": changes, …})}}``: by how much the counts of a
clip and class change when the threshold falls below each of its scores.
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
from ...data.clip_ids import clip_ids
from ...data.ground_truth import GroundTruth
from ...data.scores import ScoreArray
from ...data.times import TICKS_PER_SECOND
from ...errors import SedscopeError, counted, listing
from .counting import ERRORS, FloatArray, Found
from .utils.nested import flatten

DeltaTable: TypeAlias = dict[str, dict[str, tuple[Any, dict[str, Any]]]]

CROSS = "cts\\"
"""Cross-triggers on a class have a column with this before its name."""


def delta_table(found: Found) -> DeltaTable:
    """The deltas of each clip and class, by rising score; scores where nothing changes are left out."""
    deltas, clips = found.deltas, len(found.names)
    pairs, scores, columns = _side_by_side(_parts(deltas))
    bounds = np.searchsorted(pairs, np.arange(len(deltas.classes) * clips + 1)).tolist()
    without_crossing = isinstance(deltas.criterion, Intersection) and deltas.criterion.cttc is None
    made: DeltaTable = {name: {} for name in found.names}
    for c, label in enumerate(deltas.classes):
        of_class = {name: column for name, column in columns.items() if name != CROSS + label}
        for i, name in enumerate(found.names):
            rows = slice(*bounds[c * clips + i : c * clips + i + 2])
            changes = {key: column[rows] for key, column in of_class.items()}
            if without_crossing:
                changes["cts"] = np.zeros(rows.stop - rows.start, np.int64)
            made[name][label] = (scores[rows], changes)
    return made


@dataclass(frozen=True, eq=False)
class _Part:
    """Changes of some counts, each row of a pair of class and clip at a score."""

    pairs: NDArray[np.int64]
    scores: ScoreArray
    columns: Mapping[str, NDArray[Any]]

    @staticmethod
    def of_rows(table: DeltaRows, columns: Mapping[str, NDArray[Any]]) -> _Part:
        classes, clips = table.starts.shape[0], table.starts.shape[1] - 1
        pairs = np.repeat(np.arange(classes * clips), np.diff(table.starts, axis=1).ravel())
        return _Part(pairs, table.scores, columns)


def _parts(deltas: Deltas) -> list[_Part]:
    tables = deltas.tables
    tp, fp = tables.detections.columns
    parts = [_Part.of_rows(tables.detections, {"tps": tp, "fps": fp})]
    if isinstance(deltas.criterion, Intersection) and deltas.criterion.cttc is not None:
        labels, changes = tables.cross_triggers.columns
        crossed = {
            CROSS + name: np.where(labels == other, changes, 0)
            for other, name in enumerate(deltas.classes)
        }
        parts.append(_Part.of_rows(tables.cross_triggers, crossed))
    if tables.errors is not None:
        sums = [column / TICKS_PER_SECOND for column in tables.errors.columns]
        parts.append(_Part.of_rows(tables.errors, dict(zip(ERRORS, sums, strict=True))))
    if tables.trials is not None:
        parts.append(_never_scored(deltas))
    return parts


def _never_scored(deltas: Deltas) -> _Part:
    """Segments without any score, at ``-inf``: nothing detects them, but they are judged."""
    tables, clips = deltas.tables, len(deltas.clips)
    assert tables.trials is not None
    pairs = len(deltas.classes) * clips
    of_references = tables.references.labels.astype(np.int64) * clips + tables.references.clips
    references = np.bincount(of_references, minlength=pairs)
    tp, fp = tables.detections.columns
    scored = _Part.of_rows(tables.detections, {}).pairs
    found = [np.bincount(scored, column, minlength=pairs).astype(np.int64) for column in (tp, fp)]
    missed = references - found[0]
    negatives = np.tile(tables.trials, len(deltas.classes)) - references - found[1]
    (some,) = np.nonzero(missed + negatives)
    scores: ScoreArray = np.full(len(some), -np.inf)
    return _Part(some, scores, {"tps": missed[some], "fps": negatives[some]})


def _side_by_side(
    parts: Sequence[_Part],
) -> tuple[NDArray[np.int64], FloatArray, dict[str, NDArray[Any]]]:
    """One row for each pair and score at which any column changes, ordered by pair, then score."""
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


def found_in_table(
    table: Mapping[str, Mapping[str, Any]], criterion: Criterion, truth: GroundTruth | None
) -> Found:
    """Deltas from a table of them. ``truth``: the references of the clips; those of segments and clips
    are in the table."""
    if not isinstance(table, Mapping) or not table:
        raise SedscopeError("deltas must be a mapping from clips to the deltas of each class")
    names = tuple(table)
    clips = tuple(clip_ids(names, "deltas").values())
    classes = tuple(table[names[0]])
    differing = [name for name in names if tuple(table[name]) != classes]
    if differing:
        raise SedscopeError(f"deltas: classes differ from those of {names[0]}: {listing(differing)}")
    columns = _stacked([[table[name][label] for name in names] for label in classes], classes)
    judged = isinstance(criterion, (Segment, Clip))
    references = _judged_references(columns) if judged else _references(truth, clips, classes)
    trials = None
    if judged:  # all classes are judged equally often
        of_class = slice(0, columns.starts[0, -1])
        trials = np.zeros(len(clips), np.int64)
        np.add.at(trials, columns.clips[of_class], (columns["tps"] + columns["fps"])[of_class])
    durations = np.ones(len(clips), np.int64)
    if truth is not None and truth.durations is not None:
        known = dict(zip(truth.clips, truth.durations.tolist(), strict=True))
        durations = np.array([known[clip] for clip in clips], np.int64)
    floors: ScoreArray = np.full(len(classes), -np.inf)
    tables = DeltaTables(
        detections=columns.rows(["tps", "fps"], np.int32),
        cross_triggers=_cross_rows(columns, classes),
        references=references,
        trials=trials,
        errors=columns.rows(ERRORS, np.int64)
        if isinstance(criterion, Collar) and criterion.errors
        else None,
    )
    deltas = Deltas(criterion, classes, clips, durations, floors, tables.above(floors))
    return Found(deltas, names)


@dataclass(frozen=True, eq=False)
class _Stacked:
    """The rows of all classes and clips, in this order, by name of column."""

    starts: NDArray[np.int64]
    scores: FloatArray
    labels: NDArray[np.int64]
    clips: NDArray[np.int64]
    columns: Mapping[str, FloatArray]

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        if name not in self.columns:
            raise SedscopeError(f"the deltas have no {name!r}: they are of another kind")
        scale = TICKS_PER_SECOND if name in ERRORS else 1
        return np.rint(self.columns[name] * scale).astype(np.int64)

    def rows(self, names: Sequence[str], dtype: type) -> DeltaRows:
        return DeltaRows(self.starts, self.scores, tuple(self[name].astype(dtype) for name in names))


def _stacked(tables: Sequence[Sequence[Any]], classes: Sequence[str]) -> _Stacked:
    number, clips = len(tables), len(tables[0])
    cells = [cell for of_class in tables for cell in of_class]
    flat = [flatten(changes, sep="\\") for _, changes in cells]
    lengths = np.array([len(at) for at, _ in cells])
    before = np.concatenate([[0], np.cumsum(lengths)])
    wanted = [name for name in ("tps", "fps", *ERRORS) if all(name in one for one in flat)]
    wanted += [CROSS + label for label in classes if any(CROSS + label in one for one in flat)]
    columns = {
        name: np.concatenate(
            [
                np.asarray(one.get(name, np.zeros(length)), np.float64)
                for one, length in zip(flat, lengths, strict=True)
            ]
        )
        for name in wanted
    }
    scores = np.concatenate([np.asarray(at, np.float64) for at, _ in cells])
    if any(len(column) != len(scores) for column in columns.values()):
        raise SedscopeError("deltas need one change of each count for each score")
    pair = np.repeat(np.arange(number * clips), lengths)
    return _Stacked(
        before[np.arange(number)[:, None] * clips + np.arange(clips + 1)].astype(np.int64),
        scores,
        pair // clips,
        pair % clips,
        columns,
    )


def _cross_rows(columns: _Stacked, classes: Sequence[str]) -> DeltaRows:
    """Cross-triggers as a sparse table."""
    present = [c for c, label in enumerate(classes) if CROSS + label in columns.columns]
    changes = np.zeros((len(present), len(columns.scores)), np.int64)
    for place, c in enumerate(present):
        changes[place] = columns[CROSS + classes[c]]
    row, other = np.nonzero(changes.T)
    before = np.searchsorted(row, columns.starts)
    return DeltaRows(
        before.astype(np.int64),
        columns.scores[row],
        (np.array(present, np.int32)[other], changes.T[row, other].astype(np.int32)),
    )


def _judged_references(columns: _Stacked) -> ReferenceRows:
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
            f"{counted(len(unknown), 'label')} of the ground truth not among the classes of the deltas: "
            f"{listing(unknown)}"
        )
    label_class = np.array([classes.index(label) for label in truth.labels], np.int32)
    clip_number = {clip: i for i, clip in enumerate(clips)}
    clip_of = np.array([clip_number[clip] for clip in truth.clips], np.int32)
    return ReferenceRows(
        clip_of[truth.event_clips], label_class[truth.event_labels], truth.offsets - truth.onsets
    )
