"""Criteria with collars: detections and references are paired if their boundaries are close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _native
from ..data.times import LONGEST_SECONDS, to_ticks
from ..definitions import optional_number, require_flag, require_number
from ..errors import SedscopeError
from .criterion import CRITERIA, EventCriterion, MatchingRule, as_share


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Collar(EventCriterion):
    """Collar criterion (Mesaros et al., "Metrics for Polyphonic Sound Event Detection", 2016).

    A detection and a reference of its class can be paired if both boundaries are close enough; the
    limits themselves are included. sedscope makes as many pairs as possible, with each event in at
    most one pair: a pair is a true positive, a detection without a pair a false positive.

    Parameters
    ----------
    onset : float or None, default 0.2
        The largest difference between the onsets, in seconds. None does not judge onsets.
    offset : float or None, default 0.2
        The largest difference between the offsets, in seconds. None does not judge offsets.
    offset_rate : float, default 0.2
        Offsets may also differ by this share of the reference's length, if that is more than ``offset``.
    cross_triggers : bool, default False
        Count cross-triggers: a detection that can be paired with no reference of its class, but with
        one of another class, is a cross-trigger on that class.
    errors : bool, default False
        Also sum the signed boundary errors (detection minus reference) of the pairs. If there are
        several ways to make the most pairs, the one with the smallest sum of absolute errors counts.

    Examples
    --------
    >>> Collar()
    Collar(onset=0.2, offset=0.2, offset_rate=0.2)
    """

    onset: float | None = 0.2
    offset: float | None = 0.2
    offset_rate: float = 0.2
    cross_triggers: bool = False
    errors: bool = False

    defines_substitutions: ClassVar[bool] = True
    judges_overlapping_references: ClassVar[bool] = True

    def __post_init__(self) -> None:
        optional_number(self, "onset", at_least=0, at_most=LONGEST_SECONDS)
        optional_number(self, "offset", at_least=0, at_most=LONGEST_SECONDS)
        require_number(self, "offset_rate", at_least=0)
        require_flag(self, "cross_triggers")
        require_flag(self, "errors")
        if self.onset is None and self.offset is None:
            raise SedscopeError(
                "A collar judges onsets, offsets or both: at least one must be a number."
            )

    @property
    def judges_points(self) -> bool:
        return self.onset is None or self.offset is None

    @property
    def counts_cross_triggers(self) -> bool:
        return self.cross_triggers

    def native(self) -> _native.OverlapCriterion:
        return _native.Collar(
            None if self.onset is None else int(to_ticks(self.onset)),
            None if self.offset is None else int(to_ticks(self.offset)),
            as_share(self.offset_rate),
            cross_triggers=self.cross_triggers,
            errors=self.errors,
        )

    @property
    def sums_errors(self) -> bool:
        return self.errors

    def matching_rule(self) -> MatchingRule:
        return {
            "kind": "collar",
            "cross_triggers": self.cross_triggers,
            "onset": None if self.onset is None else int(to_ticks(self.onset)),
            "offset": None if self.offset is None else int(to_ticks(self.offset)),
            "offset_rate": as_share(self.offset_rate),
        }


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

    def native(self) -> _native.OverlapCriterion:
        return self._as_collar().native()

    def matching_rule(self) -> MatchingRule:
        return self._as_collar().matching_rule()

    def _as_collar(self) -> Collar:
        return Collar(self.tolerance, None, cross_triggers=self.cross_triggers)
