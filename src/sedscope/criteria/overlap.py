"""Criteria of overlap: shares of events that others cover, intersection over union, and any overlap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .. import _native
from ..data.arrays import FloatArray
from ..data.times import LONGEST_SECONDS, to_ticks
from ..definitions import optional_number, require_choice, require_flag, require_number, unstated
from ..errors import SedscopeError
from .clip_batch import AnyBatch, AnyReferences, ClipBatch, DeltaSearch, EventBatch
from .criterion import (
    CRITERIA,
    Criterion,
    EventCriterion,
    MatchingRule,
    as_share,
    event_tables,
    optional_share,
)
from .delta_tables import DeltaTables, FalseAlarmRows


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

    def certain_false_alarms(self, batch: AnyBatch, threads: int) -> FalseAlarmRows:
        """Find the largest score of frames that no relevant detection can reach.

        Relevant detections share at most the time R of all references of the class in the clip. So at most
        R · (1 / dtc - 1) of one lies outside of references, and it holds no frame that is further away from
        each of them.
        """
        share, whole = as_share(self.dtc)
        if not (isinstance(batch, ClipBatch) and len(batch.labels) and share):
            return FalseAlarmRows.none()
        clips, labels = batch.event_clips, batch.labels
        first = np.flatnonzero(np.append(True, (np.diff(clips) != 0) | (np.diff(labels) != 0)))
        starts = np.append(first, len(labels)).astype(np.int64, copy=False)
        times = np.add.reduceat(batch.events[:, 1] - batch.events[:, 0], first)
        beyond = (
            times * ((whole - share) / share) + whole / share
        )  # half a microsecond may be rounded off
        reach = np.ceil(np.minimum(beyond, 2.0**60)).astype(np.int64) + 1
        spans = batch.events + np.repeat(reach, np.diff(starts))[:, None] * np.array([-1, 1])
        clips, labels = clips[first], labels[first]
        shortest = math.ceil(min(whole / share, 2.0**60))  # shorter detections may need no overlap
        outside = batch.clips.maxima_outside(spans, starts, clips, labels, shortest, threads)
        scores: FloatArray = outside.astype(np.float64)
        ignored = np.zeros(batch.maxima.shape, bool)
        ignored[batch.ignored.event_clips, batch.ignored.labels] = True
        certain = (scores > -np.inf) & ~ignored[clips, labels]
        return FalseAlarmRows(clips[certain], labels[certain], scores[certain])

    def matching_rule(self) -> MatchingRule:
        return {
            "kind": "intersection",
            "dtc": as_share(self.dtc),
            "gtc": as_share(self.gtc),
            "cttc": optional_share(self.cttc),
        }


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
