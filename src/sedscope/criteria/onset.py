"""The onset criterion: detections and references are paired if they begin at nearly the same time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _native
from ..data.times import LONGEST_SECONDS
from ..definitions import require_flag, require_number
from .collar import Collar
from .criterion import MatchingRule
from .event_criterion import EventCriterion
from .registry import CRITERIA


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Onset(EventCriterion):
    """Onset criterion: a detection and a reference of its class can be paired if their onsets are close.

    It is ``Collar(onset=tolerance, offset=None)`` under a name of its own. The tolerance itself is
    included. sedscope makes as many pairs as possible, with each event in at most one pair. Events may have
    no length: then they are points in time, such as drum hits or flight calls.

    Parameters
    ----------
    tolerance : float, default 0.05
        The largest difference between the onsets, in seconds.
    cross_triggers : bool, default False
        Count cross-triggers, as for :class:`Collar`.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 1, "Snare"), (2, 2, "Snare")]}, durations={"a": 4})
    >>> hits = {"a": [(1.04, 1.04, "Snare", 0.9), (3, 3, "Snare", 0.2)]}
    >>> metric = sed.BestFScore(sed.Onset(0.05))
    >>> round(sed.evaluate(sed.ScoredEvents.from_events(hits), truth, metric)[metric].value, 4)
    0.6667
    """

    tolerance: float = 0.05
    cross_triggers: bool = False

    defines_substitutions: ClassVar[bool] = True
    judges_overlapping_references: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "tolerance", at_least=0, at_most=LONGEST_SECONDS)
        require_flag(self, "cross_triggers")

    @property
    def judges_points(self) -> bool:
        return True

    @property
    def counts_cross_triggers(self) -> bool:
        return self.cross_triggers

    def native(self) -> _native.Criterion:
        return self._as_collar().native()

    def matching_rule(self) -> MatchingRule:
        return self._as_collar().matching_rule()

    def _as_collar(self) -> Collar:
        return Collar(self.tolerance, None, cross_triggers=self.cross_triggers)
