"""Deltas: how counts change when the threshold falls below each score, per class and clip.

They are the centre of everything: found clip by clip, merged in any grouping, and added up to counts.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._native import Clips, accumulate
from .alignment import Alignment, ClipChoice, Missing, align
from .counts import ClassCounts, Counts
from .criteria import ClipBatch, Criterion
from .errors import SedscopeError, counted, listing, raise_together
from .ground_truth import GroundTruth
from .loading import MANY_FAILURES, load
from .scores import ClipScores, ScoreArray, Scores
from .times import TICKS_PER_SECOND, Ticks

_MOST_THREADS = 2**16

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of clips done and of all clips."""


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
        kept = self.scores > np.repeat(floors, np.diff(self.class_starts()))
        position = np.concatenate([[0], np.cumsum(kept)])
        return Rows(
            position[self.starts], self.scores[kept], tuple(column[kept] for column in self.columns)
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
        before = np.concatenate([[0], np.cumsum(counts)])
        clips = counts.shape[1]
        starts = before[np.arange(len(counts))[:, None] * clips + np.arange(clips + 1)]
        columns = zip(*(part.columns for part in parts), strict=True)
        return Rows(
            starts.astype(np.int64),
            np.concatenate([part.scores[rows] for part, rows in pieces]),
            tuple(
                np.concatenate([part.columns[k][rows] for part, rows in pieces])
                for k, _ in enumerate(columns)
            ),
        )


@dataclass(frozen=True, eq=False)
class Deltas:
    """How the counts of a criterion change as the threshold falls, per class and clip.

    Exact at scores above ``floors`` (per class; ``-inf`` where every threshold is covered).
    """

    criterion: Criterion
    classes: tuple[str, ...]
    clips: tuple[str, ...]
    durations: Ticks
    """Per clip, in microseconds."""
    reference_clips: NDArray[np.int32]
    reference_labels: NDArray[np.int32]
    reference_times: Ticks
    """Per reference event: its clip, its class, its length in microseconds."""
    floors: ScoreArray
    detections: Rows
    """Columns: change of true positives, of false positives."""
    cross_triggers: Rows
    """Columns: the other class, change of the cross-triggers on it."""

    def merge(self, *others: Deltas) -> Deltas:
        """The deltas of the clips of all."""
        parts = (self, *others)
        for part in others:
            if part.criterion != self.criterion or part.classes != self.classes:
                raise SedscopeError(
                    "deltas can be merged only if they have the same criterion and classes: "
                    f"{self.criterion} on {listing(self.classes)}; {part.criterion} on "
                    f"{listing(part.classes)}"
                )
        clips = tuple(clip for part in parts for clip in part.clips)
        if len(set(clips)) < len(clips):
            twice = sorted({clip for clip in clips if clips.count(clip) > 1})
            raise SedscopeError(
                f"in more than one of the deltas: {counted(len(twice), 'clip')}: {listing(twice)}"
            )
        firsts = np.cumsum([0, *(len(part.clips) for part in parts)])
        floors = np.max([part.floors for part in parts], axis=0)
        merged = Deltas(
            criterion=self.criterion,
            classes=self.classes,
            clips=clips,
            durations=np.concatenate([part.durations for part in parts]),
            reference_clips=np.concatenate(
                [
                    part.reference_clips + np.int32(first)
                    for part, first in zip(parts, firsts, strict=False)
                ]
            ),
            reference_labels=np.concatenate([part.reference_labels for part in parts]),
            reference_times=np.concatenate([part.reference_times for part in parts]),
            floors=floors,
            detections=Rows.concatenate([part.detections for part in parts]),
            cross_triggers=Rows.concatenate([part.cross_triggers for part in parts]),
        )
        return (
            merged
            if all(np.array_equal(part.floors, floors) for part in parts)
            else merged.above(floors)
        )

    def above(self, floors: ScoreArray) -> Deltas:
        """The same deltas, exact only above the given floors."""
        raised = np.maximum(self.floors, floors)
        return Deltas(
            **{
                **vars(self),
                "floors": raised,
                "detections": self.detections.above(raised),
                "cross_triggers": self.cross_triggers.above(raised),
            }
        )

    def counts(self, *, threads: int | None = None) -> Counts:
        """Add the deltas up: the counts of each class at every score where one changes."""
        tp_changes, fp_changes = self.detections.columns
        cross_labels, ct_changes = self.cross_triggers.columns
        table = accumulate(
            self.detections.class_starts(),
            self.detections.scores,
            tp_changes,
            fp_changes,
            self.cross_triggers.class_starts(),
            self.cross_triggers.scores,
            cross_labels,
            ct_changes,
            thread_count(threads),
        )
        references = np.bincount(self.reference_labels, minlength=len(self.classes))
        times = np.zeros(len(self.classes), np.int64)
        np.add.at(times, self.reference_labels, self.reference_times)
        per_class = {
            label: ClassCounts(
                label=label,
                scores=scores,
                tp=tp,
                fp=fp,
                references=int(references[c]),
                reference_time=int(times[c]) / TICKS_PER_SECOND,
                floor=float(self.floors[c]),
                cross_rows=rows,
                cross_labels=labels,
                cross_changes=changes,
                classes=self.classes,
            )
            for c, (label, (scores, tp, fp, rows, labels, changes)) in enumerate(
                zip(self.classes, table, strict=True)
            )
        }
        return Counts(
            criterion=self.criterion,
            per_class=per_class,
            clips=len(self.clips),
            duration=int(self.durations.sum()) / TICKS_PER_SECOND,
        )


def deltas(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Deltas:
    """How the counts of ``criterion`` change at every threshold.

    >>> scores = Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from sedscope import Intersection
    >>> deltas(scores, truth, Intersection(0.7, 0.7)).counts()["Dog"].tp.tolist()
    [1, 0]
    """
    if not hasattr(criterion, "find_deltas"):
        raise SedscopeError(f"not a criterion: {criterion!r}")
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    return collect(alignment, {criterion: None}, threads=threads, progress=progress)[criterion]


def thread_count(threads: int | None) -> int:
    """As many as given, else one per core that this process may use."""
    if threads is None:
        available = getattr(os, "sched_getaffinity", None)
        return len(available(0)) if available else os.cpu_count() or 1
    try:
        number = operator.index(threads)
    except TypeError:
        raise SedscopeError(f"threads={threads!r} must be a whole number") from None
    if not 1 <= number <= _MOST_THREADS:
        raise SedscopeError(f"threads={number} must be at least 1 and at most {_MOST_THREADS}")
    return number


def collect(
    alignment: Alignment,
    limits: Mapping[Criterion, float | None],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """The deltas of several criteria, each clip being read once.

    ``limits``: per criterion the false positives per second beyond which nobody looks, or None if
    every threshold is wanted.
    """
    workers = thread_count(threads)
    durations = alignment.durations.copy()
    parts: dict[Criterion, list[Deltas]] = {criterion: [] for criterion in limits}
    floors = {criterion: Floor(limit, len(alignment.classes)) for criterion, limit in limits.items()}
    failures: list[SedscopeError] = []
    broken = False
    nans: list[str] = []
    for loaded in load(alignment.scores, alignment.clips, workers):
        failures += loaded.failures
        broken = broken or bool(loaded.failures)
        if broken or (not loaded.scores and any(parts.values())):
            continue
        first, last = loaded.first, loaded.first + len(loaded.scores)
        batch = _batch(alignment, first, loaded.scores, workers)
        nans += _nan_scores(alignment, first, loaded.scores, batch.maxima)
        unknown = np.flatnonzero(durations[first:last] == 0)
        durations[first + unknown] = [loaded.scores[int(i)].ticks[-1] for i in unknown]
        failures += _negative_durations(alignment, first, durations[first:last])
        clip_of_event = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(batch.starts))
        late = batch.events[:, 0] >= durations[first + clip_of_event]
        if alignment.invalid == "error":
            failures += _late_events(alignment, first, clip_of_event[late], batch.labels[late])
        if nans or failures:
            continue
        for criterion in limits:
            floor = floors[criterion].raise_to(
                batch.maxima,
                clip_of_event,
                batch.labels,
                None if (durations == 0).any() else durations,
            )
            found = criterion.find_deltas(batch, floor, workers)
            parts[criterion].append(
                Deltas(
                    criterion=criterion,
                    classes=alignment.classes,
                    clips=alignment.clips[first:last],
                    durations=durations[first:last],
                    reference_clips=clip_of_event[~late],
                    reference_labels=batch.labels[~late],
                    reference_times=(batch.events[:, 1] - batch.events[:, 0])[~late],
                    floors=floor,
                    detections=Rows(found[0], found[1], found[2:4]),
                    cross_triggers=Rows(found[4], found[5], found[6:8]),
                )
            )
        if progress:
            progress(last, len(alignment.clips))
    if nans:
        said = f"{counted(len(nans), 'score')} not a number (NaN): {listing(nans)}"
        failures.insert(0, SedscopeError(said))
    raise_together(failures, perhaps_more=broken and len(failures) >= MANY_FAILURES)
    return {criterion: first.merge(*rest) for criterion, (first, *rest) in parts.items()}


class Floor:
    """Exact pruning: per class a score below which a false-alarm limit is surely passed.

    Each clip without references of a class whose largest score is above a threshold holds at least
    one false positive there. So if n are allowed, nobody looks below the (n + 1)-th largest of these
    maxima. As clips come in, the floor only rises.
    """

    def __init__(self, limit: float | None, classes: int) -> None:
        """``limit``: false positives allowed per second; None for no floor."""
        self.limit = limit
        self.largest: NDArray[Any] = np.empty((0, classes))

    def raise_to(
        self,
        maxima: ScoreArray,
        event_clips: NDArray[np.int32],
        event_labels: NDArray[np.int32],
        durations: Ticks | None,
    ) -> ScoreArray:
        """Take in the maxima of more clips and return the floors.

        ``durations``: of all clips to come as well; None if they are not known yet.
        """
        lowest: ScoreArray = np.full(maxima.shape[1], -np.inf, maxima.dtype)
        if self.limit is None or durations is None:
            return lowest
        false_alarms = maxima.copy()
        false_alarms[event_clips, event_labels] = -np.inf
        # one more than allowed, and one more still, to be safe from rounding
        allowed = self.limit * int(durations.sum()) / TICKS_PER_SECOND
        needed = int(min(allowed, 2.0**62)) + 2
        self.largest = np.concatenate([self.largest.astype(maxima.dtype), false_alarms])
        if len(self.largest) < needed:
            return lowest
        self.largest = np.partition(self.largest, -needed, axis=0)[-needed:]
        floors: ScoreArray = self.largest[0]
        return floors


def _batch(alignment: Alignment, first: int, scores: Sequence[ClipScores], threads: int) -> ClipBatch:
    starts = alignment.starts[first : first + len(scores) + 1]
    values: list[Any] = [clip.values for clip in scores]
    if len({array.dtype for array in values}) > 1:  # float64 holds every float32
        values = [array.astype(np.float64, copy=False) for array in values]
    clips = Clips(values, [clip.ticks for clip in scores], alignment.columns)
    return ClipBatch(
        clips=clips,
        events=alignment.events[starts[0] : starts[-1]],
        labels=alignment.labels[starts[0] : starts[-1]],
        starts=starts - starts[0],
        maxima=clips.maxima(threads),
    )


def _nan_scores(
    alignment: Alignment, first: int, scores: Sequence[ClipScores], maxima: ScoreArray
) -> list[str]:
    places = []
    for i, c in np.argwhere(np.isnan(maxima)):
        column = scores[i].values[:, alignment.columns[c]]
        places += [
            f"clip {alignment.clips[first + i]}, class {alignment.classes[c]}, frame {frame}"
            for frame in np.flatnonzero(np.isnan(column))
        ]
    return places


def _negative_durations(alignment: Alignment, first: int, durations: Ticks) -> list[SedscopeError]:
    places = [alignment.clips[first + int(i)] for i in np.flatnonzero(durations < 0)]
    if not places:
        return []
    return [
        SedscopeError(
            f"scores that end before 0 s give no duration: {counted(len(places), 'clip')}: "
            f"{listing(places)}. Give the clips' durations"
        )
    ]


def _late_events(
    alignment: Alignment, first: int, clips: NDArray[np.int32], labels: NDArray[np.int32]
) -> list[SedscopeError]:
    places = [
        f"clip {alignment.clips[first + clip]}, {alignment.classes[label]}"
        for clip, label in zip(clips, labels, strict=True)
    ]
    if not places:
        return []
    return [
        SedscopeError(
            f"{counted(len(places), 'reference event')} beginning at or after the last boundary of "
            f"the scores: {listing(places)}. Give the clips' durations, or leave such events out "
            "with invalid='drop' (--invalid drop)"
        )
    ]
