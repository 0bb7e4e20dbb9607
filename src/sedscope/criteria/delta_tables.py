"""What a criterion returns: tables with one row per change of a count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from ..data.arrays import FloatArray, IntArray, ScoreArray, rounded_down
from ..data.times import Ticks

AnyRows = TypeVar("AnyRows", bound="_RowsOfClips")


@dataclass(frozen=True, eq=False)
class DeltaRows:
    """A table with one row per change, ordered by class, then clip.

    ``starts``: (classes × (clips + 1)) where the rows of each class and clip begin and end.
    """

    starts: NDArray[np.int64]
    scores: ScoreArray
    columns: tuple[NDArray[Any], ...]

    def _chosen(self, rows: NDArray[Any], starts: NDArray[np.int64]) -> DeltaRows:
        """Return some of the rows. ``starts``: where those of each class and clip begin."""
        return DeltaRows(starts, self.scores[rows], tuple(column[rows] for column in self.columns))

    def class_starts(self) -> NDArray[np.int64]:
        """Return where the rows of each class begin, and the end."""
        return np.append(self.starts[:, 0], np.int64(len(self.scores)))

    def above(self, floors: ScoreArray) -> DeltaRows:
        """Return the rows whose score lies above the floor of their class."""
        return DeltaRows.concatenate([self], floors)

    def sums_above(self, thresholds: ArrayLike) -> list[IntArray]:
        """Return what each column adds up to above the threshold of each class, as (classes × clips)."""
        of_classes = np.broadcast_to(np.asarray(thresholds, np.float64), len(self.starts))
        active = self.scores > np.repeat(of_classes, np.diff(self.class_starts()))
        before = (np.cumsum(np.where(active, column, 0), dtype=np.int64) for column in self.columns)
        return [np.diff(np.concatenate([[0], sums])[self.starts], axis=1) for sums in before]

    def clip_of_row(self) -> NDArray[np.intp]:
        """Return the clip of each row."""
        classes, clips = self.starts.shape[0], self.starts.shape[1] - 1
        return np.repeat(np.tile(np.arange(clips), classes), np.diff(self.starts, axis=1).ravel())

    def of_clips(self, kept: NDArray[np.bool_]) -> DeltaRows:
        """Return the table of some of the clips."""
        counts = np.diff(self.starts, axis=1)
        rows = np.repeat(np.tile(kept, len(counts)), counts.ravel())
        return self._chosen(rows, row_starts(counts[:, kept]))

    def in_order(self, clips: NDArray[np.intp]) -> DeltaRows:
        """Return the table with its clips in another order."""
        counts = np.diff(self.starts, axis=1)[:, clips]
        starts = row_starts(counts)
        shifts = (self.starts[:, clips] - starts[:, :-1]).ravel()
        rows = np.repeat(shifts, counts.ravel()) + np.arange(len(self.scores))
        return self._chosen(rows, starts)

    def clip_range(self, first: int, last: int) -> DeltaRows:
        """Return the table of the clips from number ``first`` to before ``last``."""
        bounds = self.starts[:, [first, last]]
        pieces = [slice(*bound) for bound in bounds.tolist()]
        return DeltaRows(
            row_starts(np.diff(self.starts[:, first : last + 1], axis=1)),
            np.concatenate([self.scores[rows] for rows in pieces]),
            tuple(np.concatenate([column[rows] for rows in pieces]) for column in self.columns),
        )

    def of_classes(self, kept: NDArray[np.bool_]) -> DeltaRows:
        """Return the table of some of the classes."""
        rows = np.repeat(kept, np.diff(self.class_starts()))
        return self._chosen(rows, row_starts(np.diff(self.starts, axis=1)[kept]))

    def emptied(self, kept: NDArray[np.bool_]) -> DeltaRows:
        """Return the table with all classes, of which only some have rows."""
        counts = np.diff(self.starts, axis=1) * kept[:, None]
        return self._chosen(np.repeat(kept, np.diff(self.class_starts())), row_starts(counts))

    def on_classes(self, kept: NDArray[np.bool_]) -> DeltaRows:
        """Return the cross-triggers on some of the classes, which are numbered anew."""
        labels, *others = self.columns
        rows = kept[labels]
        before = np.concatenate([[0], np.cumsum(rows)])
        number = (np.cumsum(kept) - 1).astype(labels.dtype)
        columns = (number[labels[rows]], *(column[rows] for column in others))
        return DeltaRows(before[self.starts].astype(np.int64), self.scores[rows], columns)

    @staticmethod
    def concatenate(
        parts: Sequence[DeltaRows], floors: ScoreArray | None = None, threads: int = 1
    ) -> DeltaRows:
        """Return one table for the clips of all parts.

        ``floors``: per class, the score at or below which rows are left out.
        """
        if len(parts) == 1 and floors is None:
            return parts[0]
        by_part = [(part.scores, *part.columns) for part in parts]
        types = [np.result_type(*columns) for columns in zip(*by_part, strict=True)]
        merged: Any = _native.merge_rows(
            [np.ascontiguousarray(part.starts) for part in parts],
            [[*map(np.ascontiguousarray, columns, types)] for columns in by_part],
            None if floors is None else rounded_down(floors, types[0]),
            threads,
        )
        if merged is None:
            return parts[0]
        starts, scores, *columns = merged
        return DeltaRows(starts, scores, tuple(columns))

    @staticmethod
    def joined(tables: Sequence[DeltaRows]) -> DeltaRows:
        """Return the rows of several tables of the same clips."""
        cells = tables[0].starts[:, 1:].size
        cell = np.concatenate(
            [np.repeat(np.arange(cells), np.diff(table.starts, axis=1).ravel()) for table in tables]
        )
        order = np.argsort(cell, kind="stable")
        scores = np.concatenate([table.scores for table in tables])[order]
        columns = zip(*(table.columns for table in tables), strict=True)
        counts = np.add.reduce([np.diff(table.starts, axis=1) for table in tables])
        return DeltaRows(
            row_starts(counts), scores, tuple(np.concatenate(column)[order] for column in columns)
        )

    @staticmethod
    def choose(tables: Sequence[DeltaRows], choice: NDArray[np.integer]) -> DeltaRows:
        """Take the rows of each pair of class and clip from one of several tables.

        ``choice``: the index of the table for each pair, ordered by class, then clip.
        """
        shape = tables[0].starts.shape
        pairs, kept = [], []
        for number, table in enumerate(tables):
            pair = np.repeat(np.arange(len(choice)), np.diff(table.starts, axis=1).ravel())
            rows = np.flatnonzero((choice == number)[pair])
            pairs.append(pair[rows])
            kept.append((table.scores[rows], *(column[rows] for column in table.columns)))
        pair = np.concatenate(pairs)
        order = np.argsort(pair, kind="stable")
        scores, *columns = (np.concatenate(column)[order] for column in zip(*kept, strict=True))
        counts = np.bincount(pair, minlength=len(choice)).reshape(shape[0], shape[1] - 1)
        return DeltaRows(row_starts(counts), scores, tuple(columns))

    @staticmethod
    def none(classes: int, clips: int, columns: Sequence[type], scores: ScoreArray) -> DeltaRows:
        """Return a table without rows, for scores of the same type as ``scores``."""
        return DeltaRows(
            np.zeros((classes, clips + 1), np.int64),
            scores[:0].ravel(),
            tuple(np.empty(0, column) for column in columns),
        )


def row_starts(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return where rows begin and end, from their number per class and clip."""
    starts = np.zeros((counts.shape[0], counts.shape[1] + 1), np.int64)
    np.cumsum(counts, axis=1, out=starts[:, 1:])
    starts[1:] += np.cumsum(starts[:-1, -1])[:, None]
    return starts


