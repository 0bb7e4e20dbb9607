"""Metrics at the best operating point that meets a constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..counting.class_counts import ClassCounts
from ..counting.tally import Tally
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..definitions import require_number
from .classwise import ClassValue, ClasswiseMetric, CurveType
from .registry import METRICS


class Constrained(ClasswiseMetric[CurveType]):
    """The best value of one quantity among the operating points that meet a constraint."""

    has_thresholds: ClassVar[bool] = True

    def _best_value(
        self, counts: ClassCounts, values: FloatArray, meets: NDArray[np.bool_]
    ) -> ClassValue[CurveType]:
        """Return the best of the values that meet the constraint, one for each operating point."""
        rows = np.flatnonzero(meets)
        if not len(rows):
            return ClassValue(0.0)
        row = int(rows[np.argmax(values[rows])])
        return ClassValue(float(values[row]), counts.threshold(row), counts.tally()[row])


@METRICS.register
@dataclass(frozen=True, repr=False)
class PrecisionAtRecall(Constrained[None]):
    """The best precision over all thresholds at which the recall is high enough; 0 if there is none.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    recall : float
        The smallest recall that is accepted.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.

    Examples
    --------
    >>> from sedscope import Collar
    >>> PrecisionAtRecall(Collar(), recall=0.8)
    PrecisionAtRecall(Collar(onset=0.2, offset=0.2, offset_rate=0.2), recall=0.8, average='macro')
    """

    criterion: Criterion
    recall: float
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "recall", above=0, at_most=1)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        tally = counts.tally()
        return self._best_value(counts, tally.precision, tally.recall >= self.recall)

    def of_tally(self, tally: Tally) -> float:
        """Return the precision, whether or not the constraint is met."""
        return float(tally.precision)


@METRICS.register
@dataclass(frozen=True, repr=False)
class RecallAtPrecision(Constrained[None]):
    """The best recall over all thresholds at which the precision is high enough; 0 if there is none.

    Parameters
    ----------
    criterion : Criterion
        What counts as found.
    precision : float
        The smallest precision that is accepted.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged.

    Examples
    --------
    >>> from sedscope import Collar
    >>> RecallAtPrecision(Collar(), precision=0.9)
    RecallAtPrecision(Collar(onset=0.2, offset=0.2, offset_rate=0.2), precision=0.9, average='macro')
    """

    criterion: Criterion
    precision: float
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "precision", above=0, at_most=1)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        tally = counts.tally()
        return self._best_value(counts, tally.recall, tally.precision >= self.precision)

    def of_tally(self, tally: Tally) -> float:
        """Return the recall, whether or not the constraint is met."""
        return float(tally.recall)
