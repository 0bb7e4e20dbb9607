"""Counts of each class at every threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .criteria import Criterion
from .errors import SedscopeError, listing
from .scores import ScoreArray
from .tallies import Tally

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Counts of one class, one row per score at which a count changes.

    Row i is the operating point where frames with ``score >= scores[i]`` are active, that is, any
    threshold from the next lower score of the table (included) up to ``scores[i]`` (excluded). Above
    ``scores[0]`` nothing is detected. Rows are complete above ``floor``.
    """

    label: str
    scores: ScoreArray
    """Decreasing."""
    tp: IntArray
    """Reference events found."""
    fp: IntArray
    """False detections."""
    references: int
    """Number of reference events."""
    reference_time: float
    """Their total length in seconds."""
    trials: int | None
    """How many segments were judged; None for criteria about events."""
    floor: float
    cross_rows: NDArray[np.int64]
    cross_labels: NDArray[np.int32]
    cross_changes: NDArray[np.int64]
    """Cross-triggers, sparse: at a row, those on a class (an index into ``classes``) change."""
    classes: tuple[str, ...]
    errors: NDArray[np.float64] | None = None
    """(rows × 2) sums of signed onset and offset errors of pairs in seconds, if asked for."""
    pairs: IntArray | None = None
    """Pairs that there could be if labels did not matter; only for all classes together."""

    def ct(self, label: str) -> IntArray:
        """Cross-triggers on another class, per row."""
        if label not in self.classes:
            raise SedscopeError(f"no class {label!r}; there are {listing(self.classes, limit=30)}")
        chosen = self.cross_labels == self.classes.index(label)
        changes = np.zeros(len(self.scores), np.int64)
        np.add.at(changes, self.cross_rows[chosen], self.cross_changes[chosen])
        return np.cumsum(changes)

    def tally(self) -> Tally:
        """All operating points; the first one is that nothing is detected, then one per row."""

        def with_none(column: IntArray | None) -> IntArray | None:
            return None if column is None else np.concatenate([[0], column])

        tp, fp = with_none(self.tp), with_none(self.fp)
        assert tp is not None
        assert fp is not None
        return Tally(tp, fp, self.references, self.trials, with_none(self.pairs))

    def tally_at(self, threshold: float) -> Tally:
        """The operating point of a threshold: frames with ``score > threshold`` are active."""
        return self.tally()[int(self._detected(_as_thresholds(threshold))[0])]

    def cheapest_rows(self) -> NDArray[np.intp]:
        """The rows of the tally that can be best: of consecutive ones with equal true positives the one
        with the fewest false positives, of equals the first."""
        tp, fp = np.concatenate([[0], self.tp]), np.concatenate([[0], self.fp])
        starts = np.flatnonzero(np.concatenate([[True], tp[1:] != tp[:-1]]))
        fewest = np.repeat(np.minimum.reduceat(fp, starts), np.diff(np.append(starts, len(fp))))
        candidates = np.flatnonzero(fp == fewest)
        run = np.searchsorted(starts, candidates, side="right")
        rows: NDArray[np.intp] = candidates[np.concatenate([[True], run[1:] != run[:-1]])]
        return rows

    def threshold(self, row: int) -> float:
        """A threshold for row ``row`` of the tally: midway between its score and the next lower one."""
        if row == 0:
            return np.inf
        upper = float(self.scores[row - 1])
        if row == len(self.scores):
            return float(np.nextafter(self.scores[row - 1], -np.inf))
        lower = float(self.scores[row])
        middle = lower + (upper - lower) / 2 if np.isfinite(upper - lower) else lower
        return middle if middle < upper else lower

    def at(self, thresholds: ArrayLike) -> ClassCounts:
        """Only the operating points of the given thresholds (frames with ``score > threshold``)."""
        detected = self._detected(_as_thresholds(thresholds))
        rows = np.unique(detected[detected > 0]) - 1
        cross = np.searchsorted(rows, self.cross_rows)
        kept = cross < len(rows)
        return replace(
            self,
            scores=self.scores[rows],
            tp=self.tp[rows],
            fp=self.fp[rows],
            cross_rows=cross[kept],
            cross_labels=self.cross_labels[kept],
            cross_changes=self.cross_changes[kept],
            errors=None if self.errors is None else self.errors[rows],
            pairs=None if self.pairs is None else self.pairs[rows],
        )

    def _detected(self, thresholds: NDArray[np.float64]) -> NDArray[np.intp]:
        """For decreasing thresholds, how many rows lie above each."""
        if len(thresholds) and thresholds[-1] < self.floor:
            raise SedscopeError(
                f"{self.label}: counts are known above {self.floor:g}, not at {thresholds[-1]:g}"
            )
        rising = self.scores[::-1].astype(np.float64)
        return len(rising) - np.searchsorted(rising, thresholds, side="right")


