"""Criteria about queries: each clip and class with references gets one value, instead of counts of events."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import FloatArray, IntArray
from .criterion import Criterion
from .delta_tables import DeltaRows, DeltaTables, IgnoredRows, ReferenceRows, row_starts
from .iou import IoU


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
    values: FloatArray,
    answered: NDArray[np.bool_],
    references: ReferenceRows,
    ignored: IgnoredRows,
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
