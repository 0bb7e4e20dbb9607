"""The intersection criterion."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _native
from ..definitions import optional_number, require_number
from .criterion import CRITERIA, MatchingRule, as_share, optional_share
from .event_criterion import EventCriterion


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Intersection(EventCriterion):
    """Intersection criterion (Bilen et al., "A Framework for the Robust Evaluation of Sound Event
    Detection", ICASSP 2020).

    A detection is relevant if enough of it lies in references of its class; otherwise it is a false
    positive. A reference is found if enough of it lies in relevant detections. Required times are
    rounded to whole microseconds.

    Parameters
    ----------
    dtc : float
        Detection tolerance criterion: the share of a detection that must lie in references of its class.
    gtc : float
        Ground truth intersection criterion: the share of a reference that must lie in relevant
        detections.
    cttc : float, optional
        Cross-trigger tolerance criterion: a false positive of which at least this share lies in
        references of another class is a cross-trigger on that class. None counts no cross-triggers.

    Examples
    --------
    >>> Intersection(0.7, 0.7)
    Intersection(dtc=0.7, gtc=0.7)
    """

    dtc: float
    gtc: float
    cttc: float | None = None

    def __post_init__(self) -> None:
        require_number(self, "dtc", above=0, at_most=1)
        require_number(self, "gtc", above=0, at_most=1)
        optional_number(self, "cttc", above=0, at_most=1)

    @property
    def counts_cross_triggers(self) -> bool:
        return self.cttc is not None

    def native(self) -> _native.OverlapCriterion:
        return _native.Intersection(as_share(self.dtc), as_share(self.gtc), optional_share(self.cttc))

    def matching_rule(self) -> MatchingRule:
        return {
            "kind": "intersection",
            "dtc": as_share(self.dtc),
            "gtc": as_share(self.gtc),
            "cttc": optional_share(self.cttc),
        }