def _as_thresholds(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Distinct thresholds, decreasing."""
    try:
        points = np.unique(np.asarray(thresholds, np.float64))[::-1]
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"thresholds must be numbers: {error}") from None
    if np.isnan(points).any():
        raise SedscopeError("thresholds must be numbers, not NaN")
    return points


@dataclass(frozen=True, eq=False)
class Counts(Mapping[str, ClassCounts]):
    """The counts of every class, by label."""

    criterion: Criterion
    per_class: Mapping[str, ClassCounts]
    clips: int
    duration: float
    """Of all clips, in seconds."""
    any_label: tuple[ScoreArray, IntArray] | None = None
    """Scores and how many pairs there could be there if labels did not matter, if asked for."""

    def pooled(self) -> ClassCounts:
        """All classes together, at one threshold for all."""
        tables = list(self.per_class.values())
        trials = [table.trials for table in tables if table.trials is not None]
        all_scores = [table.scores for table in tables]
        changes = [
            np.concatenate([np.diff(table.tp, prepend=0) for table in tables]),
            np.concatenate([np.diff(table.fp, prepend=0) for table in tables]),
        ]
        if self.any_label is not None:
            pair_scores, pairs = self.any_label
            all_scores.append(pair_scores)
            before = np.zeros(len(changes[0]), np.int64)
            after = np.zeros(len(pairs), np.int64)
            changes = [np.concatenate([column, after]) for column in changes]
            changes.append(np.concatenate([before, np.diff(pairs, prepend=0)]))
        scores = np.concatenate(all_scores)
        order = np.argsort(-scores, kind="stable")
        last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)[: len(scores)]
        tp, fp, *rest = (np.cumsum(column[order])[last] for column in changes)
        nobody: NDArray[np.int64] = np.empty(0, np.int64)
        return ClassCounts(
            label="all classes",
            scores=scores[order][last],
            tp=tp,
            fp=fp,
            references=sum(table.references for table in tables),
            reference_time=sum(table.reference_time for table in tables),
            trials=sum(trials) if trials else None,
            floor=max(table.floor for table in tables),
            cross_rows=nobody,
            cross_labels=nobody.astype(np.int32),
            cross_changes=nobody,
            classes=tuple(self.per_class),
            pairs=rest[0] if rest else None,
        )

    def at(self, thresholds: ArrayLike) -> Counts:
        """Only the operating points of the given thresholds, the same for all classes."""
        chosen = {label: counts.at(thresholds) for label, counts in self.per_class.items()}
        return replace(self, per_class=chosen)

    def cross_trigger_matrix(self, threshold: float) -> IntArray:
        """(classes × classes) at one threshold for all: in the row of a class, how many of its false
        positives are cross-triggers on each other class; on the diagonal its true positives."""
        matrix = np.zeros((len(self), len(self)), np.int64)
        for row, of_class in enumerate(self.per_class.values()):
            at = of_class.at([threshold])
            if len(at.scores):
                matrix[row] = [at.ct(other)[-1] for other in self.per_class]
            matrix[row, row] = of_class.tally_at(threshold).tp
        return matrix

    def __getitem__(self, label: str) -> ClassCounts:
        return self.per_class[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_class)

    def __len__(self) -> int:
        return len(self.per_class)