@dataclass(frozen=True, eq=False)
class _RowsOfClips:
    """Rows that belong to a clip and a class, with a number each."""

    clips: NDArray[np.int32]
    labels: NDArray[np.int32]

    def _chosen(self: AnyRows, rows: NDArray[Any] | slice) -> AnyRows:
        columns: list[Any] = [None if part is None else part[rows] for part in vars(self).values()]
        return type(self)(*columns)

    def of_clips(self: AnyRows, kept: NDArray[np.bool_]) -> AnyRows:
        """Return the table of some of the clips."""
        number, rows = (np.cumsum(kept) - 1).astype(np.int32), self._chosen(kept[self.clips])
        return replace(rows, clips=number[rows.clips])

    def of_classes(self: AnyRows, kept: NDArray[np.bool_]) -> AnyRows:
        """Return the table of some of the classes."""
        number, rows = (np.cumsum(kept) - 1).astype(np.int32), self._chosen(kept[self.labels])
        return replace(rows, labels=number[rows.labels])

    def in_order(self: AnyRows, clips: NDArray[np.intp]) -> AnyRows:
        """Return the table with its clips in another order, sorted by clip."""
        number = np.empty(len(clips), np.int32)
        number[clips] = np.arange(len(clips), dtype=np.int32)
        rows = replace(self, clips=number[self.clips])
        return rows._chosen(np.argsort(rows.clips, kind="stable"))

    def clip_range(self: AnyRows, first: int, last: int) -> AnyRows:
        """Return the table of the clips from number ``first`` to before ``last``; it is sorted by clip."""
        rows = self._chosen(slice(*np.searchsorted(self.clips, [first, last]).tolist()))
        return replace(rows, clips=rows.clips - np.int32(first))

    @classmethod
    def concatenate(cls: type[AnyRows], parts: Sequence[AnyRows], clips: Sequence[int]) -> AnyRows:
        """Return one table. ``clips``: the number of clips of each part."""
        firsts = np.cumsum([0, *clips]).astype(np.int32)
        moved = [replace(part, clips=part.clips + firsts[i]) for i, part in enumerate(parts)]
        columns = zip(*(vars(part).values() for part in moved), strict=True)
        joined: list[Any] = [None if parts[0] is None else np.concatenate(parts) for parts in columns]
        return cls(*joined)


