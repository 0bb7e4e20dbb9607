"""Criteria under which precision is the share of detections that are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.times import LONGEST_SECONDS, Ticks, to_ticks
from ..definitions import require_number
from ..errors import SedscopeError
from .clip_batch import AnyBatch, DeltaSearch, EventBatch, EventRows
from .criterion import CRITERIA, Criterion, MatchingRule
from .delta_tables import DeltaRows, DeltaTables, row_starts
from .restricted import PASSED_ON, WrappingCriterion

if TYPE_CHECKING:
    from ..data.clip_events import EventList


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class PerDetection(WrappingCriterion):
    """The same criterion, but precision is the share of detections that are right.

    Where several detections may find one reference, as with :class:`Intersection`, :class:`AnyOverlap` and
    :class:`Alarm`, precision is otherwise the references found, divided by the references found and the false
    detections. Nine windows of a long call then count as one. Here, they count as nine right detections. All
    that is read off precision follows: F-scores, average precision, constraints of ``tune``. Recall stays
    the share of references that are found.

    Parameters
    ----------
    criterion : Criterion
        When a reference is found and a detection is false.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 9, "Song")]}, durations={"a": 20})
    >>> system = sed.Scores.from_events({"a": [(0, 3, "Song"), (4, 7, "Song"), (12, 15, "Song")]})
    >>> criterion = sed.Intersection(0.5, 0.1)
    >>> counts = sed.deltas(system, truth, sed.PerDetection(criterion)).counts()
    >>> round(counts["Song"].tally_at(0.5).precision, 2)  # 2 of 3; not 1 song in 1 song and 1 false detection
    0.67
    """

    criterion: Criterion

    counts_right: ClassVar[bool] = True
    reads_pieces: ClassVar[bool] = False
    judges_whole_clips: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._take_over(*(name for name in PASSED_ON if name != "reads_pieces"), "counts_all_references")
        if self.criterion.counts_right or self.criterion.measures_time or self.criterion.values_queries:
            raise SedscopeError(f"PerDetection has no meaning for {self.criterion!r}. Use it alone.")

    @property
    def unwrapped(self) -> Criterion:
        return self.criterion.unwrapped

    def native(self) -> _native.OverlapCriterion | None:
        return self.criterion.native()

    def matching_rule(self) -> MatchingRule | None:
        return self.criterion.matching_rule()

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        tables = self.criterion.find_deltas(batch, search)
        seen = self.seen(batch)
        nothing = _no_events(len(batch.durations))
        others = replace(search, any_label=False)
        # detections are right that are false only as long as there are no references
        without_ignored = replace(seen, ignored=nothing)
        all_false = self.criterion.find_deltas(without_ignored.with_counted(nothing), others)
        false = tables
        if len(seen.ignored.labels):
            false = self.criterion.find_deltas(without_ignored, others)
        return replace(tables, right=_difference(all_false.detections, false.detections))


def _no_events(clips: int) -> EventRows:
    nothing = np.empty(0, np.int32)
    return EventRows(np.empty((0, 2), np.int64), nothing, nothing, np.zeros(clips + 1, np.int64))


def _difference(more: DeltaRows, less: DeltaRows) -> DeltaRows:
    """Return by how much the false positives of two tables differ, with one row per score of a clip."""
    cells = more.starts[:, 1:].size
    cell = np.concatenate(
        [np.repeat(np.arange(cells), np.diff(table.starts, axis=1).ravel()) for table in (more, less)]
    )
    scores = np.concatenate([more.scores, less.scores])
    changes = np.concatenate([more.columns[1].astype(np.int32), -less.columns[1].astype(np.int32)])
    return _added_up(cell, scores, changes, more.starts.shape)


def _added_up(
    cell: NDArray[np.intp],
    scores: NDArray[np.floating],
    changes: NDArray[np.int32],
    shape: tuple[int, ...],
) -> DeltaRows:
    """Add up changes at equal scores of a class and clip. ``shape``: (classes, clips + 1)."""
    order = np.lexsort((-scores, cell))
    cell, scores, changes = cell[order], scores[order], changes[order]
    first = np.flatnonzero((np.diff(cell, prepend=-1) != 0) | (scores != np.roll(scores, 1)))
    sums = np.add.reduceat(changes, first) if len(first) else changes[:0]
    first, sums = first[sums != 0], sums[sums != 0]
    numbers = np.bincount(cell[first], minlength=shape[0] * (shape[1] - 1))
    starts = row_starts(numbers.reshape(shape[0], shape[1] - 1))
    return DeltaRows(starts, scores[first], (sums.astype(np.int32),))


@dataclass(frozen=True, eq=False)
class JudgedWindows:
    """The windows of some clips above a limit, by clip, class and onset, and what they hold."""

    times: Ticks
    """(windows × 2) onsets and offsets."""
    columns: NDArray[np.int32]
    """The class of each."""
    event_clips: NDArray[np.int64]
    """The clip of each."""
    right: NDArray[np.bool_]
    """Which hold enough of a call of their class."""
    excused: NDArray[np.bool_]
    """Which hold enough of an ignored call of their class."""
    found: NDArray[np.bool_]
    """Which calls are found."""
    triggers: NDArray[np.int64]
    """Rows (window, class): the window holds enough of a call of another class."""


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Window(Criterion):
    """Windows of a recording, judged as windows: a window is right if it holds enough of a call.

    It is for detectors that give each window of some seconds a confidence, such as BirdNET, with windows that
    are kept as they are (``overlaps="keep"``). A window is right if it shares ``min_overlap`` seconds with a
    call of its class, or all of a call that is shorter. A call is found if a right window shares as much with
    it. So true positives are calls, false positives are windows, and precision is the share of windows that
    are right. A window that only holds enough of an ignored call is neither right nor wrong.

    Parameters
    ----------
    min_overlap : float, default 0.5
        How many seconds of a call a window must hold.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(2, 5.5, "Song")]}, durations={"a": 20})
    >>> windows = [(0, 3, "Song", 0.9), (1.5, 4.5, "Song", 0.8), (6, 9, "Song", 0.3)]
    >>> system = sed.Scores.from_events({"a": windows}, overlaps="keep")
    >>> song = sed.deltas(system, truth, sed.Window(1)).counts()["Song"]
    >>> song.tp.tolist(), song.right.tolist(), song.fp.tolist()
    ([1, 1, 1], [1, 2, 2], [0, 0, 1])
    """

    min_overlap: float = 0.5

    counts_right: ClassVar[bool] = True
    judges_windows: ClassVar[bool] = True
    judges_classes_alone: ClassVar[bool] = True
    judges_overlapping_references: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "min_overlap", above=0, at_most=LONGEST_SECONDS)

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        windows = self._windows(batch)
        if search.any_label:
            raise SedscopeError(f"Substitutions are not defined for {self}, which makes no pairs.")
        classes, clips = len(search.floors), len(batch.durations)
        cells = windows.columns.astype(np.int64) * clips + windows.event_clips
        of_windows = cells, windows.times
        right, found = self._judged(of_windows, windows.confidences, batch, clips)
        excused, _ = self._judged(of_windows, windows.confidences, batch.ignored, clips)
        counted = found > -np.inf
        calls = batch.labels.astype(np.int64) * clips + batch.event_clips
        scores = np.concatenate([found[counted], windows.confidences])
        number, false = np.count_nonzero(counted), ~right & ~excused
        changes = np.zeros((2, len(scores)), np.int8)
        changes[0, :number], changes[1, number:] = 1, false
        cell = np.concatenate([calls[counted], cells])
        kept = changes.any(axis=0)
        order = np.lexsort((-scores[kept], cell[kept]))
        numbers = np.bincount(cell[kept], minlength=classes * clips).reshape(classes, clips)
        columns = tuple(np.ascontiguousarray(changes[:, kept][:, order]))
        rows = DeltaRows(row_starts(numbers), scores[kept][order], columns)
        tables = DeltaTables(
            detections=rows,
            cross_triggers=DeltaRows.none(classes, clips, (np.int32, np.int8), scores),
            references=batch.reference_rows(),
            ignored=batch.ignored_rows(),
            right=_added_up(
                cells[right],
                windows.confidences[right],
                np.ones(np.count_nonzero(right), np.int32),
                (classes, clips + 1),
            ),
        )
        return tables.above(search.floors.astype(scores.dtype))

    def judge_windows(self, batch: AnyBatch, limits: NDArray[np.float64]) -> JudgedWindows:
        """Judge the windows with a confidence above the limit of their class.

        Parameters
        ----------
        batch : EventBatch
            The clips, with windows that are kept as they are.
        limits : array
            The limit of each class.

        Returns
        -------
        JudgedWindows
        """
        windows = self._windows(batch)
        kept = np.flatnonzero(windows.confidences > limits[windows.columns])
        clips, event_clips = len(batch.durations), windows.event_clips[kept]
        columns, times = windows.columns[kept], windows.times[kept]
        cells = columns.astype(np.int64) * clips + event_clips
        scores = windows.confidences[kept]
        right, found = self._judged((cells, times), scores, batch, clips)
        excused, _ = self._judged((cells, times), scores, batch.ignored, clips)
        held = self._held((event_clips, times), batch, batch.event_clips.astype(np.int64))
        pairs = np.array([(row, j) for j, rows in held for row in rows.tolist()], np.int64).reshape(
            -1, 2
        )
        others = columns[pairs[:, 0]] != batch.labels[pairs[:, 1]]
        triggers = np.stack([pairs[others, 0], batch.labels[pairs[others, 1]]], axis=1)
        return JudgedWindows(
            times, columns, event_clips, right, excused, found > -np.inf, np.unique(triggers, axis=0)
        )

    def _windows(self, batch: AnyBatch) -> EventList:
        if not isinstance(batch, EventBatch) or batch.listed is None:
            raise SedscopeError(
                f"{self} judges windows as the system gives them: read them with `overlaps='keep'`, and do "
                "not post-process them. Frame scores have no windows."
            )
        return batch.listed

    def _judged(
        self,
        windows: tuple[NDArray[np.int64], Ticks],
        scores: NDArray[np.float64],
        calls: EventRows,
        clips: int,
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which windows hold enough of a call, and the highest score of such a window of each call.

        ``windows``: the class and clip of each as one number, and times.
        """
        right, found = np.zeros(len(scores), bool), np.full(len(calls.labels), -np.inf)
        cells = calls.labels.astype(np.int64) * clips + calls.event_clips
        for j, rows in self._held(windows, calls, cells):
            right[rows] = True
            found[j] = scores[rows].max(initial=-np.inf)
        return right, found

    def _held(
        self, windows: tuple[NDArray[np.int64], Ticks], calls: EventRows, keys: NDArray[np.int64]
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Iterate over the calls, with the windows of the same key that hold enough of each.

        ``windows``: their keys and times. ``keys``: those of the calls.
        """
        of_windows, times = windows
        order = np.lexsort((times[:, 0], of_windows))
        bounds = np.searchsorted(of_windows[order], keys[:, None] + [0, 1])
        enough = int(to_ticks(self.min_overlap))
        for j, (first, end) in enumerate(bounds.tolist()):
            rows = order[first:end]
            onset, offset = calls.events[j]
            shared = np.minimum(times[rows, 1], offset) - np.maximum(times[rows, 0], onset)
            yield j, rows[shared >= max(1, min(enough, int(offset - onset)))]
