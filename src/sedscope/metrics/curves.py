"""Curves read off the counts of a class (or of all classes together).

A curve is a list of operating points: ``scores[i]`` means that frames with ``score >= scores[i]`` are
active; the first one is ``inf``, where nothing is detected, and scores decrease from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision and recall at every operating point."""

    scores: FloatArray
    precision: FloatArray
    recall: FloatArray

    def average_precision(self) -> float:
        """The sum of precision · (step of recall) over the recalls that occur, in steps; at a recall
        that several operating points have, the best precision counts."""
        order = np.lexsort((-self.precision, self.recall))
        recall, first = np.unique(self.recall[order], return_index=True)
        return float(np.sum(self.precision[order][first][1:] * np.diff(recall)))

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw precision over recall with matplotlib, on ``ax`` or new axes, which are returned.

        ``options`` go to matplotlib, e.g. ``label=`` or ``color=``.
        """
        from ..plots.curves import plot_precision_recall

        return plot_precision_recall(self, ax, options)


@dataclass(frozen=True, eq=False)
class ROCCurve:
    """True positive rate over false positive rate."""

    scores: FloatArray
    fpr: FloatArray
    tpr: FloatArray

    def area(self, max_fpr: float | None = None, *, mcclish: bool = False) -> float:
        """The area under the curve, straight lines between operating points.

        ``max_fpr``: only up to there, divided by it, or with ``mcclish`` rescaled so that 0.5 is chance
        and 1 perfect.
        """
        if np.isnan(self.fpr).any() or np.isnan(self.tpr).any():
            return np.nan
        end = 1.0 if max_fpr is None else max_fpr
        level = self.tpr[1:] == self.tpr[:-1]
        within = np.concatenate([[False], level[1:] & level[:-1], [False]])
        all_fpr, all_tpr = self.fpr[~within], self.tpr[~within]  # the turning points
        inside = int(np.searchsorted(all_fpr, end, side="right"))
        fpr, tpr = all_fpr[:inside], all_tpr[:inside]
        if fpr[-1] < end:  # the line to the next point is cut
            crossing = slice(inside - 1, inside + 1)
            tpr = np.append(tpr, np.interp(end, all_fpr[crossing], all_tpr[crossing]))
            fpr = np.append(fpr, end)
        area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
        if mcclish and max_fpr is not None:
            chance = end * end / 2
            return 0.5 * (1 + (area - chance) / (end - chance))
        return area / end

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw it with matplotlib, see :meth:`PrecisionRecallCurve.plot`."""
        from ..plots.curves import plot_roc

        return plot_roc(self, ax, options)


@dataclass(frozen=True, eq=False)
class DETCurve:
    """False negative rate over false positive rate (detection error tradeoff)."""

    scores: FloatArray
    fpr: FloatArray
    fnr: FloatArray

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw it with matplotlib, see :meth:`PrecisionRecallCurve.plot`."""
        from ..plots.curves import plot_det

        return plot_det(self, ax, options)


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """A quantity at every operating point."""

    scores: FloatArray
    values: FloatArray

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw it with matplotlib, see :meth:`PrecisionRecallCurve.plot`."""
        from ..plots.curves import plot_threshold_curve

        return plot_threshold_curve(self, ax, options)


def operating_scores(counts: ClassCounts) -> FloatArray:
    """The scores of the operating points of the counts' tally."""
    return np.concatenate([[np.inf], counts.scores.astype(np.float64)])


def precision_recall_curve(counts: ClassCounts) -> PrecisionRecallCurve:
    """Precision over recall."""
    tally = counts.tally()
    return PrecisionRecallCurve(operating_scores(counts), tally.precision, tally.recall)


def roc_curve(counts: ClassCounts) -> ROCCurve:
    """The ROC of segments or clips. It ends at (1, 1): below all scores everything is detected."""
    tally = counts.tally()
    scores, fpr, tpr = operating_scores(counts), tally.fpr, tally.recall
    if fpr[-1] < 1 or tpr[-1] < 1:  # segments without any score are detected last
        scores, fpr, tpr = np.append(scores, -np.inf), np.append(fpr, 1.0), np.append(tpr, 1.0)
    return ROCCurve(scores, fpr, tpr)


def det_curve(counts: ClassCounts) -> DETCurve:
    """Misses over false alarms of segments or clips."""
    roc = roc_curve(counts)
    return DETCurve(roc.scores, roc.fpr, 1 - roc.tpr)


def fscore_curve(counts: ClassCounts, beta: float = 1.0) -> ThresholdCurve:
    """The F-score at every operating point."""
    return ThresholdCurve(operating_scores(counts), counts.tally().fscore(beta))


def error_rate_curve(counts: ClassCounts) -> ThresholdCurve:
    """The error rate at every operating point."""
    return ThresholdCurve(operating_scores(counts), counts.tally().error_rate)
