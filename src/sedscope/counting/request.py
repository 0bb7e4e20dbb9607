"""Requests: which deltas of a criterion to find, and down to which scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..postprocessing import PostProcessing


@dataclass(frozen=True)
class DeltaRequest:
    """Which deltas of one criterion to find. By default, all of the scores as they are."""

    false_positive_limit: float | None = None
    """False positives per second beyond which nothing is read; None if every threshold is."""
    any_label: bool = False
    """Whether to count pairs regardless of label as well."""
    variants: tuple[PostProcessing, ...] = ()
    """The post-processed variants of the scores to count as well."""
    floors: Mapping[PostProcessing | None, FloatArray] = field(default_factory=dict)
    """Per class, the score at or below which no delta is needed; by variant, None for the scores as they
    are."""
    classes: Mapping[PostProcessing | None, NDArray[np.bool_]] = field(default_factory=dict)
    """Which classes are needed, by variant; all unless stated."""

    def floors_of(self, variant: PostProcessing | None, classes: int) -> FloatArray:
        """Return, per class, the score at or below which no delta is needed; ``inf`` for classes that are
        not needed at all."""
        floors = self.floors.get(variant, np.full(classes, -np.inf))
        return np.where(self.classes.get(variant, np.ones(classes, bool)), floors, np.inf)

    def at_every_threshold(self) -> DeltaRequest:
        """Return the same request without a limit on false positives."""
        return replace(self, false_positive_limit=None)

    def __or__(self, other: DeltaRequest) -> DeltaRequest:
        """Return a request that covers both, if neither has floors or a choice of classes."""
        limits = (self.false_positive_limit, other.false_positive_limit)
        return DeltaRequest(
            None if limits[0] is None or limits[1] is None else max(limits[0], limits[1]),
            self.any_label or other.any_label,
            tuple(dict.fromkeys((*self.variants, *other.variants))),
        )


Requests: TypeAlias = Mapping[Criterion, DeltaRequest]
"""What to find of each criterion, in one pass."""
