"""Criteria that compare times with fewer decimals than the six of microseconds, or as floats.

sed_scores_eval rounds overlaps, required overlaps and distances to ``time_decimals``, not the times
themselves. With very many decimals, it compares floats, as sed_eval does. The criteria of the core compare
microseconds, so these are written in Python and slower.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...criteria import Collar, Intersection
from ...criteria.clip_batch import AnyBatch, DeltaSearch
from ...criteria.criterion import as_share
from ...criteria.delta_tables import DeltaRows, DeltaTables
from ...data.scores import ClipScores, ScoreArray
from ...data.times import Ticks, to_seconds, to_ticks
from ...errors import SedscopeError, subject
from ..sed_eval.util import bipartite_match

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]

MICROSECONDS = 6
"""The decimals of microseconds."""
FLOAT_DECIMALS = 10
"""From so many decimals on, rounding does not hide the errors of floats."""


class _CountedInPython:
    """Finds deltas from the counts of each clip and class at all scores."""

    reads_pieces: ClassVar[bool] = False
    skips_low_columns: ClassVar[bool] = False

    def count(self, detections: _Detections, own: Ticks, others: dict[int, Ticks]) -> IntArray:
        """Return (levels × 2 + other classes) true and false positives and cross-triggers."""
        raise NotImplementedError

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        floors = search.floors
        clips, classes = len(batch.durations), len(floors)
        crossed = isinstance(self, Intersection) and self.cttc is not None
        detections: list[tuple[ScoreArray, IntArray]] = []
        cross: list[tuple[ScoreArray, IntArray]] = []
        for c, clip in product(range(classes), range(clips)):
            rows = slice(batch.starts[clip], batch.starts[clip + 1])
            labels, events = batch.labels[rows], batch.events[rows]
            others = {o: events[labels == o] for o in range(classes) if o != c} if crossed else {}
            nodes = batch.clips.detections(clip, c)
            of_class = _Detections(nodes.onsets, nodes.offsets, nodes.scores, nodes.parents)
            changes = np.diff(self.count(of_class, events[labels == c], others), axis=0, prepend=0)
            detections.append((of_class.levels, changes[:, :2]))
            level, other = np.nonzero(changes[:, 2:])
            crossing = np.array([*others], np.int64)[other]
            found = np.stack([crossing, changes[level, 2 + other]], axis=1)
            cross.append((of_class.levels[level], found))
        return DeltaTables(
            detections=_delta_rows(detections, classes, floors),
            cross_triggers=_delta_rows(cross, classes, floors),
            references=batch.reference_rows(),
        ).above(floors)


@dataclass(frozen=True, repr=False)
class RoundedIntersection(_CountedInPython, Intersection):
    """The intersection criterion, with overlaps rounded to multiples of ``step`` microseconds."""

    step: int = 1

    def count(self, detections: _Detections, own: Ticks, others: dict[int, Ticks]) -> IntArray:
        lengths = detections.offsets - detections.onsets
        overlaps = detections.overlaps(own)
        relevant = self._units(overlaps.sum(axis=1)) >= self._units(_share_of(lengths, self.dtc))
        if not len(own) and self.cttc is None:
            relevant[:] = False  # as in sed_scores_eval, even if the required overlap is rounded to 0
        columns = [~relevant]
        for events in others.values():
            assert self.cttc is not None
            within = np.where(relevant, 0, detections.overlaps(events).sum(axis=1))
            crossing = self._units(within) >= self._units(_share_of(lengths, self.cttc))
            columns.append(crossing & bool(len(events)))
        covered = self._units(detections.totals(overlaps * relevant[:, None]))
        required = self._units(_share_of(own[:, 1] - own[:, 0], self.gtc))
        tp = (covered >= required).sum(axis=1, keepdims=True)
        return np.concatenate([tp, detections.totals(np.stack(columns, axis=1))], axis=1)

    def _units(self, ticks: NDArray[Any]) -> NDArray[np.float64]:
        return np.rint(ticks / self.step)


@dataclass(frozen=True, repr=False)
class RoundedCollar(_CountedInPython, Collar):
    """The collar criterion, with excess over the collars rounded to some decimals of a second.

    If there are more than six, distances are differences of floats.
    """

    decimals: int = 6

    def count(self, detections: _Detections, own: Ticks, others: dict[int, Ticks]) -> IntArray:
        hits = self._hits(detections, own)
        close: BoolArray = np.any(hits, axis=1)
        pairable, hits = detections.chosen(close), hits[close]
        most = np.zeros(len(pairable.levels) + 1, np.int64)
        for row, active in enumerate(pairable.active()):
            most[row + 1] = len(bipartite_match({i: np.flatnonzero(hits[i]).tolist() for i in active}))
        tp = most[np.searchsorted(-pairable.levels, -detections.levels, side="right")][:, None]
        return np.concatenate([tp, detections.totals(np.ones((len(close), 1), np.int64)) - tp], axis=1)

    def _hits(self, detections: _Detections, own: Ticks) -> BoolArray:
        """Return (detections × references) whether both boundaries are close."""
        assert self.onset is not None
        assert self.offset is not None
        hits: BoolArray
        if self.decimals > MICROSECONDS:
            times = to_seconds(detections.onsets), to_seconds(detections.offsets)
            onsets, offsets = to_seconds(own).T
            collars = np.maximum(self.offset, self.offset_rate * (offsets - onsets))
            excesses = _excesses(times, (onsets, offsets), (self.onset, collars))
            hits = np.logical_and(*(np.round(excess, self.decimals) <= 0 for excess in excesses))
        else:
            of_lengths = _share_of(own[:, 1] - own[:, 0], self.offset_rate)
            tolerances = to_ticks(self.onset), np.maximum(to_ticks(self.offset), of_lengths)
            excesses = _excesses((detections.onsets, detections.offsets), tuple(own.T), tolerances)
            step = rounding_step(self.decimals)
            hits = np.logical_and(*(np.rint(excess / step) <= 0 for excess in excesses))
        return hits


def _excesses(times: tuple[Any, ...], events: tuple[Any, ...], collars: tuple[Any, ...]) -> list[Any]:
    """Return (detections × events) how far onsets and offsets are outside of the collars."""
    return [
        np.abs(time[:, None] - event) - collar
        for time, event, collar in zip(times, events, collars, strict=True)
    ]


def rounded(criterion: Intersection | Collar, time_decimals: int) -> Intersection | Collar:
    """Return the criterion that compares times with so many decimals.

    Overlaps are never compared as floats: the sums of sed_scores_eval depend on the order of the terms.
    """
    step = rounding_step(time_decimals)
    if isinstance(criterion, Intersection):
        if step == 1:
            return criterion
        return RoundedIntersection(criterion.dtc, criterion.gtc, criterion.cttc, step)
    if step == 1 and (time_decimals < FLOAT_DECIMALS or criterion.errors):
        return criterion
    if criterion.errors:
        raise SedscopeError(
            f"return_onset_offset_dist_sum=True needs six decimals, not time_decimals={time_decimals!r}."
        )
    return RoundedCollar(
        criterion.onset, criterion.offset, criterion.offset_rate, decimals=int(time_decimals)
    )


@dataclass(frozen=True, eq=False)
class _Detections:
    """Detections of a clip and class at all thresholds. Each exists from its score down to its parent's."""

    onsets: Ticks
    offsets: Ticks
    scores: ScoreArray
    parents: ScoreArray

    def chosen(self, rows: BoolArray) -> _Detections:
        """Return some of the detections."""
        return _Detections(self.onsets[rows], self.offsets[rows], self.scores[rows], self.parents[rows])

    @cached_property
    def levels(self) -> ScoreArray:
        """The distinct scores at which detections appear or disappear, decreasing."""
        scores = np.unique(np.concatenate([self.scores, self.parents]))[::-1]
        return scores[scores > -np.inf]

    def overlaps(self, events: Ticks) -> IntArray:
        """Return (detections × events) the time that they share."""
        ends = np.minimum(self.offsets[:, None], events[:, 1])
        return np.maximum(ends - np.maximum(self.onsets[:, None], events[:, 0]), 0)

    def totals(self, values: NDArray[Any]) -> IntArray:
        """Return (levels × columns) the sums over the detections that exist."""
        changes = np.zeros((len(self.levels) + 1, values.shape[1]), np.int64)
        np.add.at(changes, np.searchsorted(-self.levels, -self.scores), values)
        np.subtract.at(changes, np.searchsorted(-self.levels, -self.parents), values)
        return np.cumsum(changes[:-1], axis=0)

    def active(self) -> Iterator[IntArray]:
        """Yield the detections that exist, level by level."""
        for level in self.levels:
            yield np.flatnonzero((self.scores >= level) & (self.parents < level))


