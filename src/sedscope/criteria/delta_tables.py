"""Tables with one row per change of a count, and what a criterion finds in some clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.scores import ScoreArray
from ..data.times import Ticks


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with one row per change, ordered by class, then clip.

    ``starts``: (classes × (clips + 1)) where the rows of each class and clip begin and end.
    """

    starts: NDArray[np.int64]
    scores: ScoreArray
    columns: tuple[NDArray[Any], ...]

    def class_starts(self) -> NDArray[np.int64]:
        """Where the rows of each class begin, and the end."""
        return np.append(self.starts[:, 0], np.int64(len(self.scores)))

    def above(self, floors: ScoreArray) -> Rows:
        """Only the rows with a score above their class's floor."""
        bounds = self.class_starts()
        above = np.empty(len(self.scores), bool)
        for c in range(len(floors)):
            rows = slice(bounds[c], bounds[c + 1])
            np.greater(self.scores[rows], floors[c : c + 1], out=above[rows])
        if above.all():
            return self
        kept = np.flatnonzero(above)
        return Rows(
            np.searchsorted(kept, self.starts).astype(np.int64, copy=False),
            self.scores[kept],
            tuple(column[kept] for column in self.columns),
        )

    def clip_of_row(self) -> NDArray[np.intp]:
        """The clip of each row."""
        classes, clips = self.starts.shape[0], self.starts.shape[1] - 1
        return np.repeat(np.tile(np.arange(clips), classes), np.diff(self.starts, axis=1).ravel())

    def of_clips(self, kept: NDArray[np.bool_]) -> Rows:
        """Only the rows of some clips, which are then all there are."""
        counts = np.diff(self.starts, axis=1)
        rows = np.repeat(np.tile(kept, len(counts)), counts.ravel())
        return Rows(
            _starts(counts[:, kept]), self.scores[rows], tuple(column[rows] for column in self.columns)
        )

    @staticmethod
    def concatenate(parts: Sequence[Rows]) -> Rows:
        """One table for the clips of all parts."""
        if len(parts) == 1:
            return parts[0]
        bounds = [part.class_starts() for part in parts]
        pieces = [
            (part, slice(bound[c], bound[c + 1]))
            for c in range(len(parts[0].starts))
            for part, bound in zip(parts, bounds, strict=True)
        ]
        counts = np.concatenate([np.diff(part.starts, axis=1) for part in parts], axis=1)
        columns = zip(*(part.columns for part in parts), strict=True)
        return Rows(
            _starts(counts),
            np.concatenate([part.scores[rows] for part, rows in pieces]),
            tuple(
                np.concatenate([part.columns[k][rows] for part, rows in pieces])
                for k, _ in enumerate(columns)
            ),
        )

    @staticmethod
    def choose(tables: Sequence[Rows], wanted: NDArray[np.integer]) -> Rows:
        """Rows of each pair of class and clip from the table that is wanted for it."""
        shape = tables[0].starts.shape
        pairs, kept = [], []
        for number, table in enumerate(tables):
            pair = np.repeat(np.arange(len(wanted)), np.diff(table.starts, axis=1).ravel())
            rows = np.flatnonzero((wanted == number)[pair])
            pairs.append(pair[rows])
            kept.append((table.scores[rows], *(column[rows] for column in table.columns)))
        pair = np.concatenate(pairs)
        order = np.argsort(pair, kind="stable")
        scores, *columns = (np.concatenate(column)[order] for column in zip(*kept, strict=True))
        counts = np.bincount(pair, minlength=len(wanted)).reshape(shape[0], shape[1] - 1)
        return Rows(_starts(counts), scores, tuple(columns))

    @staticmethod
    def none(classes: int, clips: int, columns: Sequence[type], scores: ScoreArray) -> Rows:
        """A table without rows, for scores of the given type."""
        return Rows(
            np.zeros((classes, clips + 1), np.int64),
            scores[:0].ravel(),
            tuple(np.empty(0, column) for column in columns),
        )


def _starts(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where rows begin and end, of which there are so many per class and clip."""
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    classes, clips = counts.shape
    starts: NDArray[np.int64] = before[np.arange(classes)[:, None] * clips + np.arange(clips + 1)]
    return starts


@dataclass(frozen=True, eq=False)
class ReferenceRows:
    """What there is to find: one row per reference event (or segment in which a class is active)."""

    clips: NDArray[np.int32]
    labels: NDArray[np.int32]
    times: Ticks
    """Lengths in microseconds."""

    def of_clips(self, kept: NDArray[np.bool_]) -> ReferenceRows:
        """See :meth:`Rows.of_clips`."""
        number = (np.cumsum(kept) - 1).astype(np.int32)
        rows = kept[self.clips]
        return ReferenceRows(number[self.clips[rows]], self.labels[rows], self.times[rows])

    @staticmethod
    def concatenate(parts: Sequence[ReferenceRows], clips: Sequence[int]) -> ReferenceRows:
        """One table; ``clips``: how many each part is about."""
        firsts = np.cumsum([0, *clips])
        return ReferenceRows(
            np.concatenate(
                [part.clips + np.int32(first) for part, first in zip(parts, firsts, strict=False)]
            ),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.times for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class DeltaTables:
    """What a criterion finds in some clips."""

    detections: Rows
    """Columns: change of true positives, of false positives (one byte each)."""
    cross_triggers: Rows
    """Columns: the other class, change of the cross-triggers on it."""
    references: ReferenceRows
    trials: NDArray[np.int64] | None = None
    """Per clip, how many times each class is judged (segments); None for criteria about events."""
    errors: Rows | None = None
    """Columns: change of the sum of signed onset errors of pairs, of offset errors, in microseconds."""
    any_label: Rows | None = None
    """Column: change of the number of pairs if labels did not matter, at one threshold for all classes
    (so there is one row of starts)."""

    def rows(self) -> int:
        """How many changes of counts there are."""
        return len(self.detections.scores) + len(self.cross_triggers.scores)

    def above(self, floors: ScoreArray) -> DeltaTables:
        """Without changes at or below each class's floor."""
        return replace(
            self,
            detections=self.detections.above(floors),
            cross_triggers=self.cross_triggers.above(floors),
            errors=self.errors and self.errors.above(floors),
        )

    def of_clips(self, kept: NDArray[np.bool_]) -> DeltaTables:
        """See :meth:`Rows.of_clips`."""
        return DeltaTables(
            detections=self.detections.of_clips(kept),
            cross_triggers=self.cross_triggers.of_clips(kept),
            references=self.references.of_clips(kept),
            trials=None if self.trials is None else self.trials[kept],
            errors=self.errors and self.errors.of_clips(kept),
            any_label=self.any_label and self.any_label.of_clips(kept),
        )

    @staticmethod
    def concatenate(parts: Sequence[DeltaTables], clips: Sequence[int]) -> DeltaTables:
        """The tables of all clips; ``clips``: how many each part is about."""

        def all_of(tables: Sequence[Rows | None]) -> Rows | None:
            found = [table for table in tables if table is not None]
            return Rows.concatenate(found) if len(found) == len(tables) else None

        trials = [part.trials for part in parts if part.trials is not None]
        return DeltaTables(
            detections=Rows.concatenate([part.detections for part in parts]),
            cross_triggers=Rows.concatenate([part.cross_triggers for part in parts]),
            references=ReferenceRows.concatenate([part.references for part in parts], clips),
            trials=np.concatenate(trials) if trials else None,
            errors=all_of([part.errors for part in parts]),
            any_label=all_of([part.any_label for part in parts]),
        )
