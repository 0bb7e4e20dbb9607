"""The criterion of intersection over union."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from .. import _native
from ..definitions import require_choice, require_flag, require_number, unstated
from ..errors import SedscopeError
from .clip_batch import AnyBatch, DeltaSearch, EventBatch
from .criterion import CRITERIA, Criterion, MatchingRule, as_share
from .delta_tables import DeltaTables
from .event_criterion import EventCriterion, event_tables


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class IoU(EventCriterion):
    """Intersection over union: a detection and a reference of its class can be paired if the time that
    they share is at least ``threshold`` of the time that they cover together, or more than that.

    sedscope makes as many pairs as possible, as for :class:`Collar`, or lets the events choose one after
    the other (``matching="greedy"``).

    Parameters
    ----------
    threshold : float, default 0.5
        The smallest intersection over union of a pair. With ``strict``, that of a pair lies above it.
    cross_triggers : bool, default False
        Count cross-triggers, as for :class:`Collar`.
    strict : bool, default False
        Whether the intersection over union must be above the threshold. sedscope then compares whole
        microseconds exactly, and the threshold may be 0.
    matching : {"maximum", "greedy"}, default "maximum"
        Which pairs are made. ``"maximum"``: as many as possible. ``"greedy"``, for scored events that are
        kept as they are: by falling score, and of equal scores as the system lists them, each event takes
        the free reference with the largest intersection over union that is enough. Of equal ones, it takes
        the reference with the later onset, then with the later offset.

    Examples
    --------
    >>> IoU(0.5)
    IoU(threshold=0.5)
    >>> IoU(0.3, strict=True)
    IoU(threshold=0.3, strict=True)
    >>> IoU(0.5, matching="greedy")
    IoU(threshold=0.5, matching='greedy')
    """

    threshold: float = 0.5
    cross_triggers: bool = False
    strict: bool = False
    matching: str = unstated("maximum")

    defines_substitutions: ClassVar[bool] = True
    judges_overlapping_references: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_flag(self, "cross_triggers")
        require_flag(self, "strict")
        require_choice(self, "matching", ("maximum", "greedy"))
        object.__setattr__(self, "ranks_events", self.greedy)
        if self.greedy and self.cross_triggers:
            raise SedscopeError(
                "cross_triggers=True needs matching='maximum': events that choose references one after the "
                "other have no cross-triggers."
            )
        if not self.strict:
            require_number(self, "threshold", above=0, at_most=1)
            return
        require_number(self, "threshold", at_least=0, at_most=1)
        if self.threshold == 1:
            raise SedscopeError("threshold=1 must be below 1 if strict=True: nothing lies above it.")

    @property
    def counts_cross_triggers(self) -> bool:
        return self.cross_triggers

    @property
    def greedy(self) -> bool:
        """Whether events choose references one after the other."""
        return self.matching == "greedy"

    def counting_all(self, tiou: float) -> Criterion:
        return replace(self, matching="maximum")

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        if not self.greedy or not isinstance(batch, EventBatch):
            return super().find_deltas(batch, search)
        if search.any_label:
            raise SedscopeError(f"Substitutions are not defined for {self}. Use matching='maximum'.")
        share = as_share(self.threshold)
        deltas = _native.find_greedy_pairs(
            batch.detected, batch.truth(search), share, strict=self.strict
        )
        return event_tables(batch, deltas)

    def native(self) -> _native.OverlapCriterion | None:
        if self.greedy:
            return None
        return _native.IoU(
            as_share(self.threshold), strict=self.strict, cross_triggers=self.cross_triggers
        )

    def matching_rule(self) -> MatchingRule | None:
        if self.greedy:
            return None
        return {
            "kind": "iou",
            "threshold": as_share(self.threshold),
            "strict": self.strict,
            "cross_triggers": self.cross_triggers,
        }
