"""Your own criterion: a class that sees the detections of a clip at all thresholds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.scores import ScoreArray
from ..data.times import Ticks, to_seconds
from ..definitions import Defined
from ..errors import SedscopeError
from .criterion import ClipBatch
from .delta_tables import DeltaTables, Rows


@dataclass(frozen=True, eq=False)
class Intervals:
    """Stretches of time, in seconds, in order."""

    onset: NDArray[np.float64]
    offset: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.onset)


@dataclass(frozen=True, eq=False)
class Detections(Intervals):
    """The detections of one clip and class at all thresholds.

    Detection i is there for thresholds from ``parent[i]`` (included; there it becomes part of a larger
    one; ``-inf``: of none) up to ``score[i]`` (excluded).
    """

    score: ScoreArray
    parent: ScoreArray

    def changes(self, values: ArrayLike) -> tuple[ScoreArray, NDArray[np.int64]]:
        """Scores and changes of the sum of a whole number per detection, over those that are there."""
        amounts = np.asarray(values).astype(np.int64)
        ends = self.parent > -np.inf
        scores = np.concatenate([self.score, self.parent[ends]])
        return scores, np.concatenate([amounts, -amounts[ends]])


@dataclass(frozen=True, eq=False)
class FoundChanges:
    """Changes of counts: where the threshold falls below ``scores[i]``."""

    scores: ArrayLike
    tp: ArrayLike
    fp: ArrayLike


class CustomCriterion(Defined, ABC):
    """Base of criteria written in Python. Subclass it with a frozen dataclass::

    @dataclass(frozen=True, repr=False)
    class Touch(CustomCriterion):
        ...
        def clip_deltas(self, detections, references, others):
            ...
    """

    @abstractmethod
    def clip_deltas(
        self, detections: Detections, references: Intervals, others: Mapping[int, Intervals]
    ) -> FoundChanges:
        """Changes of true and false positives of one clip and class.

        ``references``: those of the class; ``others``: those of other classes, by their number.
        Changes at one score are added up, so they may come in any order and number.
        """

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        """See :class:`~sedscope.criteria.criterion.Criterion`."""
        if any_label:
            raise SedscopeError(f"substitutions are not defined for {self}")
        clips, classes = len(batch.durations), len(floors)
        found: list[tuple[ScoreArray, NDArray[np.int8], NDArray[np.int8]]] = []
        starts = np.zeros((classes, clips + 1), np.int64)
        total = 0
        for c in range(classes):
            for clip in range(clips):
                starts[c, clip] = total
                found.append(self._clip_rows(batch, clip, c, floors))
                total += len(found[-1][0])
            starts[c, clips] = total
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        return DeltaTables(
            detections=Rows(starts, columns[0].astype(floors.dtype), (columns[1], columns[2])),
            cross_triggers=Rows.none(classes, clips, (np.int32, np.int8), floors),
            references=batch.references(),
        ).above(floors)

    def _clip_rows(
        self, batch: ClipBatch, clip: int, c: int, floors: ScoreArray
    ) -> tuple[ScoreArray, NDArray[np.int8], NDArray[np.int8]]:
        rows = slice(batch.starts[clip], batch.starts[clip + 1])
        labels, events = batch.labels[rows], batch.events[rows]
        by_class = {int(label): _intervals(events[labels == label]) for label in np.unique(labels)}
        own = by_class.pop(c, _intervals(events[:0]))
        onsets, offsets, scores, parents = batch.clips.detections(clip, c)
        seen = Detections(to_seconds(onsets), to_seconds(offsets), scores, parents)
        changes = self.clip_deltas(seen, own, by_class)
        return _narrowed(changes, floors.dtype)


def _intervals(events: Ticks) -> Intervals:
    return Intervals(to_seconds(events[:, 0]), to_seconds(events[:, 1]))


def _narrowed(
    changes: FoundChanges, dtype: np.dtype[Any]
) -> tuple[ScoreArray, NDArray[np.int8], NDArray[np.int8]]:
    """One-byte columns; a larger change takes several rows of the same score."""
    scores = np.asarray(changes.scores, dtype)
    tp, fp = (np.asarray(column).astype(np.int64) for column in (changes.tp, changes.fp))
    if not (scores.shape == tp.shape == fp.shape and scores.ndim == 1):
        raise SedscopeError("scores, tp and fp of a criterion must be arrays of one length")
    parts = []
    while len(scores):
        narrow = [np.clip(column, -127, 127) for column in (tp, fp)]
        parts.append((scores, *(column.astype(np.int8) for column in narrow)))
        tp, fp = tp - narrow[0], fp - narrow[1]
        rest = (tp != 0) | (fp != 0)
        scores, tp, fp = scores[rest], tp[rest], fp[rest]
    empty = np.empty(0, np.int8)
    parts = parts or [(scores, empty, empty)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return columns[0], columns[1], columns[2]
