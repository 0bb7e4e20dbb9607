"""Criteria that judge segments of time instead of events: segments of equal length, or whole clips."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.scores import ScoreArray
from ..data.times import LONGEST_SECONDS, Ticks, to_ticks
from ..definitions import require_choice, require_flag, require_number
from ..errors import SedscopeError
from .clip_batch import AnyBatch, ClipBatch, ClipReferences, DeltaSearch, EventRows, Recording
from .criterion import CRITERIA, Criterion, OpenDeltas
from .delta_tables import DeltaRows, DeltaTables, IgnoredRows, ReferenceRows, row_starts

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


class SegmentCriterion(Criterion):
    """Base of the criteria about segments.

    From its own score on, each segment is one true or one false positive of a class. A segment that only
    ignored references of the class overlap is not judged for it.
    """

    aggregation: str
    cross_triggers: bool

    counts_negatives: ClassVar[bool] = True
    defines_substitutions: ClassVar[bool] = True
    judges_classes_alone: ClassVar[bool] = True
    judges_overlapping_references: ClassVar[bool] = True
    reads_pieces: ClassVar[bool] = True

    @property
    def thresholds_frames(self) -> bool:
        return self.aggregation == "max"

    @property
    def counts_cross_triggers(self) -> bool:
        return self.cross_triggers

    @abstractmethod
    def _grid(self, durations: Ticks) -> _Grid:
        """Return the segments of clips with these durations."""

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        grid, mean = self._grid(batch.durations), self.aggregation == "mean"
        segmentation = _native.Segmentation(grid.length, mean)
        clips = (grid.starts, batch.durations, search.threads)
        if isinstance(batch, ClipBatch):
            scores = segmentation.find_scores(batch.clips, *clips)
        elif mean:
            raise SedscopeError(
                f"{self} averages the scores of frames, but scored events that are kept as they are have no "
                "score where nothing is detected. Use aggregation='max'."
            )
        else:
            scores = segmentation.find_scores_of_events(batch.detected, *clips)
        return self._tables(batch, grid, search, scores)

    def open_deltas(self, recording: Recording, search: DeltaSearch) -> OpenDeltas:
        grid = self._grid(recording.durations)
        segmentation = _native.Segmentation(grid.length, self.aggregation == "mean")
        (count,), (duration,) = grid.counts.tolist(), recording.durations.tolist()
        scores = segmentation.open_scores(recording.clip, count, duration)
        return OpenDeltas([scores], partial(self._tables, recording, grid, search))

    def _tables(
        self, batch: ClipReferences, grid: _Grid, search: DeltaSearch, scores: ScoreArray
    ) -> DeltaTables:
        """Build the tables from the (segments × classes) scores."""
        classes, clips = len(search.floors), len(grid.counts)
        starts, length = grid.starts, grid.length
        targets = _targets(batch, batch.durations, length, starts, classes)
        ignored = None
        if len(batch.ignored.labels):
            ignored = _targets(batch.ignored, batch.durations, length, starts, classes) & ~targets
            # never detected, so in no count
            scores = np.where(ignored, scores.dtype.type(-np.inf), scores)
        class_starts = np.arange(classes)[:, None] * starts[-1] + starts
        columns = (targets.T.ravel().astype(np.int8), (~targets).T.ravel().astype(np.int8))
        detections = DeltaRows(class_starts, np.ascontiguousarray(scores.T).ravel(), columns)
        segments, labels = np.nonzero(targets)
        clip_of_segment = np.repeat(np.arange(clips, dtype=np.int32), grid.counts)
        begin = (segments - starts[clip_of_segment[segments]]) * length
        times = np.minimum(length, batch.durations[clip_of_segment[segments]] - begin)
        cross = (
            _cross_triggers(scores, targets, clip_of_segment, clips)
            if self.cross_triggers
            else DeltaRows.none(classes, clips, (np.int32, np.int8), scores)
        )
        tables = DeltaTables(
            detections=detections,
            cross_triggers=cross,
            references=ReferenceRows(clip_of_segment[segments], labels.astype(np.int32), times),
            trials=grid.counts.astype(np.int64),
            any_label=_any_label(scores, targets, starts) if search.any_label else None,
            ignored=batch.ignored_rows() if ignored is None else _ignored_rows(ignored, clip_of_segment),
        )
        return tables.above(search.floors.astype(scores.dtype))


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Segment(SegmentCriterion):
    """Segments of equal length. The last segment of a clip ends with the clip.

    A class is active in a segment if one of its references overlaps the segment.

    Parameters
    ----------
    length : float, default 1.0
        The length of a segment in seconds.
    aggregation : {"max", "mean"}, default "max"
        The score of a segment: the largest score of the frames that overlap it, or their mean, weighted
        by the time that they share with it.
    cross_triggers : bool, default False
        Count cross-triggers: a false positive in a segment in which another class is active is a
        cross-trigger on that class.

    Examples
    --------
    >>> Segment(1.0)
    Segment(length=1, aggregation='max')
    """

    length: float = 1.0
    aggregation: str = "max"
    cross_triggers: bool = False

    def __post_init__(self) -> None:
        require_number(self, "length", at_least=1e-6, at_most=LONGEST_SECONDS)
        require_choice(self, "aggregation", AGGREGATIONS)
        require_flag(self, "cross_triggers")
        object.__setattr__(self, "segment_ticks", int(to_ticks(self.length)))

    def _grid(self, durations: Ticks) -> _Grid:
        assert self.segment_ticks is not None
        return _Grid(self.segment_ticks, -(-durations // self.segment_ticks))


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Clip(SegmentCriterion):
    """Whole clips (tagging): each clip is one segment.

    Parameters
    ----------
    aggregation : {"max", "mean"}, default "max"
        The score of a clip, as for :class:`Segment`.
    cross_triggers : bool, default False
        Count cross-triggers, as for :class:`Segment`.

    Examples
    --------
    >>> Clip()
    Clip(aggregation='max')
    """

    aggregation: str = "max"
    cross_triggers: bool = False

    judges_whole_clips: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_choice(self, "aggregation", AGGREGATIONS)
        require_flag(self, "cross_triggers")

    def _grid(self, durations: Ticks) -> _Grid:
        return _Grid(max([1, *durations.tolist()]), np.ones(len(durations), np.int64))


def _targets(
    rows: EventRows, durations: Ticks, length: int, starts: NDArray[np.int64], classes: int
) -> NDArray[np.bool_]:
    """Return, as (segments × classes), whether an event of the class overlaps the segment."""
    targets = np.zeros((int(starts[-1]), classes), bool)
    offsets = np.clip(rows.events[:, 1], 0, durations[rows.event_clips])
    onsets = np.maximum(rows.events[:, 0], 0)
    first = starts[rows.event_clips] + onsets // length
    last = starts[rows.event_clips] - (-offsets // length)
    for label, begin, end in zip(rows.labels.tolist(), first.tolist(), last.tolist(), strict=True):
        targets[begin:end, label] = True
    return targets


def _ignored_rows(ignored: NDArray[np.bool_], clip_of_segment: NDArray[np.int32]) -> IgnoredRows:
    """Return how many segments of each clip are not judged. ``ignored``: (segments × classes)."""
    segments, labels = np.nonzero(ignored)
    pairs, numbers = np.unique(
        np.stack([clip_of_segment[segments], labels.astype(np.int32)]), axis=1, return_counts=True
    )
    return IgnoredRows(pairs[0], pairs[1], numbers.astype(np.int64))


def _cross_triggers(
    scores: ScoreArray, targets: NDArray[np.bool_], clips: NDArray[np.int32], number: int
) -> DeltaRows:
    """Return a row for each segment, each class that is not active in it, and each class that is.

    ``clips``: the clip of each segment. ``number``: how many clips there are.
    """
    classes = targets.shape[1]
    segment, other = np.nonzero(targets)
    absent = ~targets[segment]  # (pairs × classes)
    label, pair = np.nonzero(absent.T)  # ordered by class, then segment
    counts = np.bincount(label * number + clips[segment[pair]], minlength=classes * number)
    return DeltaRows(
        row_starts(counts.reshape(classes, number)),
        scores[segment[pair], label],
        (other[pair].astype(np.int32), np.ones(len(pair), np.int8)),
    )


def _any_label(scores: ScoreArray, targets: NDArray[np.bool_], starts: NDArray[np.int64]) -> DeltaRows:
    """Count pairs regardless of label: in each segment, the smaller of the number of active classes and
    the number of detected classes."""
    order = np.argsort(-scores, axis=1, kind="stable")
    rank = np.arange(1, scores.shape[1] + 1)
    pairs = np.minimum(rank, targets.sum(axis=1, keepdims=True))
    changes = np.diff(pairs, axis=1, prepend=0).astype(np.int8)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    table = DeltaRows(starts[None] * scores.shape[1], sorted_scores.ravel(), (changes.ravel(),))
    return table.above(np.full(1, -np.inf, scores.dtype))
