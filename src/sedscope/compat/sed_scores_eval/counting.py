"""Deltas and counts, and the tables of them that sed_scores_eval hands out and takes.

Its deltas are ``{clip: {label: (scores, {"tps": changes, "fps": changes, …})}}``, its statistics
``{label: (scores, {"tps": counts, "fps": counts, …, "n_ref": number})}``, with rising scores and
``inf``, where nothing is detected, last. At ``scores[i]`` frames with ``score >= scores[i]`` are active.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...alignment import align
from ...clip_deltas import Deltas
from ...clip_ids import clip_ids
from ...collect import Wanted, collect
from ...counts import ClassCounts, Counts
from ...criteria import Collar, Criterion, Intersection
from ...errors import SedscopeError, SedscopeWarning, counted, listing
from ...ground_truth import GroundTruth
from ...rows import DeltaTables, ReferenceRows, Rows
from ...scores import ScoreArray
from ...segments import Clip, Segment
from ...times import TICKS_PER_SECOND
from .inputs import NamedScores
from .utils.nested import flatten

FloatArray = NDArray[np.float64]
DeltaTable: TypeAlias = dict[str, dict[str, tuple[Any, dict[str, Any]]]]
Statistics: TypeAlias = dict[str, tuple[FloatArray, dict[str, Any]]]

_CROSS = "cts\\"  # cross-triggers on a class have a column with this before its name
_ERRORS = ("onset_dist_sum", "offset_dist_sum")


@dataclass(frozen=True, eq=False)
class Found:
    """Deltas, and the names of their clips as the caller spells them."""

    deltas: Deltas
    names: tuple[str, ...]

    def counts(self, weights: NDArray[np.int64] | None = None) -> Counts:
        """All counts; ``weights``: how many times each clip counts."""
        return self.deltas.counts(weights=weights)


def find(
    scores: NamedScores, truth: GroundTruth, criterion: Criterion, wanted: Wanted | None = None
) -> Found:
    """The deltas of some scores; what is odd about the data is warned of."""
    alignment = align(scores.scores, truth)
    deltas = collect(alignment, {criterion: wanted or Wanted()})[criterion]
    expected = "taken from the scores' last boundary"
    notes = [note for note in alignment.warnings if not note.endswith(expected)]
    _warn(notes)
    _warn_of_empty_classes(deltas)
    return Found(deltas, tuple(scores.names[clip] for clip in deltas.clips))


def _warn_of_empty_classes(deltas: Deltas) -> None:
    present = set(deltas.tables.references.labels.tolist())
    empty = [label for c, label in enumerate(deltas.classes) if c not in present]
    if empty:
        _warn(
            [
                "without reference events, so not defined (NaN) and left out of means: "
                f"{counted(len(empty), 'class')}: {listing(empty)}"
            ]
        )


def _warn(notes: Collection[str]) -> None:
    for note in notes:
        warnings.warn(note, SedscopeWarning, stacklevel=4)


# What is handed out


def delta_table(found: Found) -> DeltaTable:
    """The deltas of each clip and class, by rising score; scores where nothing changes are left out."""
    deltas, clips = found.deltas, len(found.names)
    pairs, scores, columns = _side_by_side(_parts(deltas))
    bounds = np.searchsorted(pairs, np.arange(len(deltas.classes) * clips + 1)).tolist()
    without_crossing = isinstance(deltas.criterion, Intersection) and deltas.criterion.cttc is None
    made: DeltaTable = {name: {} for name in found.names}
    for c, label in enumerate(deltas.classes):
        of_class = {name: column for name, column in columns.items() if name != _CROSS + label}
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
    def of_rows(table: Rows, columns: Mapping[str, NDArray[Any]]) -> _Part:
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
            _CROSS + name: np.where(labels == other, changes, 0)
            for other, name in enumerate(deltas.classes)
        }
        parts.append(_Part.of_rows(tables.cross_triggers, crossed))
    if tables.errors is not None:
        sums = [column / TICKS_PER_SECOND for column in tables.errors.columns]
        parts.append(_Part.of_rows(tables.errors, dict(zip(_ERRORS, sums, strict=True))))
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


def statistics_of(counts: Counts) -> Statistics:
    """The counts of each class as sed_scores_eval tells them."""
    return {label: _class_statistics(counts, label) for label in counts}


def _class_statistics(counts: Counts, label: str) -> tuple[FloatArray, dict[str, Any]]:
    of_class, criterion = counts[label], counts.criterion
    stats: dict[str, Any] = {"tps": _rising(of_class.tp), "fps": _rising(of_class.fp)}
    others = [other for other in counts if other != label]
    if isinstance(criterion, Intersection):
        stats["cts"] = (
            np.zeros_like(stats["tps"])
            if criterion.cttc is None
            else {other: _rising(of_class.ct(other)) for other in others}
        )
    if of_class.errors is not None:
        stats |= {name: _rising(sums) for name, sums in zip(_ERRORS, of_class.errors.T, strict=True)}
    if of_class.trials is not None:
        stats["n_sys"] = stats["tps"] + stats["fps"]
    stats["n_ref"] = of_class.references
    if of_class.trials is not None:
        stats["tns"] = of_class.trials - of_class.references - stats["fps"]
    if isinstance(criterion, Intersection):
        stats["t_ref"] = of_class.reference_time
        stats["n_ref_other"] = {other: counts[other].references for other in others}
        stats["t_ref_other"] = {other: counts[other].reference_time for other in others}
    return _rising(of_class.scores, np.inf), stats


def _rising(column: NDArray[Any], nothing: float = 0.0) -> FloatArray:
    """A column by rising score, with what holds where nothing is detected at the end."""
    return np.append(column[::-1].astype(np.float64), nothing)


# What is taken back


def class_counts(scores: Any, stats: Mapping[str, Any]) -> ClassCounts:
    """The counts of a class from its statistics."""
    missing = [name for name in ("tps", "fps", "n_ref") if name not in stats]
    if missing:
        raise SedscopeError(f"the statistics have no {listing(missing)}")
    at = np.asarray(scores, np.float64)
    tp, fp = (np.asarray(stats[name], np.float64) for name in ("tps", "fps"))
    if not (at.shape == tp.shape == fp.shape) or at.ndim != 1 or not len(at) or at[-1] != np.inf:
        raise SedscopeError("statistics need one count a score, with rising scores and inf last")
    trials = None
    if "tns" in stats:
        trials = int(np.rint(np.asarray(stats["tns"])[-1] + fp[-1] + stats["n_ref"]))
    nobody: NDArray[np.int64] = np.empty(0, np.int64)
    return ClassCounts(
        label="class",
        scores=at[:-1][::-1],
        tp=np.rint(tp[:-1][::-1]).astype(np.int64),
        fp=np.rint(fp[:-1][::-1]).astype(np.int64),
        references=int(stats["n_ref"]),
        reference_time=float(stats.get("t_ref", np.nan)),
        trials=trials,
        floor=-np.inf,
        cross_rows=nobody,
        cross_labels=nobody.astype(np.int32),
        cross_changes=nobody,
        classes=("class",),
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
        errors=columns.rows(_ERRORS, np.int64)
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
        scale = TICKS_PER_SECOND if name in _ERRORS else 1
        return np.rint(self.columns[name] * scale).astype(np.int64)

    def rows(self, names: Sequence[str], dtype: type) -> Rows:
        return Rows(self.starts, self.scores, tuple(self[name].astype(dtype) for name in names))


def _stacked(tables: Sequence[Sequence[Any]], classes: Sequence[str]) -> _Stacked:
    number, clips = len(tables), len(tables[0])
    cells = [cell for of_class in tables for cell in of_class]
    flat = [flatten(changes, sep="\\") for _, changes in cells]
    lengths = np.array([len(at) for at, _ in cells])
    before = np.concatenate([[0], np.cumsum(lengths)])
    wanted = [name for name in ("tps", "fps", *_ERRORS) if name in flat[0]]
    wanted += [_CROSS + label for label in classes if any(_CROSS + label in one for one in flat)]
    columns = {
        name: np.concatenate(
            [
                np.asarray(one.get(name, np.zeros(length)), np.float64)
                for one, length in zip(flat, lengths, strict=True)
            ]
        )
        for name in wanted
    }
    pair = np.repeat(np.arange(number * clips), lengths)
    return _Stacked(
        before[np.arange(number)[:, None] * clips + np.arange(clips + 1)].astype(np.int64),
        np.concatenate([np.asarray(at, np.float64) for at, _ in cells]),
        pair // clips,
        pair % clips,
        columns,
    )


def _cross_rows(columns: _Stacked, classes: Sequence[str]) -> Rows:
    """Cross-triggers as a sparse table."""
    present = [c for c, label in enumerate(classes) if _CROSS + label in columns.columns]
    changes = np.zeros((len(present), len(columns.scores)), np.int64)
    for place, c in enumerate(present):
        changes[place] = columns[_CROSS + classes[c]]
    row, other = np.nonzero(changes.T)
    before = np.searchsorted(row, columns.starts)
    return Rows(
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