def _share_of(lengths: Ticks, share: float) -> NDArray[np.float64]:
    """Return a share of lengths; exact where it is a whole number of microseconds or a half."""
    numerator, denominator = as_share(share)
    return float(numerator) * lengths / denominator


def _delta_rows(parts: list[tuple[ScoreArray, IntArray]], classes: int, floors: ScoreArray) -> DeltaRows:
    """Join the rows of all classes and clips, in this order."""
    scores, columns = zip(*parts, strict=True)
    clips = len(parts) // classes
    before = np.concatenate([[0], np.cumsum([len(rows) for rows in scores])])
    starts = before[np.arange(classes)[:, None] * clips + np.arange(clips + 1)].astype(np.int64)
    joined = tuple(column.astype(np.int32) for column in np.concatenate(columns).T)
    return DeltaRows(starts, np.concatenate(scores).astype(floors.dtype), joined)


def rounding_step(time_decimals: int) -> int:
    """Return the microseconds that times become multiples of: 1 for six decimals and more.

    >>> rounding_step(30), rounding_step(6), rounding_step(3)
    (1, 1, 1000)
    """
    try:
        decimals = operator.index(time_decimals)
    except TypeError:
        decimals = -1
    if decimals < 0:
        raise SedscopeError(f"time_decimals={time_decimals!r} must be a whole number, at least 0.")
    return 10 ** max(MICROSECONDS - decimals, 0)


def rounded_ticks(ticks: Ticks, step: int) -> Ticks:
    """Round times to multiples of a step; halves go to even multiples.

    >>> rounded_ticks(np.array([1499, 1500, 2500]), 1000).tolist()
    [1000, 2000, 2000]
    """
    multiples: Ticks = np.rint(ticks / step).astype(np.int64)
    return multiples * step


def rounded_clip(clip: ClipScores, step: int, where: str) -> ClipScores:
    """Round the frame boundaries of a clip. Refuse this if frames would have no length."""
    ticks = rounded_ticks(clip.ticks, step)
    lost = int(np.count_nonzero(ticks[1:] == ticks[:-1]))
    if lost:
        raise SedscopeError(
            f"{where}: {subject(lost, 'frame', 'has')} no length with times rounded to {step / 1e6:g} s. "
            "Raise time_decimals."
        )
    return ClipScores.unchecked(clip.values, ticks)
