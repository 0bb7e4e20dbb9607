"""Several deltas together: of one criterion, combined class by class; of several criteria, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..criteria.delta_tables import DeltaRows
from ..errors import SedscopeError
from .deltas import Deltas
from .provenance import refuse_different


def combine(variants: Sequence[Deltas], choice: NDArray[np.integer]) -> Deltas:
    """Combine several deltas of the same clips, taking each class and clip from one of them.

    ``choice``: (classes × clips) the index of the deltas to take. The result is exact above the highest
    floor of a class, and ends there.
    """
    first = variants[0]
    source = np.ascontiguousarray(choice).ravel()
    floors = np.stack([deltas.floors for deltas in variants])
    highest = [floors[np.unique(of_class), c].max() for c, of_class in enumerate(choice)]
    combined = replace(
        first,
        floors=np.array(highest, floors.dtype),
        provenance=(
            first.provenance
            if all(deltas.provenance == first.provenance for deltas in variants)
            else replace(first.provenance, processing=None)
        ),
        tables=replace(
            first.tables,
            detections=DeltaRows.choose([deltas.tables.detections for deltas in variants], source),
            cross_triggers=DeltaRows.choose(
                [deltas.tables.cross_triggers for deltas in variants], source
            ),
            errors=None,
            any_label=None,
        ),
    )
    return combined.above(combined.floors) if (floors < combined.floors).any() else combined


def refuse_different_scores(parts: Sequence[Deltas]) -> None:
    """Refuse deltas of several criteria that were not found in the same scores, as far as that is known."""
    refuse_different([part.provenance for part in parts])
    first: dict[frozenset[str], Deltas] = {}
    for part in parts:
        if part.provenance.scores is None:
            continue
        other = first.setdefault(frozenset(part.clips), part)
        if other.provenance.scores != part.provenance.scores:
            raise SedscopeError(
                f"The deltas of {other.criterion!r} and {part.criterion!r} come from different scores of "
                "the same clips, perhaps of two systems. Find them in the same scores."
            )