@dataclass(frozen=True, eq=False)
class ReferenceRows(_RowsOfClips):
    """What there is to find: one row per reference event, or per segment in which a class is active."""

    times: Ticks
    """Lengths in microseconds; for criteria that measure time, how much of each length is scored."""
    numbers: IntArray | None = None
    """How many references a row stands for, if clips were added up; None if each row is one."""


@dataclass(frozen=True, eq=False)
class IgnoredRows(_RowsOfClips):
    """Where there are ignored references: rows of clips and classes. A clip and class may have several."""

    trials: NDArray[np.int64]
    """The number of segments, or microseconds, that are not judged; 0 for criteria about events."""

    @staticmethod
    def none() -> IgnoredRows:
        """Return a table without rows."""
        return IgnoredRows(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class FalseAlarmRows(_RowsOfClips):
    """Where a clip has a false positive of a class, though it has references of it: at every threshold below
    a score. A clip and class have one row at most."""

    scores: FloatArray

    @staticmethod
    def none() -> FalseAlarmRows:
        """Return a table without rows."""
        return FalseAlarmRows(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))

    def above(self, floors: ScoreArray) -> FalseAlarmRows:
        """Return the rows whose score lies above the floor of their class."""
        return self._chosen(self.scores > floors[self.labels]) if len(self.labels) else self

    @staticmethod
    def choose(tables: Sequence[FalseAlarmRows], choice: NDArray[np.integer]) -> FalseAlarmRows:
        """Take the rows of each class and clip from one of several tables of the same clips.

        ``choice``: (classes × clips) the index of the table.
        """
        chosen = [
            table._chosen(choice[table.labels, table.clips] == number)
            for number, table in enumerate(tables)
        ]
        return FalseAlarmRows.concatenate(chosen, [0] * len(chosen))


