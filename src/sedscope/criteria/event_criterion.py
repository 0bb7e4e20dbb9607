"""Criteria about events that the core computes: each names its criterion of the core, nothing more."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from .. import _native
from ..data.clip_events import needs_events_error
from ..errors import SedscopeError
from .clip_batch import AnyBatch, ClipReferences, DeltaSearch, EventBatch, Recording
from .criterion import Criterion, OpenDeltas
from .delta_tables import DeltaRows, DeltaTables


class EventCriterion(Criterion):
    """Base of the criteria about events that the core computes."""

    judges_classes_alone: ClassVar[bool] = True
    skips_low_columns: ClassVar[bool] = True
    reads_pieces: ClassVar[bool] = True

    @property
    def sums_errors(self) -> bool:
        """Whether the deltas include the boundary errors of the pairs."""
        return False

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        core, batch = self._core(), self.seen(batch)
        pairs = None
        if search.any_label:
            pairing = self._pairing(core, batch)
            if isinstance(batch, EventBatch):
                raise SedscopeError(
                    f"Substitutions by {self} are not defined for overlapping events that are kept as they "
                    "are. Merge them with `overlaps='merge'`."
                )
            pairs = pairing.find_label_free_pairs(batch.clips, batch.truth(search))
        return event_tables(batch, batch.find_deltas(core, search), pairs, errors=self.sums_errors)

    def open_deltas(self, recording: Recording, search: DeltaSearch) -> OpenDeltas:
        core, recording = self._core(), self.seen(recording)
        truth = recording.truth(search)
        parts: list[_native.OpenRecording[Any]] = [core.open_deltas(recording.clip, truth)]
        if search.any_label:
            pairing = self._pairing(core, recording)
            parts.append(pairing.open_label_free_pairs(recording.clip, truth))
        return OpenDeltas(parts, partial(event_tables, recording, errors=self.sums_errors))

    def _core(self) -> _native.OverlapCriterion | _native.AnyOverlap:
        """Return the criterion of the core that finds deltas; usually it is the one that judges events."""
        criterion = self.native()
        if criterion is None:
            raise needs_events_error(self)
        return criterion

    def _pairing(
        self, core: _native.OverlapCriterion | _native.AnyOverlap, references: ClipReferences
    ) -> _native.PairingCriterion:
        if not isinstance(core, _native.PairingCriterion):
            raise SedscopeError(
                f"Substitutions are not defined for {self}: it does not pair detections with references."
            )
        if len(references.ignored.labels):
            raise SedscopeError(
                f"Substitutions are not defined for {self} with ignored references: a detection could be a "
                "substitution or match an ignored reference. Use a segment-based criterion, or a metric "
                "without substitutions."
            )
        return core


def event_tables(
    batch: ClipReferences,
    deltas: _native.EventDeltas,
    pairs: _native.PairDeltas | None = None,
    *,
    errors: bool = False,
) -> DeltaTables:
    """Arrange the deltas that the core finds as tables."""
    detections, cross_triggers, of_pairs = deltas.detections, deltas.cross_triggers, deltas.errors
    return DeltaTables(
        detections=DeltaRows(detections.starts, detections.scores, (detections.tp, detections.fp)),
        cross_triggers=DeltaRows(
            cross_triggers.starts, cross_triggers.scores, (cross_triggers.labels, cross_triggers.ct)
        ),
        references=batch.reference_rows(),
        errors=DeltaRows(of_pairs.starts, of_pairs.scores, (of_pairs.onset, of_pairs.offset))
        if errors
        else None,
        any_label=None if pairs is None else DeltaRows(pairs.starts, pairs.scores, (pairs.pairs,)),
        ignored=batch.ignored_rows(),
    )
