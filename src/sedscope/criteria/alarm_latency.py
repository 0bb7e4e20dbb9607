"""The criterion of latencies: how long after the onset of a reference its first alarm comes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from .. import _native
from ..data.arrays import FloatArray, rounded_down
from ..data.times import to_seconds
from ..definitions import require_number
from ..errors import SedscopeError
from .alarm import Alarm
from .clip_batch import AnyBatch, DeltaSearch
from .criterion import CRITERIA, Criterion
from .delta_tables import DeltaRows, DeltaTables, ReferenceRows, row_starts
from .restricted import WrappingCriterion


def found_latencies(
    batch: AnyBatch, criterion: Criterion, thresholds: FloatArray, threads: int
) -> ReferenceRows:
    """Return a row per reference that is found, with the time from its onset to its first alarm.

    ``thresholds``: of each class. The rows are ordered by clip, then class.
    """
    alarm = criterion.unwrapped
    assert isinstance(alarm, Alarm)
    batch = criterion.seen(batch)
    points = rounded_down(thresholds, batch.maxima.dtype)
    table = _native.ThresholdTable(points, np.arange(len(points) + 1))
    # references do not change what is detected, and the core may need those that do not overlap
    alone = batch.with_counted(batch.chosen(np.zeros(len(batch.labels), bool)))
    clips, truth, core = alone.clips, alone.truth(DeltaSearch(points, threads)), alarm.native()
    rows: list[tuple[int, int, int]] = []
    for clip in range(len(batch.durations)):
        of_clip = slice(batch.starts[clip], batch.starts[clip + 1])
        labels, events = batch.labels[of_clip], batch.events[of_clip]
        for c in np.unique(labels).tolist():
            judged = core.judge_events(clips, truth, table, clip=clip, class_number=c)
            latencies = alarm.latencies(judged.detections[:, 0], events[labels == c])
            rows += [(clip, c, latency) for latency in latencies.tolist()]
    of_clips, of_classes, times = np.array(rows, np.int64).reshape(-1, 3).T
    return ReferenceRows(of_clips.astype(np.int32), of_classes.astype(np.int32), times)


def quantile_rank(number: int, share: Fraction) -> int:
    """Return how many of some values must not exceed a quantile of them: at least one, exactly.

    >>> quantile_rank(100, Fraction(7, 100)), quantile_rank(3, Fraction(1, 2))
    (7, 2)
    """
    return max(1, -(-number * share.numerator // share.denominator))


def raises_alarms(criterion: Criterion) -> bool:
    """Return whether a criterion is an alarm, perhaps of some lengths of references."""
    return isinstance(criterion, Criterion) and isinstance(criterion.unwrapped, Alarm)


def require_alarm(criterion: Criterion) -> None:
    """Refuse criteria that raise no alarms."""
    if not raises_alarms(criterion):
        raise SedscopeError(
            f"Latencies need an Alarm, which says when alarms are raised, not {criterion!r}."
        )


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class AlarmLatency(WrappingCriterion):
    """The time from the onset of a reference to the first alarm in its window, at a threshold.

    It is the criterion of :class:`Latency`. Its deltas have a row for each reference that is found: its
    latency in seconds, with a minus, stands where other criteria have a score. So they count the references
    whose latency is at most some time, and merge and resample as those of all criteria do.

    Parameters
    ----------
    criterion : Alarm, or OfLength of one
        What raises alarms and finds references.
    threshold : float, default 0.5
        Frames with ``score > threshold`` are active.

    Examples
    --------
    >>> from sedscope import Alarm, AlarmLatency
    >>> AlarmLatency(Alarm(cooldown=20))
    AlarmLatency(Alarm(cooldown=20, before=0, after=2), threshold=0.5)
    """

    criterion: Criterion
    threshold: float = 0.5

    judges_whole_clips: ClassVar[bool] = True
    judges_classes_alone: ClassVar[bool] = True
    judges_overlapping_references: ClassVar[bool] = True
    values_queries: ClassVar[bool] = True
    value_name: ClassVar[str] = "latency"

    def __post_init__(self) -> None:
        require_alarm(self.criterion)
        self._take_over("counts_all_references")
        require_number(self, "threshold")

    @property
    def latency_threshold(self) -> float:
        return self.threshold

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        classes, clips = len(search.floors), len(batch.durations)
        thresholds = np.where(np.isposinf(search.floors), np.inf, self.threshold)  # classes not needed
        found = found_latencies(batch, self.criterion, thresholds, search.threads)
        order = np.lexsort((found.times, found.clips, found.labels))
        numbers = np.bincount(
            found.labels.astype(np.int64) * clips + found.clips, minlength=classes * clips
        )
        scores = to_seconds(-found.times[order])
        changes = np.ones(len(order), np.int8), np.zeros(len(order), np.int8)
        seen = self.seen(batch)
        return DeltaTables(
            detections=DeltaRows(row_starts(numbers.reshape(classes, clips)), scores, changes),
            cross_triggers=DeltaRows.none(classes, clips, (np.int32, np.int8), scores),
            references=seen.reference_rows(),
            ignored=seen.ignored_rows(),
        )
