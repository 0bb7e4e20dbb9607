"""The criterion of intersection over union."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _native
from ..definitions import require_flag, require_number
from ..errors import SedscopeError
from .criterion import MatchingRule
from .event_criterion import EventCriterion
from .registry import CRITERIA
from .shares import as_share


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class IoU(EventCriterion):
    """Intersection over union: a detection and a reference of its class can be paired if the time that
    they share is at least ``threshold`` of the time that they cover together, or more than that.

    sedscope makes as many pairs as possible, as for :class:`Collar`.

    Parameters
    ----------
    threshold : float, default 0.5
        The smallest intersection over union of a pair. With ``strict``, that of a pair lies above it.
    cross_triggers : bool, default False
        Count cross-triggers, as for :class:`Collar`.
    strict : bool, default False
        Whether the intersection over union must be above the threshold. sedscope then compares whole
        microseconds exactly, and the threshold may be 0.

    Examples
    --------
    >>> IoU(0.5)
    IoU(threshold=0.5)
    >>> IoU(0.3, strict=True)
    IoU(threshold=0.3, strict=True)
    """

    threshold: float = 0.5
    cross_triggers: bool = False
    strict: bool = False

    defines_substitutions: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_flag(self, "cross_triggers")
        require_flag(self, "strict")
        if not self.strict:
            require_number(self, "threshold", above=0, at_most=1)
            return
        require_number(self, "threshold", at_least=0, at_most=1)
        if self.threshold == 1:
            raise SedscopeError("threshold=1 must be below 1 if strict=True: nothing lies above it.")

    @property
    def counts_cross_triggers(self) -> bool:
        return self.cross_triggers

    def native(self) -> _native.Criterion:
        return _native.IoU(
            as_share(self.threshold), strict=self.strict, cross_triggers=self.cross_triggers
        )

    def matching_rule(self) -> MatchingRule:
        return {
            "kind": "iou",
            "threshold": as_share(self.threshold),
            "strict": self.strict,
            "cross_triggers": self.cross_triggers,
        }
