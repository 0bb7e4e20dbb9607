"""Metrics at one operating point per class: a given one, or the best."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..counting.counts import ClassCounts
from ..counting.tally import Tally
from ..criteria.criterion import Criterion, Intersection
from ..definitions import require_number
from ..errors import SedscopeError
from .classwise import AVERAGES, ClassValue, ClasswiseMetric
from .curves import ThresholdCurve, operating_scores
from .metric import Points


class _AtThreshold(ClasswiseMetric):
    """A quantity at a given threshold."""

    threshold: float

    at_one_threshold: ClassVar[bool] = True

    @property
    def looks_at(self) -> Points:
        """The given threshold."""
        return self.threshold

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """The quantity where frames with ``score > threshold`` are active."""
        tally = counts.tally_at(self.threshold)
        return ClassValue(self.of_tally(tally), self.threshold, tally)


@dataclass(frozen=True, repr=False)
class _Rate(_AtThreshold):
    """A quantity at a threshold that needs to know nothing else."""

    criterion: Criterion
    threshold: float = 0.5
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "threshold")


class _Best(ClasswiseMetric):
    """A quantity at the threshold where it is best."""

    averages: ClassVar[tuple[str, ...]] = (*AVERAGES, "micro_tuned")
    at_one_threshold: ClassVar[bool] = True

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """The best value of any operating point; of equally good ones the highest threshold."""
        # where substitutions count, fewer false positives need not be better
        rows = np.arange(len(counts.scores) + 1) if counts.pairs is not None else counts.cheapest_rows()
        values = self.quantity(counts.tally().rows(rows))
        best = int(np.argmax(values) if self.higher_is_better else np.argmin(values))
        row = int(rows[best])
        return ClassValue(float(values[best]), counts.threshold(row), counts.tally()[row])

    def curve_of(self, counts: ClassCounts) -> ThresholdCurve:
        """The quantity over the threshold."""
        return ThresholdCurve(operating_scores(counts), self.quantity(counts.tally()))

    @abstractmethod
    def quantity(self, tally: Tally) -> Any:
        """What is to be best, at each operating point."""

    def of_tally(self, tally: Tally) -> float:
        """The quantity of one operating point."""
        return float(self.quantity(tally))


@dataclass(frozen=True, repr=False)
class FScore(_AtThreshold):
    """F-score at one threshold for all classes.

    >>> from sedscope import Collar
    >>> FScore(Collar())
    FScore(Collar(onset=0.2, offset=0.2, offset_rate=0.2), threshold=0.5, beta=1, average='macro')
    """

    criterion: Criterion
    threshold: float = 0.5
    beta: float = 1.0
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "threshold")
        require_number(self, "beta", above=0)

    def of_tally(self, tally: Tally) -> float:
        """The F-score of one operating point."""
        return float(tally.fscore(self.beta))


@dataclass(frozen=True, repr=False)
class BestFScore(_Best):
    """F-score at the best threshold of each class.

    ``average="micro"`` is of all classes together at the best *common* threshold,
    ``average="micro_tuned"`` of all classes together, each at its own best threshold.
    """

    criterion: Criterion
    beta: float = 1.0
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "beta", above=0)

    def quantity(self, tally: Tally) -> Any:
        """The F-score."""
        return tally.fscore(self.beta)


class _WithSubstitutions(ClasswiseMetric):
    """Of all classes together, a missed reference and a false detection that could be a pair but for
    their labels are one error, a substitution."""

    higher_is_better: ClassVar[bool] = False

    @property
    def any_label(self) -> bool:
        """Whether substitutions are wanted."""
        return self.average == "micro"

    def _check_substitutions(self) -> None:
        if self.any_label and isinstance(self.criterion, Intersection):
            raise SedscopeError(
                "the micro average of error rates counts substitutions, which are not defined for "
                "Intersection: it does not pair detections with references. Use 'macro' or 'weighted'"
            )


@dataclass(frozen=True, repr=False)
class ErrorRate(_WithSubstitutions, _Rate):
    """Deletions and insertions per reference at one threshold for all classes; with
    ``average="micro"`` also substitutions, which replace one of each."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_substitutions()

    def of_tally(self, tally: Tally) -> float:
        """The error rate of one operating point."""
        return float(tally.error_rate)


