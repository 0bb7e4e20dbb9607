"""The thresholds of each class at which single events are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _native
from ..counting.class_counts import as_thresholds
from ..counting.floors import rounded_down
from ..criteria import Criterion
from ..criteria.clip_batch import ClipBatch, EventBatch
from ..data.arrays import FloatArray, IntArray
from ..errors import SedscopeError, listing, raise_together

ThresholdChoice: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"


@dataclass(frozen=True, eq=False)
class ClassThresholds:
    """The thresholds of each class, and the criterion that judges the events at them."""

    criterion: _native.Criterion
    thresholds: Sequence[FloatArray]
    """Of each class, decreasing."""
    starts: IntArray
    """The first threshold of each class among all, and the end."""

    @classmethod
    def of(
        cls,
        criterion: Criterion,
        classes: Sequence[str],
        thresholds: ThresholdChoice,
        *,
        single: bool = False,
    ) -> ClassThresholds:
        """Check thresholds for all classes, or per class. A class without one is never detected.

        ``single``: allow only one threshold per class.
        """
        native = criterion.native()
        if native is None:
            raise SedscopeError(
                "An error analysis needs a criterion that judges single events (Intersection, Collar, "
                f"Onset, IoU without matching='greedy'), not {criterion!r}."
            )
        by_class = thresholds if isinstance(thresholds, Mapping) else dict.fromkeys(classes, thresholds)
        unknown = [str(label) for label in by_class if label not in classes]
        if unknown:
            raise SedscopeError(
                f"Some thresholds are for classes that are not evaluated: {listing(unknown)}."
            )
        points: list[FloatArray] = []
        problems: list[str] = []
        for label in classes:
            try:
                points.append(as_thresholds(by_class.get(label, np.inf)))
            except SedscopeError as error:
                problems.append(f"{label}: {error}")
                continue
            number = len(points[-1])
            if single and number != 1:
                problems.append(f"{label}: give one threshold, not {number}.")
            elif not number:
                problems.append(f"{label}: there is no threshold.")
        raise_together(map(SedscopeError, problems), what="the thresholds")
        ends = np.cumsum([len(of_class) for of_class in points])
        return cls(native, points, np.concatenate([[0], ends]).astype(np.int64))

    def arguments(
        self, batch: ClipBatch | EventBatch, threads: int
    ) -> tuple[_native.Clips, _native.Truth, _native.ThresholdTable]:
        """Return the arguments of the core for judging the events of some clips."""
        points = rounded_down(np.concatenate(self.thresholds), batch.maxima.dtype)
        lowest = points[self.starts[1:] - 1]
        table = _native.ThresholdTable(points, self.starts)
        return batch.clips, batch.truth(lowest, threads), table
