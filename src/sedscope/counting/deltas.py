"""Deltas: how counts change when the threshold falls below each score, per class and clip.

They are the centre of everything: found clip by clip, merged in any grouping, and added up to counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..criteria import Criterion
from ..criteria.delta_tables import DeltaRows, DeltaTables
from ..data.arrays import ScoreArray
from ..data.times import TICKS_PER_SECOND, Ticks
from ..errors import SedscopeError, counted, listing
from ..postprocessing import PostProcessing
from .counts import ClassCounts, Counts
from .threads import thread_count

ROWS_TO_KEEP = 10_000_000  # of deltas; beyond, counts of all classes would take too much memory
_ROWS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Deltas:
    """How the counts of a criterion change as the threshold falls, per class and clip.

    Exact at scores above ``floors`` (per class; ``-inf`` where every threshold is covered).
    """

    criterion: Criterion
    classes: tuple[str, ...]
    clips: tuple[str, ...]
    durations: Ticks
    """Per clip, in microseconds."""
    floors: ScoreArray
    tables: DeltaTables
    variants: Mapping[PostProcessing, Deltas] = field(default_factory=dict)
    """The same of post-processed scores, where they were asked for."""

    def __repr__(self) -> str:
        return (
            f"<Deltas of {self.criterion!r}: {counted(len(self.clips), 'clip')}, "
            f"{counted(len(self.classes), 'class')}, {counted(self.tables.rows(), 'row')}>"
        )

    def merge(self, *others: Deltas) -> Deltas:
        """The deltas of the clips of all."""
        if not others:
            return self
        parts = (self, *others)
        for part in others:
            same = (part.criterion, part.classes, part.variants.keys()) == (
                self.criterion,
                self.classes,
                self.variants.keys(),
            )
            if not same:
                raise SedscopeError(
                    "deltas can be merged only if they have the same criterion, classes and variants: "
                    f"{self.criterion} on {listing(self.classes)}; {part.criterion} on "
                    f"{listing(part.classes)}"
                )
        clips = tuple(clip for part in parts for clip in part.clips)
        if len(set(clips)) < len(clips):
            twice = sorted({clip for clip in clips if clips.count(clip) > 1})
            raise SedscopeError(
                f"in more than one of the deltas: {counted(len(twice), 'clip')}: {listing(twice)}"
            )
        floors: ScoreArray = np.stack([part.floors for part in parts]).max(axis=0)
        tables = [
            part.tables if np.array_equal(part.floors, floors) else part.tables.above(floors)
            for part in parts
        ]
        return Deltas(
            criterion=self.criterion,
            classes=self.classes,
            clips=clips,
            durations=np.concatenate([part.durations for part in parts]),
            floors=floors,
            tables=DeltaTables.concatenate(tables, [len(part.clips) for part in parts]),
            variants={
                variant: found.merge(*(part.variants[variant] for part in others))
                for variant, found in self.variants.items()
            },
        )

    def above(self, floors: ScoreArray) -> Deltas:
        """The same deltas, exact only above the given floors."""
        raised: ScoreArray = np.maximum(self.floors, floors)
        return replace(self, floors=raised, tables=self.tables.above(raised))

    def of_clips(self, kept: NDArray[np.bool_]) -> Deltas:
        """The deltas of some of the clips; ``kept``: whether each is one of them."""
        return replace(
            self,
            clips=tuple(clip for clip, keep in zip(self.clips, kept, strict=True) if keep),
            durations=self.durations[kept],
            tables=self.tables.of_clips(kept),
            variants={variant: found.of_clips(kept) for variant, found in self.variants.items()},
        )

    def largest_without_references(self) -> NDArray[np.float64]:
        """(classes × clips) the largest score of clips without references of the class, if it is above
        the floor, else ``-inf``."""
        rows, references = self.tables.detections, self.tables.references
        largest = np.full((len(self.classes), len(self.clips)), -np.inf)
        filled = rows.starts[:, 1:] > rows.starts[:, :-1]
        if filled.any():
            largest[filled] = np.maximum.reduceat(rows.scores, rows.starts[:, :-1][filled])
        largest[references.labels, references.clips] = -np.inf
        return largest

    def counts(
        self, *, weights: NDArray[np.integer[Any]] | None = None, threads: int | None = None
    ) -> Counts:
        """Add the deltas up: the counts of each class at every score where one changes.

        ``weights``: how many times each clip counts, as whole numbers of at least 0; all once unless
        given. The counts are those of a set in which each clip occurs so many times.
        """
        tables, workers = self.tables, thread_count(threads)
        times = _as_weights(weights, len(self.clips))
        totals = self._totals(times)
        per_class: Mapping[str, ClassCounts]
        if times is None and tables.rows() > ROWS_TO_KEEP:
            per_class = _CountsOnDemand(self, totals, workers)
        else:
            classes = range(len(self.classes))
            per_class = self._of_classes(classes, self._add_up(classes, times, workers), totals, times)
        any_label = None if tables.any_label is None else _any_label(tables.any_label, times, workers)
        variants = {
            variant: found.counts(weights=weights, threads=threads)
            for variant, found in self.variants.items()
        }
        return replace(totals, per_class=per_class, any_label=any_label, variants=variants)

    def as_counts(self, added: Sequence[_native.ClassTotals], weights: NDArray[np.int32]) -> Counts:
        """What was added up for each class with the weights of the clips, as counts."""
        totals = self._totals(weights)
        per_class = self._of_classes(range(len(self.classes)), added, totals, weights)
        return replace(totals, per_class=per_class)

    def _totals(self, weights: NDArray[np.int32] | None) -> Counts:
        """What is known before anything is added up: counts of no class yet."""
        once = _times(weights, len(self.clips))
        rows = self.tables.references
        references = np.zeros(len(self.classes), np.int64)
        np.add.at(references, rows.labels, once[rows.clips])
        ticks = np.zeros(len(self.classes), np.int64)
        np.add.at(ticks, rows.labels, once[rows.clips] * rows.times)
        seconds = [time / TICKS_PER_SECOND for time in ticks.tolist()]
        return Counts(
            criterion=self.criterion,
            per_class={},
            clips=int(once.sum()),
            duration=int((once * self.durations).sum()) / TICKS_PER_SECOND,
            references=dict(zip(self.classes, references.tolist(), strict=True)),
            reference_times=dict(zip(self.classes, seconds, strict=True)),
        )

    def _add_up(
        self, classes: range, weights: NDArray[np.int32] | None, threads: int
    ) -> Sequence[_native.ClassTotals]:
        """Add up the rows of some consecutive classes."""
        detections, cross_triggers = self.tables.detections, self.tables.cross_triggers
        tp_changes, fp_changes = _weighted(detections, detections.columns, weights)
        labels, changes = cross_triggers.columns
        (ct_changes,) = _weighted(cross_triggers, (changes,), weights)
        of_classes = slice(classes.start, classes.stop)
        return _native.accumulate(
            _native.DetectionDeltas(
                starts=detections.starts[of_classes],
                scores=detections.scores,
                tp=tp_changes,
                fp=fp_changes,
            ),
            _native.CrossTriggerDeltas(
                starts=cross_triggers.starts[of_classes],
                scores=cross_triggers.scores,
                labels=labels,
                ct=ct_changes,
            ),
            threads,
        )

    def _of_classes(
        self,
        classes: range,
        added: Sequence[_native.ClassTotals],
        totals: Counts,
        weights: NDArray[np.int32] | None,
    ) -> dict[str, ClassCounts]:
        """The counts of some consecutive classes from what was added up."""
        tables, once = self.tables, _times(weights, len(self.clips))
        trials = None if tables.trials is None else int((once * tables.trials).sum())
        found: dict[str, ClassCounts] = {}
        for c, class_totals in zip(classes, added, strict=True):
            label = self.classes[c]
            of_class = ClassCounts(
                label=label,
                scores=class_totals.scores,
                tp=class_totals.tp,
                fp=class_totals.fp,
                references=totals.references[label],
                reference_time=totals.reference_times[label],
                trials=trials,
                floor=float(self.floors[c]),
                cross_rows=class_totals.cross_rows,
                cross_labels=class_totals.cross_labels,
                cross_changes=class_totals.cross_changes,
                classes=self.classes,
            )
            errors = tables.errors
            found[label] = of_class if errors is None else _with_errors(of_class, errors, c, once)
        return found


class _CountsOnDemand(Mapping[str, ClassCounts]):
    """Counts that are added up when they are asked for; only those of the last few classes are kept."""

    def __init__(self, deltas: Deltas, totals: Counts, threads: int) -> None:
        self._deltas, self._totals = deltas, totals
        most = int(np.diff(deltas.tables.detections.class_starts()).max())
        self._together = max(1, min(threads, _ROWS_AT_ONCE // max(1, most)))
        self._kept: dict[str, ClassCounts] = {}

    def __getitem__(self, label: str) -> ClassCounts:
        known = self._kept.get(label)
        if known is not None:
            return known
        if label not in self._deltas.classes:
            raise KeyError(label)
        self._kept = {}  # before there are others
        c, step = self._deltas.classes.index(label), self._together
        classes = range(c - c % step, min(c - c % step + step, len(self)))
        added = self._deltas._add_up(classes, None, step)
        found = self._kept = self._deltas._of_classes(classes, added, self._totals, None)
        return found[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._deltas.classes)

    def __len__(self) -> int:
        return len(self._deltas.classes)


def combine(variants: Sequence[Deltas], choice: NDArray[np.integer]) -> Deltas:
    """Deltas of which each class and clip comes from one of several; ``choice``: (classes × clips)
    which."""
    first = variants[0]
    wanted = np.ascontiguousarray(choice).ravel()
    floors = np.stack([found.floors for found in variants])
    highest = [floors[np.unique(of_class), c].max() for c, of_class in enumerate(choice)]
    return replace(
        first,
        floors=np.array(highest, floors.dtype),
        tables=replace(
            first.tables,
            detections=DeltaRows.choose([found.tables.detections for found in variants], wanted),
            cross_triggers=DeltaRows.choose([found.tables.cross_triggers for found in variants], wanted),
            errors=None,
            any_label=None,
        ),
    )


def _times(weights: NDArray[np.int32] | None, clips: int) -> NDArray[np.int64]:
    """How many times each clip counts."""
    return np.ones(clips, np.int64) if weights is None else weights.astype(np.int64)


def _as_weights(weights: NDArray[np.integer[Any]] | None, clips: int) -> NDArray[np.int32] | None:
    if weights is None:
        return None
    array = np.asarray(weights)
    whole = array.dtype.kind in "iu" and array.shape == (clips,)
    if not whole or (array < 0).any() or (array > 2**24).any():
        raise SedscopeError(f"weights must be {clips} whole numbers, one a clip, from 0 to {2**24}")
    return array.astype(np.int32)


def _weighted(
    table: DeltaRows, columns: Sequence[NDArray[Any]], weights: NDArray[np.int32] | None
) -> Sequence[NDArray[Any]]:
    """Changes times the weight of their clip: then a narrow column may not hold them."""
    if weights is None:
        return columns
    of_rows = weights[table.clip_of_row()]
    return [column * of_rows for column in columns]


def _with_errors(
    counts: ClassCounts, table: DeltaRows, c: int, weights: NDArray[np.int64]
) -> ClassCounts:
    """The counts with sums of errors in seconds, and a row wherever one of them changes, too."""
    first, last = table.class_starts()[c : c + 2]
    order = np.argsort(-table.scores[first:last], kind="stable")
    at = table.scores[first:last][order]
    of_rows = weights[table.clip_of_row()[first:last][order]]
    changes = np.stack([column[first:last][order] * of_rows for column in table.columns], axis=1)
    ends = np.flatnonzero(np.append(at[1:] != at[:-1], True)[: len(at)])  # of each distinct score
    sums = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(changes, axis=0)[ends]])
    changed = (sums[1:] != sums[:-1]).any(axis=1)
    at, sums = at[ends][changed], np.concatenate([sums[:1], sums[1:][changed]])
    scores = np.union1d(counts.scores, at)[::-1]
    rows = len(counts.scores) - np.searchsorted(counts.scores[::-1], scores, side="left")
    tally = counts.tally().rows(rows)
    errors = sums[np.searchsorted(-at, -scores, side="right")] / TICKS_PER_SECOND
    return replace(
        counts,
        scores=scores,
        tp=np.asarray(tally.tp),
        fp=np.asarray(tally.fp),
        cross_rows=np.searchsorted(rows, counts.cross_rows, side="right"),
        errors=errors,
    )


def _any_label(
    table: DeltaRows, weights: NDArray[np.int32] | None, threads: int
) -> tuple[ScoreArray, NDArray[np.int64]]:
    (changes,) = _weighted(table, table.columns, weights)
    deltas = _native.DetectionDeltas(
        starts=table.starts, scores=table.scores, tp=changes, fp=np.zeros_like(changes)
    )
    (totals,) = _native.accumulate(deltas, None, threads)
    return totals.scores, totals.tp
