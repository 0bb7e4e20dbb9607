"""Delta tables of criteria about events, from what the core finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import _native
from ..data.scores import ScoreArray
from .clip_batch import ClipReferences, Recording
from .delta_tables import DeltaRows, DeltaTables


def event_tables(
    batch: ClipReferences,
    columns: Sequence[Any],
    *,
    errors: bool = False,
    any_label: Sequence[Any] | None = None,
) -> DeltaTables:
    """Arrange the columns that the core returns for a criterion about events."""
    starts, scores, tp, fp, cross_starts, cross_scores, labels, ct, *error_columns = columns
    pairs = None
    if any_label is not None:
        pair_starts, pair_scores, changes = any_label
        pairs = DeltaRows(pair_starts[None], pair_scores, (changes,))
    return DeltaTables(
        detections=DeltaRows(starts, scores, (tp, fp)),
        cross_triggers=DeltaRows(cross_starts, cross_scores, (labels, ct)),
        references=batch.reference_rows(),
        errors=DeltaRows(error_columns[0], error_columns[1], tuple(error_columns[2:]))
        if errors
        else None,
        any_label=pairs,
    )


@dataclass(frozen=True, eq=False)
class OpenEventDeltas:
    """:class:`~sedscope.criteria.criterion.OpenDeltas` of a criterion about events."""

    recording: Recording
    deltas: _native.OpenRecording
    errors: bool = False
    any_label: _native.OpenRecording | None = None

    def feed(self, piece: ScoreArray) -> None:
        self.deltas.feed(piece)
        if self.any_label:
            self.any_label.feed(piece)

    def finish(self) -> DeltaTables:
        return event_tables(
            self.recording,
            self.deltas.finish(),
            errors=self.errors,
            any_label=self.any_label.finish() if self.any_label else None,
        )
