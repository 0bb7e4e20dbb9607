"""The intersection criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _native
from ..data.scores import ScoreArray
from ..definitions import optional_number, require_number
from ..errors import SedscopeError
from .clip_batch import ClipBatch, Recording
from .criterion import Criterion, MatchingRule, OpenDeltas
from .delta_tables import DeltaTables
from .event_deltas import OpenEventDeltas, event_tables
from .registry import CRITERIA


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Intersection(Criterion):
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

    reads_pieces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "dtc", above=0, at_most=1)
        require_number(self, "gtc", above=0, at_most=1)
        optional_number(self, "cttc", above=0, at_most=1)

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        self._refuse_pairs(any_label)
        truth = batch.truth(floors, threads)
        return event_tables(batch, batch.clips.intersection_deltas(truth, self.dtc, self.gtc, self.cttc))

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        self._refuse_pairs(any_label)
        truth = recording.truth(floors, threads)
        deltas = recording.clip.intersection_deltas(truth, self.dtc, self.gtc, self.cttc)
        return OpenEventDeltas(recording, deltas)

    def _refuse_pairs(self, any_label: bool) -> None:
        if any_label:
            raise SedscopeError(
                f"Substitutions are not defined for {self}: it does not pair detections with references."
            )

    def judge(self) -> _native.Judge:
        return _native.Judge(self.dtc, self.gtc, self.cttc)

    def matching_rule(self) -> MatchingRule:
        return {"kind": "intersection", "dtc": self.dtc, "gtc": self.gtc, "cttc": self.cttc}
