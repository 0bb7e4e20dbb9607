"""The criterion of any overlap: the rule of alarms and of seizure detection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _native
from ..data.times import LONGEST_SECONDS, to_ticks
from ..definitions import optional_number, require_number
from ..errors import SedscopeError
from .clip_batch import AnyBatch, AnyReferences, DeltaSearch, EventBatch
from .criterion import CRITERIA
from .delta_tables import DeltaTables
from .event_criterion import EventCriterion


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class AnyOverlap(EventCriterion):
    """Any overlap: a reference is found if any detection of its class overlaps its window, however little.

    The window of a reference reaches from ``before`` seconds before its onset until ``after`` seconds after
    its offset. A detection that overlaps no window is a false positive. A detection that overlaps one is not:
    it may find several references, and several detections may find the same one. So true positives are
    references, false positives are detections, and precision is TP / (TP + FP).

    ``AnyOverlap()`` is the rule that the NEDC tools for EEG call OVLP.
    ``AnyOverlap(before=30, after=60, merge_gap=90, split=300)`` is the event-based rule of SzCORE (Dan et
    al., "SzCORE: Seizure Community Open-Source Research Evaluation framework", 2024).

    Parameters
    ----------
    before : float, default 0
        How long before its onset the window of a reference begins, in seconds.
    after : float, default 0
        How long after its offset the window of a reference ends, in seconds.
    merge_gap : float or None, default None
        Events of one class with a gap of less than this between them become one, references and
        detections alike, in seconds. None merges no events.
    split : float or None, default None
        Events longer than this are cut into pieces of this length, references and detections alike, after
        they are merged. Each piece counts as an event. In seconds, at least 1. None cuts no events.

    Examples
    --------
    >>> from sedscope import AnyOverlap
    >>> AnyOverlap()
    AnyOverlap(before=0, after=0)
    >>> AnyOverlap(before=30, after=60, merge_gap=90, split=300)
    AnyOverlap(before=30, after=60, merge_gap=90, split=300)
    """

    before: float = 0.0
    after: float = 0.0
    merge_gap: float | None = None
    split: float | None = None

    judges_overlapping_references: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "before", at_least=0, at_most=LONGEST_SECONDS)
        require_number(self, "after", at_least=0, at_most=LONGEST_SECONDS)
        optional_number(self, "merge_gap", at_least=1e-6, at_most=LONGEST_SECONDS)
        optional_number(self, "split", at_least=1, at_most=LONGEST_SECONDS)
        changes_events = self.merge_gap is not None or self.split is not None
        object.__setattr__(self, "counts_all_references", not changes_events)
        # a block would cut off windows, gaps and pieces
        looks_far = changes_events or self.before > 0 or self.after > 0
        object.__setattr__(self, "judges_whole_clips", looks_far)

    def seen(self, references: AnyReferences) -> AnyReferences:
        """Return references as the criterion counts them: merged, then split."""
        if self.merge_gap is not None:
            references = references.with_counted(references.merged_at_gaps(_ticks(self.merge_gap)))
        if self.split is not None:
            references = references.with_counted(references.cut_to_pieces(_ticks(self.split)))
        return references

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        if self.merge_gap is not None and isinstance(batch, EventBatch):
            raise SedscopeError(
                f"{self} merges events that overlap, so they cannot be kept as they are. Merge them with "
                "`overlaps='merge'`, or leave out merge_gap."
            )
        return super().find_deltas(batch, search)

    def _core(self) -> _native.AnyOverlap:
        return _native.AnyOverlap(
            before=_ticks(self.before),
            after=_ticks(self.after),
            longest_gap=-1 if self.merge_gap is None else _ticks(self.merge_gap) - 1,
            longest_piece=0 if self.split is None else _ticks(self.split),
        )


def _ticks(seconds: float) -> int:
    return int(to_ticks(seconds))
