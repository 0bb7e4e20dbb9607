"""The best events of each clip: a criterion that judges only these."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .. import _native
from ..data.clip_events import needs_events_error
from ..data.scores import ScoreArray
from ..definitions import require_whole
from ..errors import SedscopeError
from .clip_batch import AnyReferences, ClipBatch, EventBatch, Recording
from .criterion import Criterion, OpenDeltas
from .delta_tables import DeltaTables
from .of_length import PASSED_ON
from .registry import CRITERIA


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class BestAnswers(Criterion):
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
        if not isinstance(self.criterion, Criterion):
            raise SedscopeError(f"BestAnswers needs a criterion, not {self.criterion!r}.")
        require_whole(self, "top", at_least=1)
        for name in (*PASSED_ON, "counts_all_references"):
            object.__setattr__(self, name, getattr(self.criterion, name))

    def seen(self, references: AnyReferences) -> AnyReferences:
        return self.criterion.seen(references)

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        raise needs_events_error(self)

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        raise needs_events_error(self)

    def find_deltas_of_events(
        self, batch: EventBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        best = replace(batch, detected=_native.keep_best(batch.detected, self.top))
        return self.criterion.find_deltas_of_events(best, floors, threads, any_label=any_label)

    def counting_all(self, tiou: float) -> Criterion:
        return self.criterion.counting_all(tiou)

    @property
    def thresholds_frames(self) -> bool:
        return self.criterion.thresholds_frames

    @property
    def judges_points(self) -> bool:
        return self.criterion.judges_points

    @property
    def counts_cross_triggers(self) -> bool:
        return self.criterion.counts_cross_triggers
