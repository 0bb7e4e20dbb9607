"""Criteria of alarms: a detection raises one at its onset, unless there was one shortly before.

:class:`AlarmLatency` says how long after the onset of a reference its first alarm comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from .. import _native
from ..data.arrays import FloatArray, rounded_down
from ..data.times import LONGEST_SECONDS, Ticks, to_seconds, to_ticks
from ..definitions import optional_number, require_number
from ..errors import SedscopeError
from .clip_batch import AnyBatch, DeltaSearch
from .criterion import CRITERIA, Criterion, EventCriterion, MatchingRule
from .delta_tables import DeltaRows, DeltaTables, ReferenceRows, row_starts
from .restricted import WrappingCriterion


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Alarm(EventCriterion):
    """Alarms with a cooldown: a reference is found if there is an alarm at about its time.

    A detection raises an alarm at its onset, unless an alarm of its class was raised less than ``cooldown``
    seconds before in the same clip. A detection that raises no alarm is neither right nor wrong, and does not
    prolong the cooldown. A reference is found if an alarm lies in its window, which reaches from ``before``
    seconds before its onset until ``after`` seconds after its offset. An alarm that lies in no window is a
    false positive; several in one window are not. The borders of a window belong to it. So true positives are
    references, and false positives are alarms.

    Neither count always grows as the threshold falls: a detection that begins earlier moves its alarm, and
    thereby those after it.

    Parameters
    ----------
    cooldown : float, default 60
        How long after an alarm there is no other one, in seconds. 0 raises an alarm at each onset.
    before : float, default 0
        How long before its onset the window of a reference begins, in seconds.
    after : float, default 2
        How long after its offset the window of a reference ends, in seconds.
    within : float or None, default None
        How long after its onset the window of a reference ends, in seconds; then ``after`` does not apply.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(100, 110, "Siren")]}, durations={"a": 600})
    >>> detected = [(20, 21, "Siren"), (70, 72, "Siren"), (101, 104, "Siren"), (108, 109, "Siren")]
    >>> system = sed.Scores.from_events({"a": detected})
    >>> counts = sed.deltas(system, truth, sed.Alarm(cooldown=60)).counts()["Siren"]
    >>> counts.tp.tolist(), counts.fp.tolist()  # alarms at 20 s and at 101 s
    ([1], [1])
    """

    cooldown: float = 60.0
    before: float = 0.0
    after: float = 2.0
    within: float | None = None

    judges_overlapping_references: ClassVar[bool] = True
    judges_whole_clips: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("cooldown", "before", "after"):
            require_number(self, name, at_least=0, at_most=LONGEST_SECONDS)
        optional_number(self, "within", at_least=0, at_most=LONGEST_SECONDS)

    @property
    def judges_points(self) -> bool:
        return True

    def native(self) -> _native.OverlapCriterion:
        return _native.Alarm(**self._ticks())

    def matching_rule(self) -> MatchingRule:
        return {"kind": "alarm", "cross_triggers": False, **self._ticks()}

    def latencies(self, onsets: Ticks, references: Ticks) -> Ticks:
        """Return, for each reference that is found, the time from its onset to the first alarm in its window.

        Parameters
        ----------
        onsets : array of int
            The onsets of the detections of one class and clip, in order, in microseconds.
        references : array of int
            (references × 2) onsets and offsets of the same class and clip.

        Returns
        -------
        array of int
            In microseconds.
        """
        ticks = self._ticks()
        alarms = onsets
        if self.cooldown > 0:
            raised, next_one = [], 0
            while next_one < len(onsets):
                raised.append(onsets[next_one])
                next_one = int(np.searchsorted(onsets, onsets[next_one] + ticks["cooldown"]))
            alarms = np.array(raised, np.int64)
        begins, offsets = references.T
        ends = offsets + ticks["after"] if self.within is None else begins + ticks["within"]
        first = np.searchsorted(alarms, begins - ticks["before"])
        times = np.append(alarms, np.iinfo(np.int64).max)[first]
        latencies: Ticks = (times - begins)[times <= ends]
        return latencies

    def _ticks(self) -> dict[str, Any]:
        cooldown, before, after = map(int, to_ticks([self.cooldown, self.before, self.after]))
        within = None if self.within is None else int(to_ticks(self.within))
        return {"cooldown": cooldown, "before": before, "after": after, "within": within}


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
