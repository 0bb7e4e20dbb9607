"""The intersection criterion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import _native
from ..data.arrays import FloatArray
from ..definitions import optional_number, require_number
from .clip_batch import AnyBatch, ClipBatch
from .criterion import CRITERIA, MatchingRule, as_share, optional_share
from .delta_tables import FalseAlarmRows
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
