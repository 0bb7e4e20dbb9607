"""Criteria that judge stretches of time instead of events: segments of equal length, whole clips."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.scores import ScoreArray
from ..data.times import Ticks, to_ticks
from ..definitions import Defined, require_choice, require_flag, require_number
from .criterion import ClipBatch, ClipTruth, OpenDeltas, Recording
from .delta_tables import DeltaTables, ReferenceRows, Rows

AGGREGATIONS = ("max", "mean")


@dataclass(frozen=True, eq=False)
class _Grid:
    """The segments of some clips."""

    length: int
    """In microseconds."""
    counts: NDArray[np.int64]
    """Per clip."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first segment of each clip, and the end."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)


class _Stretches(Defined, ABC):
    """A criterion in which each segment and class is one true or false positive from the segment's score
    on."""

    aggregation: str
    cross_triggers: bool

    @abstractmethod
    def _grid(self, durations: Ticks) -> _Grid:
        """The segments of clips with these durations."""

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        """See :class:`~sedscope.criteria.criterion.Criterion`."""
        grid, mean = self._grid(batch.durations), self.aggregation == "mean"
        scores = batch.clips.segment_scores(grid.starts, batch.durations, grid.length, mean, threads)
        return self._tables(batch, grid, scores, floors, any_label)

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        """See :class:`~sedscope.criteria.criterion.PiecewiseCriterion`."""
        grid, mean = self._grid(recording.durations), self.aggregation == "mean"
        (count,), (duration,) = grid.counts.tolist(), recording.durations.tolist()
        scores = recording.clip.segment_scores(count, duration, grid.length, mean)
        return _OpenStretches(self, recording, grid, scores, floors, any_label)

    def _tables(
        self, batch: ClipTruth, grid: _Grid, scores: ScoreArray, floors: ScoreArray, any_label: bool
    ) -> DeltaTables:
        """The tables that follow from the (segments × classes) scores."""
        classes, clips, starts, length = len(floors), len(grid.counts), grid.starts, grid.length
        targets = _targets(batch, length, starts, classes)
        class_starts = np.arange(classes)[:, None] * starts[-1] + starts
        columns = (targets.T.ravel().astype(np.int8), (~targets).T.ravel().astype(np.int8))
        detections = Rows(class_starts, np.ascontiguousarray(scores.T).ravel(), columns)
        segments, labels = np.nonzero(targets)
        clip_of_segment = np.repeat(np.arange(clips, dtype=np.int32), grid.counts)
        begin = (segments - starts[clip_of_segment[segments]]) * length
        times = np.minimum(length, batch.durations[clip_of_segment[segments]] - begin)
        cross = (
            _cross_triggers(scores, targets, clip_of_segment, clips)
            if self.cross_triggers
            else Rows.none(classes, clips, (np.int32, np.int8), scores)
        )
        tables = DeltaTables(
            detections=detections,
            cross_triggers=cross,
            references=ReferenceRows(clip_of_segment[segments], labels.astype(np.int32), times),
            trials=grid.counts.astype(np.int64),
            any_label=_any_label(scores, targets, starts) if any_label else None,
        )
        return tables.above(floors.astype(scores.dtype))


@dataclass(frozen=True, eq=False)
class _OpenStretches:
    """:class:`~sedscope.criteria.criterion.OpenDeltas` of segments."""

    criterion: _Stretches
    recording: Recording
    grid: _Grid
    scores: _native.OpenRecording
    floors: ScoreArray
    any_label: bool

    def feed(self, piece: ScoreArray) -> None:
        self.scores.feed(piece)

    def finish(self) -> DeltaTables:
        scores: ScoreArray = self.scores.finish()
        return self.criterion._tables(self.recording, self.grid, scores, self.floors, self.any_label)


@dataclass(frozen=True, repr=False)
class Segment(_Stretches):
    """Segments of ``length`` seconds, the last one of a clip ending with the clip.

    A segment's score is the largest score of the frames that overlap it, or with
    ``aggregation="mean"`` their mean, weighted by the time that they share with it. A class is to be
    found in a segment if one of its references overlaps it. ``cross_triggers``: a false positive in a
    segment in which another class is to be found is a cross-trigger on that class.

    >>> Segment(1.0)
    Segment(length=1, aggregation='max')
    """

    length: float = 1.0
    aggregation: str = "max"
    cross_triggers: bool = False

    def __post_init__(self) -> None:
        require_number(self, "length", at_least=1e-6)
        require_choice(self, "aggregation", AGGREGATIONS)
        require_flag(self, "cross_triggers")

    def _grid(self, durations: Ticks) -> _Grid:
        length = int(to_ticks(self.length))
        return _Grid(length, -(-durations // length))


@dataclass(frozen=True, repr=False)
class Clip(_Stretches):
    """Whole clips (tagging): each is one segment, see :class:`Segment`.

    >>> Clip()
    Clip(aggregation='max')
    """

    aggregation: str = "max"
    cross_triggers: bool = False

    def __post_init__(self) -> None:
        require_choice(self, "aggregation", AGGREGATIONS)
        require_flag(self, "cross_triggers")

    def _grid(self, durations: Ticks) -> _Grid:
        return _Grid(max([1, *durations.tolist()]), np.ones(len(durations), np.int64))


def _targets(
    batch: ClipTruth, length: int, starts: NDArray[np.int64], classes: int
) -> NDArray[np.bool_]:
    """(segments × classes) whether a reference of the class overlaps the segment."""
    targets = np.zeros((int(starts[-1]), classes), bool)
    offsets = np.clip(batch.events[:, 1], 0, batch.durations[batch.event_clips])
    onsets = np.maximum(batch.events[:, 0], 0)
    first = starts[batch.event_clips] + onsets // length
    last = starts[batch.event_clips] - (-offsets // length)
    for label, begin, end in zip(batch.labels.tolist(), first.tolist(), last.tolist(), strict=True):
        targets[begin:end, label] = True
    return targets


def _cross_triggers(
    scores: ScoreArray, targets: NDArray[np.bool_], clips: NDArray[np.int32], number: int
) -> Rows:
    """A row for each segment, class that is not to be found in it, and class that is."""
    classes = targets.shape[1]
    segment, other = np.nonzero(targets)
    absent = ~targets[segment]  # (pairs × classes)
    label, pair = np.nonzero(absent.T)  # ordered by class, then segment
    rows = np.bincount(label * number + clips[segment[pair]], minlength=classes * number).reshape(
        classes, number
    )
    before = np.concatenate([[0], np.cumsum(rows)])
    starts = before[np.arange(classes)[:, None] * number + np.arange(number + 1)]
    return Rows(
        starts.astype(np.int64),
        scores[segment[pair], label],
        (other[pair].astype(np.int32), np.ones(len(pair), np.int8)),
    )


def _any_label(scores: ScoreArray, targets: NDArray[np.bool_], starts: NDArray[np.int64]) -> Rows:
    """In each segment as many labels can be paired as there are both to be found and found."""
    order = np.argsort(-scores, axis=1, kind="stable")
    rank = np.arange(1, scores.shape[1] + 1)
    pairs = np.minimum(rank, targets.sum(axis=1, keepdims=True))
    changes = np.diff(pairs, axis=1, prepend=0).astype(np.int8)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    table = Rows(starts[None] * scores.shape[1], sorted_scores.ravel(), (changes.ravel(),))
    return table.above(np.full(1, -np.inf, scores.dtype))