@dataclass(frozen=True, eq=False)
class DeltaTables:
    """All deltas that a criterion finds in some clips."""

    detections: DeltaRows
    """Columns: change of true positives, of false positives; one byte each, or four if they are times."""
    cross_triggers: DeltaRows
    """Columns: the other class, change of the cross-triggers on it."""
    references: ReferenceRows
    trials: NDArray[np.int64] | None = None
    """Per clip, the number of segments or its duration; None for criteria about events."""
    errors: DeltaRows | None = None
    """Columns: change of the sum of signed onset errors of pairs, of offset errors, in microseconds."""
    any_label: DeltaRows | None = None
    """Column: change of the number of pairs regardless of label, at one threshold for all classes. So there
    is one row of starts."""
    right: DeltaRows | None = None
    """Column: change of the number of right detections, for criteria that count them apart from the
    references found."""
    ignored: IgnoredRows = field(default_factory=IgnoredRows.none)
    certain: FalseAlarmRows = field(default_factory=FalseAlarmRows.none)
    """Of criteria that know some. Those below the floors are left out."""
    alarms: DeltaRows | None = None
    """Only where clips were added up. Column: the number of clips that certainly have a false positive at any
    threshold below this score."""

    def rows(self) -> int:
        """Return how many changes of counts there are."""
        return len(self.detections.scores) + len(self.cross_triggers.scores)

    def above(self, floors: ScoreArray) -> DeltaTables:
        """Return the changes at scores above the floor of their class."""
        return replace(
            self,
            detections=self.detections.above(floors),
            cross_triggers=self.cross_triggers.above(floors),
            errors=self.errors and self.errors.above(floors),
            right=self.right and self.right.above(floors),
            certain=self.certain.above(floors),
            alarms=self.alarms and self.alarms.above(floors),
        )

    def of_clips(self, kept: NDArray[np.bool_]) -> DeltaTables:
        """Return the tables of some of the clips."""
        tables = {name: table.of_clips(kept) for name, table in self._tables().items()}
        return replace(self, **tables, trials=None if self.trials is None else self.trials[kept])

    def in_order(self, clips: NDArray[np.intp]) -> DeltaTables:
        """Return the tables with their clips in another order."""
        tables = {name: table.in_order(clips) for name, table in self._tables().items()}
        return replace(self, **tables, trials=None if self.trials is None else self.trials[clips])

    def clip_range(self, first: int, last: int) -> DeltaTables:
        """Return the tables of the clips from number ``first`` to before ``last``.

        The references must be sorted by clip, as :meth:`in_order` sorts them.
        """
        tables = {name: table.clip_range(first, last) for name, table in self._tables().items()}
        return replace(self, **tables, trials=None if self.trials is None else self.trials[first:last])

    def of_classes(self, kept: NDArray[np.bool_]) -> DeltaTables:
        """Return the tables of some of the classes.

        Cross-triggers on other classes are left out. Pairs regardless of label are, too: those of some
        classes cannot be derived from those of all.
        """
        alone = replace(self, any_label=None)
        tables = {name: table.of_classes(kept) for name, table in alone._tables().items()}
        tables["cross_triggers"] = tables["cross_triggers"].on_classes(kept)
        return replace(alone, **tables)

    def changes(self) -> dict[str, DeltaRows]:
        """Return the tables with a row per change, by the name of their field."""
        return {name: table for name, table in self._tables().items() if isinstance(table, DeltaRows)}

    def _tables(self) -> dict[str, Any]:
        """Return all tables that there are, by the name of their field."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: table for name, table in named.items() if name != "trials" and table is not None}

    @staticmethod
    def concatenate(
        parts: Sequence[DeltaTables],
        clips: Sequence[int],
        floors: ScoreArray | None = None,
        threads: int = 1,
    ) -> DeltaTables:
        """Return the tables of all clips, or their changes at scores above the floor of their class.

        ``clips``: the number of clips of each part.
        """

        def all_of(tables: Sequence[DeltaRows | None], lowest: ScoreArray | None) -> DeltaRows | None:
            present = [table for table in tables if table is not None]
            if len(present) < len(tables):
                return None
            return DeltaRows.concatenate(present, lowest, threads)

        trials = [part.trials for part in parts if part.trials is not None]
        certain = FalseAlarmRows.concatenate([part.certain for part in parts], clips)
        return DeltaTables(
            detections=DeltaRows.concatenate([part.detections for part in parts], floors, threads),
            cross_triggers=DeltaRows.concatenate(
                [part.cross_triggers for part in parts], floors, threads
            ),
            references=ReferenceRows.concatenate([part.references for part in parts], clips),
            trials=np.concatenate(trials) if trials else None,
            errors=all_of([part.errors for part in parts], floors),
            any_label=all_of([part.any_label for part in parts], None),
            right=all_of([part.right for part in parts], floors),
            ignored=IgnoredRows.concatenate([part.ignored for part in parts], clips),
            certain=certain if floors is None else certain.above(floors),
            alarms=all_of([part.alarms for part in parts], floors),
        )
