"""How far scores are from the probability to be right: calibration errors and the Brier score.

Each segment, clip or scored event is an item: it is right or wrong, from its own score on. So the items of a
score are the changes of the counts there, and what is read off them is exact. A segment without a score
counts as one with a probability of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .. import _native
from ..counting.counts import ClassCounts
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..definitions import require_choice, require_whole
from ..errors import SedscopeError
from ..tabular import CurveTable
from .classwise import ClassValue, ClasswiseMetric, ClasswiseResult
from .metric import METRICS, PointsRead

if TYPE_CHECKING:
    from ..results.frames import Column

NORMS = ("mean", "max")


@dataclass(frozen=True, eq=False)
class Items:
    """How many items of each score are right and wrong.

    Attributes
    ----------
    scores : array of float
        The scores.
    right, wrong : array of int
        The items of each score.
    """

    scores: FloatArray
    right: IntArray
    wrong: IntArray

    @classmethod
    def of(cls, counts: ClassCounts) -> Items:
        """Return the items of a class.

        Parameters
        ----------
        counts : ClassCounts
            Its counts at all thresholds.

        Returns
        -------
        Items

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.2]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> items = Items.of(sed.deltas(scores, truth, sed.Segment(1)).counts()["Dog"])
        >>> items.scores.tolist(), items.right.tolist(), items.wrong.tolist()
        ([0.9, 0.2], [1, 0], [0, 2])
        """
        found = counts.tp if counts.right is None else counts.right
        right, wrong = np.diff(found, prepend=0), np.diff(counts.fp, prepend=0)
        if (right < 0).any() or (wrong < 0).any():
            raise SedscopeError(
                f"{counts.label}: detections merge or change as the threshold falls, so they have no "
                "probability of their own. Judge segments, clips, or scored events that are kept as they are "
                "(`overlaps='keep'`)."
            )
        scores = counts.scores.astype(np.float64)
        return cls(scores, right, wrong)

    @classmethod
    def of_probabilities(cls, counts: ClassCounts) -> Items:
        """Return the items of a class whose scores are probabilities. A segment without a score has 0.

        Parameters
        ----------
        counts : ClassCounts
            Its counts at all thresholds.

        Returns
        -------
        Items
        """
        items = cls.of(counts)
        scores, right, wrong = items.scores, items.right, items.wrong
        if len(scores) and not (scores[-1] >= 0 and scores[0] <= 1):
            raise SedscopeError(
                f"{counts.label}: the scores lie between {scores[-1]:.4g} and {scores[0]:.4g}, so they are "
                "no probabilities. Calibrate them first, with 'sedscope calibrate'."
            )
        silent = 0 if counts.trials is None else counts.trials - int(right.sum() + wrong.sum())
        if not silent:
            return items
        silent_right = counts.references - int(right.sum())
        return cls(
            np.append(scores, 0.0),
            np.append(right, silent_right),
            np.append(wrong, silent - silent_right),
        )

    def reliability(self, bins: int) -> Reliability:
        """Return the share of right items in bins of equal width.

        Parameters
        ----------
        bins : int
            How many bins. A score on a border belongs to the lower bin.

        Returns
        -------
        Reliability
            Of the bins that are not empty.
        """
        bin_of = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], self.scores)
        numbers = self.right + self.wrong
        total, right, mass = (
            np.bincount(bin_of, weights, minlength=bins)
            for weights in (numbers, self.right, numbers * self.scores)
        )
        used = total > 0
        return Reliability(
            mass[used] / total[used], right[used] / total[used], total[used].astype(np.float64)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(CurveTable):
    """The share of right items over the mean score, bin by bin.

    Attributes
    ----------
    confidence : array of float
        The mean score of the items in each bin.
    share : array of float
        The share of them that is right.
    number : array of float
        How many there are.
    """

    _drawing: ClassVar[str] = "plot_reliability"

    confidence: FloatArray
    share: FloatArray
    number: FloatArray

    @property
    def one_point(self) -> bool:
        """Whether all items are in one bin."""
        return len(self.number) == 1

    def error(self, norm: str) -> float:
        """Return the mean or the largest difference of share and score over the bins; NaN without items."""
        if not len(self.number):
            return np.nan
        differences = np.abs(self.share - self.confidence)
        return float(
            differences.max() if norm == "max" else np.average(differences, weights=self.number)
        )

    def _columns(self) -> dict[str, Column]:
        return {"confidence": self.confidence, "share_right": self.share, "items": self.number}


class CalibrationMetric(ClasswiseMetric[Reliability]):
    """Base of the metrics that compare scores with the share of items that are right."""

    higher_is_better: ClassVar[bool] = False
    needs_references: ClassVar[bool] = False
    bins: int = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        criterion = self.criterion
        judges_items = criterion.counts_negatives or criterion.counts_right or criterion.ranks_events
        if not judges_items and not isinstance(criterion.native(), _native.PairingCriterion):
            raise SedscopeError(
                f"By {criterion!r}, several detections may find one reference, so it does not say which are "
                f"right. Use PerDetection({criterion!r}), or Segment or Clip."
            )

    @property
    def points_read(self) -> PointsRead:
        """All: each has items of its own."""
        return "all"

    def curve_of(self, counts: ClassCounts, hours: float) -> Reliability:
        return Items.of_probabilities(counts).reliability(self.bins)

    def overall_curve_of(self, result: ClasswiseResult[Reliability]) -> Reliability | None:
        """Return the curve of the items of all classes together."""
        return self.of_all(result.counts).curve


@METRICS.register
@dataclass(frozen=True, repr=False)
class CalibrationError(CalibrationMetric):
    """How far scores are from the share of items with that score that are right: ECE and MCE.

    The scores from 0 to 1 are put into bins of equal width. The error of a bin is the difference between its
    mean score and the share of its items that are right.

    Parameters
    ----------
    criterion : Criterion
        ``Segment`` or ``Clip``, or for scored events that are kept as they are one that says which of them
        are right: ``Window``, ``Collar``, ``IoU`` or ``PerDetection``.
    bins : int, default 15
        How many bins.
    norm : {"mean", "max"}, default "mean"
        The mean of the bins, weighted by their items (expected calibration error), or the largest one
        (maximum calibration error).
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged. ``"micro"`` takes the items of all classes together.

    Examples
    --------
    >>> import sedscope as sed
    >>> frames = {"a": [[0.25], [0.75]], "b": [[0.75], [0.25]]}
    >>> scores = sed.Scores.from_arrays(frames, classes=["Dog"], frame=1)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")], "b": []}, durations={"a": 2, "b": 2})
    >>> sed.evaluate(scores, truth, {"ece": CalibrationError(sed.Segment(1))})["ece"].value
    0.25
    """

    criterion: Criterion
    bins: int = 15
    norm: str = "mean"
    average: str = "macro"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, "bins", at_least=1)
        require_choice(self, "norm", NORMS)

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[Reliability]:
        return ClassValue(Items.of_probabilities(counts).reliability(self.bins).error(self.norm))


@METRICS.register
@dataclass(frozen=True, repr=False)
class BrierScore(CalibrationMetric):
    """The mean squared difference between the scores and what is right (1) or wrong (0).

    Parameters
    ----------
    criterion : Criterion
        As for :class:`CalibrationError`.
    average : {"macro", "micro", "weighted"}, default "macro"
        How the classes are averaged. ``"micro"`` takes the items of all classes together.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.5], [1.0]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 2})
    >>> sed.evaluate(scores, truth, {"brier": BrierScore(sed.Segment(1))})["brier"].value
    0.125
    """

    criterion: Criterion
    average: str = "macro"

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[Reliability]:
        items = Items.of_probabilities(counts)
        total = int((items.right + items.wrong).sum())
        squares = items.right * (1 - items.scores) ** 2 + items.wrong * items.scores**2
        return ClassValue(float(squares.sum() / total) if total else np.nan)
