"""Thresholds at which single events are judged: some for each class, as the core takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from ..counting.counts import as_thresholds
from ..counting.floors import rounded_down
from ..criteria.criterion import ClipBatch, Collar, Criterion, Intersection, IoU
from ..data.scores import ScoreArray
from ..errors import SedscopeError, listing

Thresholds: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"


@dataclass(frozen=True, eq=False)
class Stops:
    """Who judges, and at which thresholds of each class."""

    judge: _native.Judge
    thresholds: Sequence[NDArray[np.float64]]
    """Of each class, decreasing."""
    starts: NDArray[np.int64]
    """The first threshold of each class among all, and the end."""

    @classmethod
    def of(
        cls,
        criterion: Criterion,
        classes: Sequence[str],
        thresholds: Thresholds,
        *,
        single: bool = False,
    ) -> Stops:
        """``thresholds``: for all classes, or per class; a class without one is never detected.
        ``single``: there must not be several."""
        if not isinstance(criterion, (Intersection, Collar, IoU)):
            raise SedscopeError(
                "where errors come from is known for criteria about events (Intersection, Collar, IoU), "
                f"not for {criterion!r}"
            )
        given = thresholds if isinstance(thresholds, Mapping) else dict.fromkeys(classes, thresholds)
        unknown = [str(label) for label in given if label not in classes]
        if unknown:
            raise SedscopeError(f"thresholds for classes that are not evaluated: {listing(unknown)}")
        found: list[NDArray[np.float64]] = []
        wrong: list[str] = []
        for label in classes:
            try:
                found.append(as_thresholds(given.get(label, np.inf)))
            except SedscopeError as error:
                wrong.append(f"{label}: {error}")
                continue
            number = len(found[-1])
            if single and number != 1:
                wrong.append(f"{label}: one threshold is needed, not {number}")
            elif not number:
                wrong.append(f"{label}: there is no threshold")
        if wrong:
            raise SedscopeError(listing(wrong))
        ends = np.cumsum([len(points) for points in found])
        return cls(criterion.judge(), found, np.concatenate([[0], ends]).astype(np.int64))

    def arguments(
        self, batch: ClipBatch, threads: int
    ) -> tuple[_native.Truth, _native.Judge, ScoreArray, NDArray[np.int64]]:
        """What the core takes to judge the events of some clips."""
        stops = rounded_down(np.concatenate(self.thresholds), batch.maxima.dtype)
        lowest = stops[self.starts[1:] - 1]
        return batch.truth(lowest, threads), self.judge, stops, self.starts
