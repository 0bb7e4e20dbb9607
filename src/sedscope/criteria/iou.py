"""The criterion of intersection over union."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _native
from ..data.scores import ScoreArray
from ..definitions import require_flag, require_number
from .clip_batch import ClipBatch, Recording
from .criterion import Criterion, MatchingRule, OpenDeltas
from .delta_tables import DeltaTables
from .event_deltas import OpenEventDeltas, event_tables
from .registry import CRITERIA


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class IoU(Criterion):
    """Intersection over union: a detection and a reference of its class can be paired if the time that
    they share is at least ``threshold`` of the time that they cover together.

    sedscope makes as many pairs as possible, as for :class:`Collar`.

    Parameters
    ----------
    threshold : float, default 0.5
        The smallest intersection over union of a pair.
    cross_triggers : bool, default False
        Count cross-triggers, as for :class:`Collar`.

    Examples
    --------
    >>> IoU(0.5)
    IoU(threshold=0.5)
    """

    threshold: float = 0.5
    cross_triggers: bool = False

    defines_substitutions: ClassVar[bool] = True
    reads_pieces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "threshold", above=0, at_most=1)
        require_flag(self, "cross_triggers")

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        truth, overlap = batch.truth(floors, threads), _native.Overlap(self.threshold)
        return event_tables(
            batch,
            batch.clips.overlap_deltas(truth, overlap, self.cross_triggers),
            any_label=batch.clips.any_label_pairs(truth, overlap) if any_label else None,
        )

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        truth, overlap = recording.truth(floors, threads), _native.Overlap(self.threshold)
        return OpenEventDeltas(
            recording,
            recording.clip.overlap_deltas(truth, overlap, self.cross_triggers),
            any_label=recording.clip.any_label_pairs(truth, overlap) if any_label else None,
        )

    def judge(self) -> _native.Judge:
        return _native.Judge(_native.Overlap(self.threshold), self.cross_triggers)

    def matching_rule(self) -> MatchingRule:
        return {
            "kind": "iou",
            "threshold": self.threshold,
            "cross_triggers": self.cross_triggers,
        }
