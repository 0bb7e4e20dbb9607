"""Several deltas together, and parts of deltas: of some groups of clips, or some classes."""

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


def split_by_clip(deltas: Deltas, groups: NDArray[np.intp], number: int) -> list[Deltas]:
    """Return the deltas of each group of clips.

    ``groups``: the group of each clip, from 0 to ``number`` - 1. The clips of a group keep their order.
    """
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=number)).tolist()
    sorted_tables = deltas.tables.in_order(order)
    variants = {
        variant: split_by_clip(part, groups, number) for variant, part in deltas.variants.items()
    }
    parts = []
    for group, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
        members = order[first:last]
        parts.append(
            replace(
                deltas,
                clips=tuple(deltas.clips[clip] for clip in members),
                durations=deltas.durations[members],
                tables=sorted_tables.clip_range(first, last),
                variants={variant: of_groups[group] for variant, of_groups in variants.items()},
                provenance=replace(deltas.provenance, scores=None),
                extents=None if deltas.extents is None else deltas.extents[members],
            )
        )
    return parts


def of_classes(deltas: Deltas, kept: NDArray[np.bool_]) -> Deltas:
    """Return the deltas of some of the classes, as if there were no others.

    ``kept``: whether each class is one of them.
    """
    if kept.all():
        return deltas
    return replace(
        deltas,
        classes=tuple(label for label, keep in zip(deltas.classes, kept, strict=True) if keep),
        floors=deltas.floors[kept],
        tables=deltas.tables.of_classes(kept),
        variants={variant: of_classes(part, kept) for variant, part in deltas.variants.items()},
        provenance=replace(deltas.provenance, scores=None),
    )
