"""Parts of deltas: those of groups of clips, or of some of the classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .deltas import Deltas


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
