"""Criteria that judge only some events: references of some lengths, or the best events of each clip."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from .. import _native
from ..data.clip_events import needs_events_error
from ..data.times import LONGEST_SECONDS, to_ticks
from ..definitions import require_number, require_whole
from ..errors import SedscopeError
from .clip_batch import AnyBatch, AnyReferences, DeltaSearch, EventBatch, Recording
from .criterion import CRITERIA, Criterion, MatchingRule, OpenDeltas
from .delta_tables import DeltaTables


class WrappingCriterion(Criterion):
    """Base of the criteria that hold another one, and pass events on to it."""

    criterion: Criterion

    def _take_over(self, *names: str) -> None:
        """Refuse anything but a criterion inside, and answer as it does."""
        if not isinstance(self.criterion, Criterion):
            raise SedscopeError(f"{type(self).__name__} needs a criterion, not {self.criterion!r}.")
        for name in names:
            object.__setattr__(self, name, getattr(self.criterion, name))

    def seen(self, references: AnyReferences) -> AnyReferences:
        return self.criterion.seen(references)

    def counting_all(self, tiou: float) -> Criterion:
        return self.criterion.counting_all(tiou)

    @property
    def thresholds_frames(self) -> bool:
        return self.criterion.thresholds_frames

    @property
    def latency_threshold(self) -> float | None:
        return self.criterion.latency_threshold

    @property
    def judges_points(self) -> bool:
        return self.criterion.judges_points

    @property
    def counts_cross_triggers(self) -> bool:
        return self.criterion.counts_cross_triggers


PASSED_ON = (
    "counts_negatives",
    "defines_substitutions",
    "judges_whole_clips",
    "judges_classes_alone",
    "judges_overlapping_references",
    "measures_time",
    "ranks_events",
    "reads_pieces",
    "segment_ticks",
    "skips_low_columns",
    "value_name",
    "values_queries",
)
"""What a criterion that judges only some events takes over."""


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class OfLength(WrappingCriterion):
    """Only references of some lengths count; the others are ignored references.

    References that are too short or too long need not be found, and detections that match them are neither
    right nor wrong. Everything else is as the criterion says. A criterion about queries, such as
    :class:`QueryPrecision`, sees no other references: as in moment retrieval, every answer to a query with
    references of these lengths counts.

    Parameters
    ----------
    criterion : Criterion
        When a reference is found and a detection is false.
    shortest : float, default 0
        References must be longer than this, in seconds.
    longest : float, default inf
        References must be at most this long, in seconds.

    Examples
    --------
    >>> from sedscope import Collar, OfLength
    >>> OfLength(Collar(), 1, 5)
    OfLength(Collar(onset=0.2, offset=0.2, offset_rate=0.2), shortest=1, longest=5)
    """

    criterion: Criterion
    shortest: float = 0.0
    longest: float = math.inf

    counts_all_references: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._take_over(*PASSED_ON)
        if isinstance(self.criterion, OfLength):
            raise SedscopeError("OfLength inside OfLength: give one of them both bounds.")
        require_number(self, "shortest", at_least=0, at_most=LONGEST_SECONDS)
        if self.longest != math.inf:
            require_number(self, "longest", above=0, at_most=LONGEST_SECONDS)
        if self.longest <= self.shortest:
            raise SedscopeError(
                f"longest={self.longest:g} must be more than shortest={self.shortest:g}: no reference is "
                "longer than one and at most as long as the other."
            )

    def seen(self, references: AnyReferences) -> AnyReferences:
        shortest, longest = self._ticks()
        return references.of_length(shortest, longest, ignore_others=not self.criterion.values_queries)

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        return self.criterion.find_deltas(self.seen(batch), search)

    def open_deltas(self, recording: Recording, search: DeltaSearch) -> OpenDeltas:
        return self.criterion.open_deltas(self.seen(recording), search)

    def counting_all(self, tiou: float) -> Criterion:
        return replace(self, criterion=self.criterion.counting_all(tiou))

    @property
    def judges_points(self) -> bool:
        return False  # they have no length

    @property
    def unwrapped(self) -> Criterion:
        return self.criterion

    def native(self) -> _native.OverlapCriterion | None:
        return self.criterion.native()

    def matching_rule(self) -> MatchingRule | None:
        rule = self.criterion.matching_rule()
        shortest, longest = self._ticks()
        return None if rule is None else {**rule, "shortest": shortest, "longest": longest}

    def _ticks(self) -> tuple[int, int]:
        longest = min(self.longest, LONGEST_SECONDS)
        return int(to_ticks(self.shortest)), int(to_ticks(longest))


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class BestAnswers(WrappingCriterion):
    """Only the events with the highest scores in each clip and class count; the others are not there.

    It is for scored events that are kept as they are. Of equal scores, the events that the system lists
    first are the best. Everything else is as the criterion says.

    Parameters
    ----------
    criterion : Criterion
        When a reference is found and a detection is false.
    top : int, default 10
        How many events of each clip and class count.

    Examples
    --------
    >>> from sedscope import BestAnswers, IoU
    >>> BestAnswers(IoU(0.5, matching="greedy"), 5)
    BestAnswers(IoU(threshold=0.5, matching='greedy'), top=5)
    """

    criterion: Criterion
    top: int = 10

    def __post_init__(self) -> None:
        self._take_over(*PASSED_ON, "counts_all_references")
        require_whole(self, "top", at_least=1)

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        if not isinstance(batch, EventBatch):
            raise needs_events_error(self)
        best = replace(batch, detected=_native.keep_best(batch.detected, self.top), listed=None)
        return self.criterion.find_deltas(best, search)

    def open_deltas(self, recording: Recording, search: DeltaSearch) -> OpenDeltas:
        raise needs_events_error(self)
