"""Criteria about queries: each clip and class with references gets one value, instead of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.arrays import FloatArray, IntArray
from ..data.clip_events import needs_events_error
from ..definitions import require_choice, unstated
from ..errors import SedscopeError
from .clip_batch import AnyBatch, DeltaSearch, EventBatch
from .criterion import CRITERIA, Criterion
from .delta_tables import DeltaRows, DeltaTables, IgnoredRows, ReferenceRows, row_starts
from .overlap import IoU
from .restricted import WrappingCriterion


class QueryCriterion(Criterion):
    """Base of the criteria about queries.

    A query is a clip and class with references. Its value lies between 0 and 1; that of a query without
    detections is 0. The deltas have a row for each other query: from its value down, the query is a true
    positive. So deltas merge, and resample, as those of all criteria do, and the mean value of the queries
    is the sum of value · step of true positives, divided by the number of queries. Floors bound confidences,
    not values of queries, so no metric of queries asks for one.
    """

    judges_whole_clips: ClassVar[bool] = True
    judges_classes_alone: ClassVar[bool] = True
    counts_all_references: ClassVar[bool] = False
    values_queries: ClassVar[bool] = True

    def counting_all(self, tiou: float) -> Criterion:
        return IoU(tiou)

    @property
    def thresholds_frames(self) -> bool:
        return False


def references_per_query(rows: ReferenceRows, classes: int, clips: int) -> IntArray:
    """Return (classes × clips) the number of references."""
    numbers = np.bincount(rows.labels.astype(np.int64) * clips + rows.clips, minlength=classes * clips)
    return numbers.reshape(classes, clips)


def query_tables(
    values: FloatArray, answered: NDArray[np.bool_], references: ReferenceRows, ignored: IgnoredRows
) -> DeltaTables:
    """Return the tables of queries.

    ``values``: (classes × clips). ``answered``: which clips have detections of the class. ``references``:
    one row per reference event.
    """
    classes, clips = values.shape
    queries = references_per_query(references, classes, clips) > 0
    rows = queries & answered
    found, missed = np.ones(int(rows.sum()), np.int8), np.zeros(int(rows.sum()), np.int8)
    detections = DeltaRows(row_starts(rows.astype(np.int64)), values[rows], (found, missed))
    times = np.zeros((clips, classes), np.int64)
    np.add.at(times, (references.clips, references.labels), references.times)
    of_clips, labels = np.nonzero(queries.T)
    return DeltaTables(
        detections=detections,
        cross_triggers=DeltaRows.none(classes, clips, (np.int32, np.int8), detections.scores),
        references=ReferenceRows(
            of_clips.astype(np.int32), labels.astype(np.int32), times[of_clips, labels]
        ),
        ignored=ignored,
    )


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

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        if not isinstance(batch, EventBatch):
            raise needs_events_error(self)
        rows = _native.find_query_overlaps(batch.detected, batch.truth(search)).detections
        values = np.zeros((len(search.floors), len(batch.durations)))
        answered = np.diff(rows.starts, axis=1) > 0
        values[answered] = rows.scores
        return query_tables(values, answered, batch.reference_rows(), batch.ignored_rows())


INTERPOLATIONS = ("step", "voc")


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class QueryPrecision(QueryCriterion, WrappingCriterion):
    """The average precision of a clip and class, as if there were no other clips.

    If the criterion ranks events (``IoU(…, matching="greedy")``), events of equal score come one after the
    other, as the system lists them. Otherwise they come together, as one operating point.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    interpolation : {"step", "voc"}, default "step"
        The precision at a recall, as for :class:`AveragePrecision`.

    Examples
    --------
    >>> from sedscope import IoU, QueryPrecision
    >>> QueryPrecision(IoU(0.5, matching="greedy"), interpolation="voc")
    QueryPrecision(IoU(threshold=0.5, matching='greedy'), interpolation='voc')
    """

    criterion: Criterion
    interpolation: str = unstated("step")

    value_name: ClassVar[str] = "average precision"

    def __post_init__(self) -> None:
        self._take_over("judges_overlapping_references", "segment_ticks")
        if self.criterion.values_queries:
            raise SedscopeError(f"{self.criterion!r} has a value for each query already.")
        if self.criterion.measures_time:
            raise SedscopeError(
                f"QueryPrecision counts answers, but {self.criterion!r} measures how long they are. Use a "
                "criterion about events, such as IoU."
            )
        require_choice(self, "interpolation", INTERPOLATIONS)

    def counting_all(self, tiou: float) -> Criterion:
        return self.criterion.counting_all(tiou)

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        tables = self.criterion.find_deltas(batch, search)
        rows, references = tables.detections, tables.references
        classes, clips = rows.starts.shape[0], rows.starts.shape[1] - 1
        tp, fp = rows.columns
        precisions = _native.query_precisions(
            rows.starts,
            rows.scores.astype(np.float64),
            tp,
            fp,
            references_per_query(references, classes, clips),
            self.interpolation == "voc",
            self.criterion.ranks_events,
        )
        answered = np.diff(rows.starts, axis=1) > 0
        return query_tables(precisions, answered, references, tables.ignored)
