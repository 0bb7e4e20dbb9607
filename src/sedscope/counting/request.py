"""Requests: which deltas of a criterion to find, and down to which scores (floors)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..alignment.alignment import Alignment
from ..criteria import Criterion
from ..criteria.clip_batch import ClipReferences
from ..data.arrays import FloatArray, ScoreArray, rounded_down
from ..data.times import TICKS_PER_SECOND, Ticks
from ..postprocessing import PostProcessing
from ..postprocessing.postprocessing import ReadLimit


@dataclass(frozen=True)
class DeltaRequest:
    """Which deltas of one criterion to find. By default, all of the scores as they are."""

    false_positive_limit: float | None = None
    """False positives per second beyond which nothing is read; None if every threshold is."""
    any_label: bool = False
    """Whether to count pairs regardless of label as well."""
    variants: tuple[PostProcessing, ...] = ()
    """The post-processed variants of the scores to count as well."""
    floors: Mapping[PostProcessing | None, FloatArray] = field(default_factory=dict)
    """Per class, the score at or below which no delta is needed; by variant, None for the scores as they
    are."""
    classes: Mapping[PostProcessing | None, NDArray[np.bool_]] = field(default_factory=dict)
    """Which classes are needed, by variant; all unless stated."""

    def floors_of(self, variant: PostProcessing | None, classes: int) -> FloatArray:
        """Return, per class, the score at or below which no delta is needed; ``inf`` for classes that are
        not needed at all."""
        floors = self.floors.get(variant, np.full(classes, -np.inf))
        return np.where(self.classes.get(variant, np.ones(classes, bool)), floors, np.inf)

    def at_every_threshold(self) -> DeltaRequest:
        """Return the same request without a limit on false positives."""
        return replace(self, false_positive_limit=None)

    def of_part(self, classes: int) -> DeltaRequest:
        """Return the same request for a part of the clips: without a limit, because floors are verified when
        all clips are known, with what the part says about them. ``classes``: their number."""
        if self.false_positive_limit is None:
            return self
        every = np.ones(classes, bool)
        requested = {v: self.classes.get(v, every) for v in (None, *self.variants)}
        return replace(self.at_every_threshold(), classes=requested)

    def further_down(self, spare: float = 0.0) -> DeltaRequest:
        """Return the same request with twice the limit: resamples, and parts of a larger set, rarely read
        twice as far down as all clips. ``spare``: a share of the limit that is added."""
        limit = self.false_positive_limit
        return self if limit is None else replace(self, false_positive_limit=(2 + spare) * limit)

    def __or__(self, other: DeltaRequest) -> DeltaRequest:
        """Return a request that covers both, if neither has floors or a choice of classes."""
        limits = (self.false_positive_limit, other.false_positive_limit)
        return DeltaRequest(
            None if limits[0] is None or limits[1] is None else max(limits[0], limits[1]),
            self.any_label or other.any_label,
            tuple(dict.fromkeys((*self.variants, *other.variants))),
        )


Requests: TypeAlias = Mapping[Criterion, DeltaRequest]
"""What to find of each criterion, in one pass."""


_SHARE_OF_NEEDED = 8
_WORTH_THREADS = 2**18  # scores


class Floor:
    """Exact pruning: per class, a score below which a limit on false alarms is certainly exceeded.

    A clip without references of a class, ignored ones included, whose largest score lies above a
    threshold has at least one false positive there. With references, a criterion may still know of a score
    below which that is so. So if n are allowed, nothing below the (n + 1)-th largest of these is read.
    sedscope takes the (n + 2)-th, to be safe from the rounding of n. The
    floor lies just below it, so that the deltas above the floor still show that many false positives.
    With more clips, the floor only rises. It follows them with some delay, because finding the
    (n + 2)-th largest again takes its time; after the last clip it is as high as can be.
    """

    def __init__(self, limit: float | None, classes: int) -> None:
        """``limit``: false positives allowed per second; None for no floor."""
        self.limit = limit
        self._largest: ScoreArray = np.empty((0, classes), np.float32)
        self._waiting: list[ScoreArray] = []
        self._clips = 0

    def needed(self, durations: Ticks) -> int:
        """Return how many clips must have a score above the floor. ``durations``: of all clips."""
        assert self.limit is not None
        return int(min(self.limit * int(durations.sum()) / TICKS_PER_SECOND, 2.0**62)) + 2

    def raise_to(
        self, false_alarms: ScoreArray, dtype: np.dtype[Any], durations: Ticks | None, threads: int = 1
    ) -> ScoreArray:
        """Add what is known of more clips and return the floors, as scores of a type.

        ``false_alarms``: (clips × classes) the score below which a clip has a false positive at any
        threshold. ``durations``: of all clips, those to come included; None if they are not known yet.
        """
        lowest: ScoreArray = np.full(false_alarms.shape[1], -np.inf, dtype)
        if self.limit is None or durations is None:
            return lowest
        needed = self.needed(durations)
        self._waiting.append(false_alarms)
        self._clips += len(false_alarms)
        waiting = sum(map(len, self._waiting))
        if len(self._largest) + waiting < needed:
            return lowest
        if waiting >= needed / _SHARE_OF_NEEDED or self._clips >= len(durations):
            largest = np.concatenate([self._largest, *self._waiting])
            self._largest = _largest_of_columns(largest, needed, threads)
            self._waiting = []
        return lowest if len(self._largest) < needed else just_below(self._largest[0], np.dtype(dtype))

    def lowest_read(self, durations: Ticks) -> FloatArray:
        """Return, per class, the lowest score that is read, as far as is known from the clips so far."""
        if len(self._largest) < self.needed(durations):
            return np.full(self._largest.shape[1], -np.inf)
        return self._largest.min(axis=0).astype(np.float64)

    def estimate(self, sample: FloatArray, clips: int, durations: Ticks) -> FloatArray:
        """Estimate the floors, or lower ones, from the maxima of a sample of the clips.

        With such floors from the start, the pass finds few deltas that no metric reads. Whether they
        hold is verified at the end.
        """
        share = min(1.0, self.needed(durations) / clips)
        deviation = np.sqrt(len(sample) * share * (1 - share))
        rank = int(np.ceil(len(sample) * share + 5 * deviation + 8))  # hardly ever too few
        if rank > len(sample):
            return np.full(sample.shape[1], -np.inf)
        return np.partition(sample, -rank, axis=0)[-rank]


def _largest_of_columns(scores: ScoreArray, number: int, threads: int) -> ScoreArray:
    """Return the largest scores of each column; the first row has the smallest of them."""
    if threads == 1 or scores.size < _WORTH_THREADS:
        return np.partition(scores, -number, axis=0)[-number:]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(
            lambda columns: np.partition(columns, -number, axis=0)[-number:],
            np.array_split(scores, threads, axis=1),
        )
        return np.concatenate([*parts], axis=1)


def without_references(
    maxima: ScoreArray, event_clips: NDArray[np.int32], event_labels: NDArray[np.int32]
) -> ScoreArray:
    """Return the maxima as (clips × classes), with ``-inf`` for clips with references of the class.

    ``event_clips``, ``event_labels``: of all references, those that are ignored included.
    """
    false_alarms = maxima.copy()
    false_alarms[event_clips, event_labels] = -np.inf
    return false_alarms


def just_below(scores: FloatArray, dtype: np.dtype[Any]) -> ScoreArray:
    """Return the highest floors of some type that lie below these scores; ``-inf`` for ``-inf``."""
    lowest: ScoreArray = np.full(len(scores), -np.inf, dtype)
    return np.nextafter(rounded_down(scores, dtype), lowest)


def false_positive_allowance(limit: float, weights: NDArray[np.int32], durations: Ticks) -> FloatArray:
    """Return how many false positives a limit per second allows each resample; one is left for rounding.

    ``weights``: (resamples × clips).
    """
    return limit * (weights @ durations) / TICKS_PER_SECOND + 1


def resampled_floors(maxima: FloatArray, allowed: FloatArray, sums: _native.WeightedSums) -> FloatArray:
    """Return, per class, a score below which the limit is certainly exceeded for any of the weights.

    As for :class:`Floor`, but a clip counts as many false positives as its weight.

    ``maxima``: (classes × clips) the largest score of clips without references of the class, ``-inf``
    for the others. ``allowed``: per resample, the most false positives. ``sums``: over the clips of each.
    """
    classes, clips = maxima.shape
    order = np.argsort(-maxima, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(clips), order.shape), axis=1)
    too_few, enough = np.zeros(classes, np.int64), np.full(classes, clips + 1)
    while (too_few + 1 < enough).any():  # how many of the highest clips are enough in all resamples
        middle = (too_few + enough) // 2
        exceeded = exceed_limit(rank < middle[:, None], allowed, sums)
        too_few, enough = np.where(exceeded, too_few, middle), np.where(exceeded, middle, enough)
    exists = enough <= clips
    floors = np.full(classes, -np.inf)
    floors[exists] = maxima[exists, order[exists, enough[exists] - 1]]
    return np.nextafter(floors, -np.inf)


def exceed_limit(
    alarmed: NDArray[np.bool_], allowed: FloatArray, sums: _native.WeightedSums
) -> NDArray[np.bool_]:
    """Return which classes exceed the limit in all resamples.

    ``alarmed``: (classes × clips) the clips with a false positive. Each counts as many as its weight.
    """
    number = sums.of(np.ascontiguousarray(alarmed.T, np.float64))
    return np.all(number > allowed[:, None], axis=0)


def read_limit(
    alignment: Alignment, floors: Sequence[Floor], references: ClipReferences, durations: Ticks | None
) -> ReadLimit | None:
    """Return down to which score the processed scores of some clips are read. None if all are.

    ``floors``: those of the processed scores, after the clips before. ``references``: of the clips.
    ``durations``: of all clips; None if they are not known yet.
    """
    if durations is None or any(floor.limit is None for floor in floors):
        return None
    columns = alignment.columns
    among = np.zeros((len(references.durations), len(alignment.scores.classes)), bool)
    among[:, columns] = True
    clips, labels = references.with_any_event()
    among[clips, columns[labels]] = False
    lowest = np.full(among.shape[1], -np.inf)
    lowest[columns] = np.min([floor.lowest_read(durations) for floor in floors], axis=0)
    return ReadLimit(lowest, max(floor.needed(durations) for floor in floors), among)
