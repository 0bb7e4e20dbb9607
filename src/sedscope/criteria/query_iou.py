"""The value of a query is the largest intersection over union of an answer with a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _native
from ..data.clip_events import needs_events_error
from ..data.scores import ScoreArray
from .clip_batch import ClipBatch, EventBatch
from .delta_tables import DeltaTables
from .query_criterion import QueryCriterion, query_tables
from .registry import CRITERIA


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class QueryIoU(QueryCriterion):
    """The largest intersection over union of any detection with any reference of its clip and class.

    It is for scored events that are kept as they are; ``BestAnswers(QueryIoU(), k)`` looks only at the k best
    of them. Ignored references change nothing: a detection of one is an answer like any other. See
    :class:`MeanIoU` and :class:`RecallAt`.

    Examples
    --------
    >>> from sedscope import BestAnswers, QueryIoU
    >>> BestAnswers(QueryIoU(), 1)
    BestAnswers(QueryIoU(), top=1)
    """

    judges_overlapping_references: ClassVar[bool] = True
    value_name: ClassVar[str] = "intersection over union"

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        raise needs_events_error(self)

    def find_deltas_of_events(
        self, batch: EventBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        rows = _native.find_query_overlaps(batch.detected, batch.truth(floors, threads)).detections
        values = np.zeros((len(floors), len(batch.durations)))
        answered = np.diff(rows.starts, axis=1) > 0
        values[answered] = rows.scores
        return query_tables(values, answered, batch.reference_rows(), batch.ignored_rows())
