"""Criteria written in Python: a class that sees the detections of a clip at all thresholds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.scores import ScoreArray
from ..data.times import Ticks, to_seconds
from ..errors import SedscopeError
from .clip_batch import AnyBatch, ClipBatch, DeltaSearch
from .criterion import Criterion
from .delta_tables import DeltaRows, DeltaTables


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of time, in seconds."""

    onset: NDArray[np.float64]
    offset: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.onset)


@dataclass(frozen=True, eq=False)
class Detections(Intervals):
    """The detections of one clip and class at all thresholds.

    They are in no particular order of time: a detection comes after the shorter ones inside it.
    Detection i exists for thresholds from ``parent[i]`` (included) up to ``score[i]`` (excluded). At
    ``parent[i]`` it becomes part of a larger detection; ``-inf`` means that it never does.
    """

    score: ScoreArray
    parent: ScoreArray

    def changes(self, values: ArrayLike) -> tuple[ScoreArray, NDArray[np.int64]]:
        """Return the scores and changes of a sum over the detections that exist.

        ``values``: a whole number per detection, e.g. whether it is a false positive.
        """
        amounts = np.asarray(values).astype(np.int64)
        ends = self.parent > -np.inf
        scores = np.concatenate([self.score, self.parent[ends]])
        return scores, np.concatenate([amounts, -amounts[ends]])


@dataclass(frozen=True, eq=False)
class FoundChanges:
    """How counts change when the threshold falls below ``scores[i]``."""

    scores: ArrayLike
    tp: ArrayLike
    fp: ArrayLike


class CustomCriterion(Criterion):
    """Base of criteria written in Python.

    Subclass it with a frozen dataclass and define :meth:`clip_deltas`. A custom criterion is slower than
    those of the core, needs whole clips, counts no cross-triggers, and does not know ignored references.

    Examples
    --------
    A criterion that counts false alarms in clips without reference events, and nothing else:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from sedscope.criteria import FoundChanges
    >>> @dataclass(frozen=True, repr=False)
    ... class FalseAlarms(CustomCriterion):
    ...     def clip_deltas(self, detections, references, others):
    ...         scores, fp = detections.changes(np.full(len(detections), len(references) == 0))
    ...         return FoundChanges(scores, np.zeros_like(fp), fp)
    >>> FalseAlarms()
    FalseAlarms()
    """

    @abstractmethod
    def clip_deltas(
        self, detections: Detections, references: Intervals, others: Mapping[int, Intervals]
    ) -> FoundChanges:
        """Return how the true and false positives of one clip and class change.

        Parameters
        ----------
        detections : Detections
            The detections of the class at all thresholds.
        references : Intervals
            The reference events of the class, in order of onset.
        others : mapping of int to Intervals
            The reference events of the other classes, by the index of the class.

        Returns
        -------
        FoundChanges
            Changes in any order. Changes at the same score are added up.
        """

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        if not isinstance(batch, ClipBatch):
            raise SedscopeError(
                f"{self} cannot judge scored events that are kept as they are: they may overlap. Merge them "
                "with `overlaps='merge'`, or use Intersection, Collar, Onset, IoU, AnyOverlap, Alarm, "
                "Segment, Clip or Time."
            )
        if search.any_label:
            raise SedscopeError(f"Substitutions are not defined for {self}.")
        if len(batch.ignored.labels):
            raise SedscopeError(
                f"{self} is a custom criterion, which does not know ignored references. Leave them out of "
                "the ground truth, or use one of sedscope's criteria."
            )
        floors = search.floors
        clips, classes = len(batch.durations), len(floors)
        rows: list[tuple[ScoreArray, NDArray[np.int8], NDArray[np.int8]]] = []
        starts = np.zeros((classes, clips + 1), np.int64)
        total = 0
        for c in range(classes):
            for clip in range(clips):
                starts[c, clip] = total
                rows.append(self._clip_rows(batch, clip, c, floors))
                total += len(rows[-1][0])
            starts[c, clips] = total
        columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
        return DeltaTables(
            detections=DeltaRows(starts, columns[0].astype(floors.dtype), (columns[1], columns[2])),
            cross_triggers=DeltaRows.none(classes, clips, (np.int32, np.int8), floors),
            references=batch.reference_rows(),
        ).above(floors)

    def _clip_rows(
        self, batch: ClipBatch, clip: int, c: int, floors: ScoreArray
    ) -> tuple[ScoreArray, NDArray[np.int8], NDArray[np.int8]]:
        rows = slice(batch.starts[clip], batch.starts[clip + 1])
        labels, events = batch.labels[rows], batch.events[rows]
        by_class = {int(label): _intervals(events[labels == label]) for label in np.unique(labels)}
        references = by_class.pop(c, _intervals(events[:0]))
        nodes = batch.clips.detections(clip, c)
        onsets, offsets = to_seconds(nodes.onsets), to_seconds(nodes.offsets)
        detections = Detections(onsets, offsets, nodes.scores, nodes.parents)
        changes = self.clip_deltas(detections, references, by_class)
        return _narrowed(changes, floors.dtype)


def _intervals(events: Ticks) -> Intervals:
    return Intervals(to_seconds(events[:, 0]), to_seconds(events[:, 1]))


def _narrowed(
    changes: FoundChanges, dtype: np.dtype[Any]
) -> tuple[ScoreArray, NDArray[np.int8], NDArray[np.int8]]:
    """Return one-byte columns. A change that needs more takes several rows of the same score."""
    scores = np.asarray(changes.scores, dtype)
    tp, fp = (np.asarray(column).astype(np.int64) for column in (changes.tp, changes.fp))
    if not (scores.shape == tp.shape == fp.shape and scores.ndim == 1):
        raise SedscopeError("A criterion must return scores, tp and fp as arrays of the same length.")
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