@dataclass(frozen=True, repr=False)
class BestErrorRate(_WithSubstitutions, _Best):
    """The smallest error rate of any threshold, see :class:`ErrorRate`."""

    criterion: Criterion
    average: str = "macro"

    averages: ClassVar[tuple[str, ...]] = AVERAGES

    def __post_init__(self) -> None:
        self._check()
        self._check_substitutions()

    def quantity(self, tally: Tally) -> Any:
        """The error rate."""
        return tally.error_rate


@dataclass(frozen=True, repr=False)
class Precision(_Rate):
    """The share of true ones among what is detected, at one threshold for all classes."""

    def of_tally(self, tally: Tally) -> float:
        """The precision of one operating point; 1 where nothing is detected."""
        return float(tally.precision)


@dataclass(frozen=True, repr=False)
class Recall(_Rate):
    """The share of references found (sensitivity), at one threshold for all classes."""

    def of_tally(self, tally: Tally) -> float:
        """The recall of one operating point."""
        return float(tally.recall)


@dataclass(frozen=True, repr=False)
class Specificity(_Rate):
    """The share of segments or clips without the class in which it is not detected."""

    needs_negatives: ClassVar[bool] = True

    def of_tally(self, tally: Tally) -> float:
        """The specificity of one operating point."""
        return float(tally.specificity)


@dataclass(frozen=True, repr=False)
class BalancedAccuracy(_Rate):
    """The mean of sensitivity and specificity, of segments or clips."""

    needs_negatives: ClassVar[bool] = True

    def of_tally(self, tally: Tally) -> float:
        """The balanced accuracy of one operating point."""
        return float(tally.balanced_accuracy)


class _Constrained(ClasswiseMetric):
    """The best of one quantity among the operating points that meet a need."""

    at_one_threshold: ClassVar[bool] = True

    def _best(self, counts: ClassCounts, values: Any, meets: Any) -> ClassValue:
        rows = np.flatnonzero(meets)
        if not len(rows):
            return ClassValue(0.0)
        row = int(rows[np.argmax(values[rows])])
        return ClassValue(float(values[row]), counts.threshold(row), counts.tally()[row])


@dataclass(frozen=True, repr=False)
class PrecisionAtRecall(_Constrained):
    """The best precision of any threshold at which the recall is at least ``recall``; 0 if none."""

    criterion: Criterion
    recall: float
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "recall", above=0, at_most=1)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """See the class."""
        tally = counts.tally()
        return self._best(counts, tally.precision, tally.recall >= self.recall)

    def of_tally(self, tally: Tally) -> float:
        """The precision, whether or not the need is met."""
        return float(tally.precision)


@dataclass(frozen=True, repr=False)
class RecallAtPrecision(_Constrained):
    """The best recall of any threshold at which the precision is at least ``precision``."""

    criterion: Criterion
    precision: float
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "precision", above=0, at_most=1)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """See the class."""
        tally = counts.tally()
        return self._best(counts, tally.recall, tally.precision >= self.precision)

    def of_tally(self, tally: Tally) -> float:
        """The recall, whether or not the need is met."""
        return float(tally.recall)


@dataclass(frozen=True, repr=False)
class RecallAtFalseAlarms(_Constrained):
    """The best recall of any threshold at which there are at most ``per_hour`` false positives per
    hour of recording, of a class (or of all classes together with ``average="micro"``)."""

    criterion: Criterion
    per_hour: float
    average: str = "macro"

    def __post_init__(self) -> None:
        self._check()
        require_number(self, "per_hour", at_least=0)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue:
        """See the class."""
        tally = counts.tally()
        return self._best(counts, tally.recall, tally.false_alarms_per_hour(hours) <= self.per_hour)

    def of_tally(self, tally: Tally) -> float:
        """The recall, whether or not the need is met."""
        return float(tally.recall)
