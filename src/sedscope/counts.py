"""Counts of each class at every threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .criteria import Criterion
from .errors import SedscopeError, listing
from .scores import ScoreArray

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
    floor: float
    cross_rows: NDArray[np.int64]
    cross_labels: NDArray[np.int32]
    cross_changes: NDArray[np.int64]
    """Cross-triggers, sparse: at a row, those on a class (an index into ``classes``) change."""
    classes: tuple[str, ...]

    def ct(self, label: str) -> IntArray:
        """Cross-triggers on another class, per row."""
        if label not in self.classes:
            raise SedscopeError(f"no class {label!r}; there are {listing(self.classes, limit=30)}")
        chosen = self.cross_labels == self.classes.index(label)
        changes = np.zeros(len(self.scores), np.int64)
        np.add.at(changes, self.cross_rows[chosen], self.cross_changes[chosen])
        return np.cumsum(changes)

    def at(self, thresholds: ArrayLike) -> ClassCounts:
        """Only the operating points of the given thresholds (frames with ``score > threshold``)."""
        try:
            points = np.unique(np.asarray(thresholds, np.float64))[::-1]
        except (TypeError, ValueError) as error:
            raise SedscopeError(f"thresholds must be numbers: {error}") from None
        if np.isnan(points).any():
            raise SedscopeError("thresholds must be numbers, not NaN")
        if len(points) and points[-1] < self.floor:
            raise SedscopeError(
                f"{self.label}: counts are known above {self.floor:g}, not at {points[-1]:g}"
            )
        rising = self.scores[::-1].astype(np.float64)
        detected = len(rising) - np.searchsorted(rising, points, side="right")
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
        )


@dataclass(frozen=True, eq=False)
class Counts(Mapping[str, ClassCounts]):
    """The counts of every class, by label."""

    criterion: Criterion
    per_class: Mapping[str, ClassCounts]
    clips: int
    duration: float
    """Of all clips, in seconds."""

    def at(self, thresholds: ArrayLike) -> Counts:
        """Only the operating points of the given thresholds, the same for all classes."""
        chosen = {label: counts.at(thresholds) for label, counts in self.per_class.items()}
        return replace(self, per_class=chosen)

    def __getitem__(self, label: str) -> ClassCounts:
        return self.per_class[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_class)

    def __len__(self) -> int:
        return len(self.per_class)
