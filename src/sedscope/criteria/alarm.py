"""The criterion of alarms: a detection raises one at its onset, unless there was one shortly before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _native
from ..data.times import LONGEST_SECONDS, Ticks, to_ticks
from ..definitions import optional_number, require_number
from .criterion import CRITERIA, MatchingRule
from .event_criterion import EventCriterion


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
