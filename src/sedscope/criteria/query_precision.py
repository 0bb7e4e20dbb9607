"""The value of a query is its average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _native
from ..data.scores import ScoreArray
from ..definitions import require_choice, unstated
from ..errors import SedscopeError
from .clip_batch import AnyReferences, ClipBatch, EventBatch
from .criterion import Criterion
from .delta_tables import DeltaTables
from .query_criterion import QueryCriterion, query_tables, references_per_query
from .registry import CRITERIA

INTERPOLATIONS = ("step", "voc")


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class QueryPrecision(QueryCriterion):
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
        if not isinstance(self.criterion, Criterion):
            raise SedscopeError(f"QueryPrecision needs a criterion, not {self.criterion!r}.")
        if self.criterion.values_queries:
            raise SedscopeError(f"{self.criterion!r} has a value for each query already.")
        if self.criterion.measures_time:
            raise SedscopeError(
                f"QueryPrecision counts answers, but {self.criterion!r} measures how long they are. Use a "
                "criterion about events, such as IoU."
            )
        require_choice(self, "interpolation", INTERPOLATIONS)
        for name in ("judges_overlapping_references", "segment_ticks"):
            object.__setattr__(self, name, getattr(self.criterion, name))

    def seen(self, references: AnyReferences) -> AnyReferences:
        return self.criterion.seen(references)

    def counting_all(self, tiou: float) -> Criterion:
        return self.criterion.counting_all(tiou)

    @property
    def judges_points(self) -> bool:
        return self.criterion.judges_points

    @property
    def counts_cross_triggers(self) -> bool:
        return self.criterion.counts_cross_triggers

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        return self._of(self.criterion.find_deltas(batch, floors, threads, any_label=any_label))

    def find_deltas_of_events(
        self, batch: EventBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        find_deltas = self.criterion.find_deltas_of_events
        return self._of(find_deltas(batch, floors, threads, any_label=any_label))

    def _of(self, tables: DeltaTables) -> DeltaTables:
        """Return the tables of the queries from those of events."""
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
