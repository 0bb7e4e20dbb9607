"""Curves read off the counts of a class, or of all classes together, and means of curves.

A curve is a list of operating points: ``scores[i]`` means that frames with ``score >= scores[i]`` are
active. The first score is ``inf``, where nothing is detected; from there scores decrease.

A mean over classes is taken in the vertical direction: the area under a mean curve is the mean of the areas,
so an averaged metric can be read off it. Its vertices combine different operating points of the classes,
except for quantities over the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..counting.counts import ClassCounts
from ..counting.tally import PRECISION, first_minimum_of_runs
from ..data.arrays import FloatArray, IntArray
from ..tabular import CurveTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.frames import Column

__all__ = [
    "Curve",
    "DETCurve",
    "FROCBand",
    "FROCCurve",
    "PrecisionRecallCurve",
    "ROCCurve",
    "ThresholdCurve",
    "det_curve",
    "error_rate_curve",
    "froc_curve",
    "fscore_curve",
    "precision_recall_curve",
    "roc_curve",
]


class Curve(Protocol):
    """Anything that a value is read off and that can be drawn."""

    @property
    def one_point(self) -> bool:
        """Whether all detections have one score, as in an event list without confidences."""

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve with matplotlib, on ``ax`` or on new axes, and return the axes."""


class _ScoredCurve(CurveTable):
    """A curve with a score for each operating point."""

    scores: FloatArray
    mean_point: tuple[float, float] | None = None

    @property
    def one_point(self) -> bool:
        """Whether all detections have one score, as in an event list without confidences.

        Before it nothing is detected; at ``-inf``, below all scores, everything is. A mean curve, whose
        vertices have no scores (NaN), is one point if those of all classes are.
        """
        if np.isnan(self.scores).any():
            return self.mean_point is not None
        return bool(np.count_nonzero(self.scores > -np.inf) <= 2)


def area_in_steps(recall: FloatArray, precision: FloatArray, interpolation: str) -> float:
    """Return the area under the best precision at each recall, in steps. The first recall is 0."""
    if interpolation == "voc":
        precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(precision[1:] * np.diff(recall)))


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(_ScoredCurve):
    """Precision and recall at every operating point."""

    _drawing: ClassVar[str] = "plot_precision_recall"

    scores: FloatArray
    precision: FloatArray
    recall: FloatArray
    mean_point: tuple[float, float] | None = None
    """If this is the mean of curves of one point each: the mean recall and precision there."""

    def average_precision(self, interpolation: str = "step") -> float:
        """Return the area under the curve, in steps: the sum of precision · (step of recall).

        Where several operating points have the same recall, the best precision counts. With
        ``interpolation="voc"``, it is the best one at the same or a higher recall.
        """
        order = np.lexsort((-self.precision, self.recall))
        recall, first = np.unique(self.recall[order], return_index=True)
        return area_in_steps(recall, self.precision[order][first], interpolation)

    def _columns(self) -> dict[str, Column]:
        return {"score": self.scores, "precision": self.precision, "recall": self.recall}


@dataclass(frozen=True, eq=False, repr=False)
class ROCCurve(_ScoredCurve):
    """True positive rate over false positive rate."""

    _drawing: ClassVar[str] = "plot_roc"

    scores: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    mean_point: tuple[float, float] | None = None
    """If this is the mean of curves of one point each: the mean fpr and tpr there."""

    def area(self, max_fpr: float | None = None, *, mcclish: bool = False) -> float:
        """Return the area under the curve, with straight lines between operating points.

        ``max_fpr``: take only the area up to this rate, and divide it by the rate, or with ``mcclish``
        rescale it so that chance gives 0.5 and a perfect system 1.
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

    def _columns(self) -> dict[str, Column]:
        return {"score": self.scores, "false_positive_rate": self.fpr, "true_positive_rate": self.tpr}


@dataclass(frozen=True, eq=False, repr=False)
class DETCurve(_ScoredCurve):
    """False negative rate over false positive rate (detection error tradeoff)."""

    _drawing: ClassVar[str] = "plot_det"

    scores: FloatArray
    fpr: FloatArray
    fnr: FloatArray

    def _columns(self) -> dict[str, Column]:
        return {"score": self.scores, "false_positive_rate": self.fpr, "false_negative_rate": self.fnr}


@dataclass(frozen=True, eq=False)
class FROCBand:
    """The interval of the recall at some rates of false alarms, from resamples of the clips."""

    per_hour: FloatArray
    """False alarms per hour of recording, rising from 0."""
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class FROCCurve(CurveTable):
    """The best recall over false alarms per hour (free-response ROC), in steps.

    At a rate of x, the last vertex with ``per_hour <= x`` holds: the operating point with the best recall
    of all with at most x false alarms per hour.
    """

    scores: FloatArray
    """The operating point of each vertex: frames with ``score >= scores[i]`` are active."""
    per_hour: FloatArray
    """False alarms per hour of recording, rising from 0."""
    recall: FloatArray
    hours: float
    """The duration of all clips. Their rates are multiples of 1 / hours."""
    one_point: bool = False
    """Whether all detections have one score, as in an event list without confidences."""
    band: FROCBand | None = None
    """The interval of the recall, if the clips were resampled."""
    always_on: int | None = None
    """The first vertex at which detections have merged, so that the detector is nearly always on: some higher
    threshold has at least twice as many false alarms, and no lower one has more. None if there is none."""
    per: str = "hour"
    """The unit of recording time on the axis of a plot, ``"hour"`` or ``"day"``."""

    def _columns(self) -> dict[str, Column]:
        return {"score": self.scores, "false_alarms_per_hour": self.per_hour, "recall": self.recall}

    def recall_at(self, per_hour: ArrayLike) -> FloatArray:
        """Return the best recall within each number of false alarms per hour."""
        rows = np.searchsorted(self.per_hour, np.asarray(per_hour) * (1 + PRECISION), side="right")
        return self.recall[rows - 1]

    def plot(
        self, ax: Axes | None = None, *, log: bool = True, per: str | None = None, **options: Any
    ) -> Axes:
        """Draw the curve with matplotlib; see :meth:`ROCCurve.plot`.

        ``log``: draw the false alarms on a logarithmic axis. It begins at half a false alarm in all
        clips, where the recall without any is drawn. ``per``: draw false alarms per ``"hour"`` or ``"day"``,
        by default as the metric counts them. A ring marks the vertex from which the detector is nearly
        always on.
        """
        from ..plots.curves import plot_froc

        return plot_froc(self, ax, options, log=log, per=self.per if per is None else per)


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(_ScoredCurve):
    """A quantity at every operating point."""

    _drawing: ClassVar[str] = "plot_threshold_curve"

    scores: FloatArray
    values: FloatArray
    quantity: str = "value"
    """What the values are, such as ``F1-score``."""

    def _columns(self) -> dict[str, Column]:
        return {"score": self.scores, "value": self.values}


def operating_scores(counts: ClassCounts) -> FloatArray:
    """Return the scores of the operating points of a class: ``inf`` first, then one per row."""
    return np.concatenate([[np.inf], counts.scores.astype(np.float64)])


def require_all_points(counts: ClassCounts) -> None:
    """Refuse counts that lack operating points: a curve of the others would be another one."""
    counts.require_rows("A curve")
    counts.require_reach("A curve")


def precision_recall_curve(counts: ClassCounts) -> PrecisionRecallCurve:
    """Return precision over recall.

    Parameters
    ----------
    counts : ClassCounts
        The counts of a class, or of all classes together (:meth:`~sedscope.Counts.pooled`).

    Returns
    -------
    PrecisionRecallCurve
    """
    require_all_points(counts)
    return precision_recall_points(counts)


def precision_recall_points(counts: ClassCounts) -> PrecisionRecallCurve:
    """Return precision over recall at the rows that there are."""
    tally = counts.tally()
    return PrecisionRecallCurve(operating_scores(counts), tally.precision, tally.recall)


def roc_curve(counts: ClassCounts) -> ROCCurve:
    """Return the ROC of segments or clips. It ends at (1, 1): below all scores everything is detected.

    Parameters
    ----------
    counts : ClassCounts
        The counts of a class, or of all classes together (:meth:`~sedscope.Counts.pooled`).

    Returns
    -------
    ROCCurve
    """
    require_all_points(counts)
    return roc_points(counts)


def roc_points(counts: ClassCounts) -> ROCCurve:
    """Return the ROC at the rows that there are, and its end at (1, 1)."""
    tally = counts.tally()
    scores, fpr, tpr = operating_scores(counts), tally.fpr, tally.recall
    if fpr[-1] < 1 or tpr[-1] < 1:  # segments without any score are detected last
        scores, fpr, tpr = np.append(scores, -np.inf), np.append(fpr, 1.0), np.append(tpr, 1.0)
    return ROCCurve(scores, fpr, tpr)


def det_curve(counts: ClassCounts) -> DETCurve:
    """Return misses over false alarms, of segments or clips.

    Parameters
    ----------
    counts : ClassCounts
        The counts of a class, or of all classes together (:meth:`~sedscope.Counts.pooled`).

    Returns
    -------
    DETCurve
    """
    roc = roc_curve(counts)
    return DETCurve(roc.scores, roc.fpr, 1 - roc.tpr)


def froc_rows(tp: IntArray, fp: IntArray) -> NDArray[np.intp]:
    """Return the operating points on the FROC curve, in the order of their false positives.

    Each has more true positives than all operating points with as many or fewer false positives.
    """
    cheapest = first_minimum_of_runs(tp, fp)  # the others of a run have as many true positives
    order = cheapest[np.lexsort((-tp[cheapest], fp[cheapest]))]
    most = np.maximum.accumulate(tp[order])
    return order[np.concatenate([[True], tp[order][1:] > most[:-1]])]


def always_on_vertex(fp: IntArray, rows: NDArray[np.intp]) -> int | None:
    """Return the first vertex of a FROC curve at which detections have merged; see :class:`FROCCurve`.

    ``fp``: at every operating point. ``rows``: the operating points of the vertices.

    >>> always_on_vertex(np.array([0, 4, 9, 8, 1]), np.array([0, 4, 1]))
    1
    """
    peak = len(fp) - 1 - int(np.argmax(fp[::-1]))
    merged = (rows > peak) & (2 * fp[rows] <= fp[peak])
    return int(np.argmax(merged)) if merged.any() else None


def froc_curve(counts: ClassCounts, hours: float, per: str = "hour") -> FROCCurve:
    """Return the best recall over false alarms per hour (FROC).

    Parameters
    ----------
    counts : ClassCounts
        The counts of a class, or of all classes together (:meth:`~sedscope.Counts.pooled`).
    hours : float
        The duration of all clips, ``counts.hours``.
    per : {"hour", "day"}, default "hour"
        The unit of recording time in which the curve is drawn.

    Returns
    -------
    FROCCurve

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.1], [0.4]]}, classes=["Dog"], frame=900.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(2700, 3600, "Dog")]}, durations={"a": 3600})
    >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
    >>> curve = sed.curves.froc_curve(counts["Dog"], counts.hours)
    >>> curve.per_hour.tolist(), curve.recall.tolist()
    ([0.0, 1.0], [0.0, 1.0])
    """
    require_all_points(counts)
    tally = counts.tally()
    tp, fp = np.asarray(tally.tp), np.asarray(tally.fp)
    rows = froc_rows(tp, fp)
    one_point = len(counts.scores) <= 1
    if one_point and rows[-1] != len(tp) - 1:  # it finds nothing, but has false alarms
        rows = np.append(rows, len(tp) - 1)
    per_hour = np.asarray(tally.false_alarms_per_hour(hours))
    return FROCCurve(
        operating_scores(counts)[rows],
        per_hour[rows],
        np.asarray(tally.recall)[rows],
        hours,
        one_point,
        always_on=None if one_point else always_on_vertex(fp, rows),
        per=per,
    )


def fscore_curve(counts: ClassCounts, beta: float = 1.0) -> ThresholdCurve:
    """Return the F-score at every operating point.

    Parameters
    ----------
    counts : ClassCounts
        The counts of a class, or of all classes together (:meth:`~sedscope.Counts.pooled`).
    beta : float, default 1.0
        The weight of recall.

    Returns
    -------
    ThresholdCurve
    """
    require_all_points(counts)
    return ThresholdCurve(operating_scores(counts), counts.tally().fscore(beta), fscore_name(beta))


def fscore_name(beta: float) -> str:
    """Return what an F-score is called.

    >>> fscore_name(1.0), fscore_name(0.5)
    ('F1-score', 'F-score (β = 0.5)')
    """
    return "F1-score" if beta == 1 else f"F-score (β = {beta:g})"


def error_rate_curve(counts: ClassCounts) -> ThresholdCurve:
    """Return the error rate at every operating point.

    Parameters
    ----------
    counts : ClassCounts
        The counts of a class, or of all classes together (:meth:`~sedscope.Counts.pooled`).

    Returns
    -------
    ThresholdCurve
    """
    require_all_points(counts)
    return ThresholdCurve(operating_scores(counts), counts.tally().error_rate, "error rate")


AnyCurve = TypeVar("AnyCurve", bound=Curve)


def mean_precision_recall(
    curves: Sequence[PrecisionRecallCurve], weights: Sequence[float]
) -> PrecisionRecallCurve:
    """Return the mean precision at each recall, in steps. Its scores are not defined (NaN).

    A class has, up to each recall that it reaches, its best precision there, as in the average precision;
    beyond its largest recall the precision is 0.
    """
    recall = np.unique(np.concatenate([curve.recall for curve in curves]))

    def precision_at_recall(curve: PrecisionRecallCurve) -> FloatArray:
        order = np.lexsort((-curve.precision, curve.recall))
        reached, best = np.unique(curve.recall[order], return_index=True)
        steps = np.append(curve.precision[order][best], 0.0)
        return steps[np.searchsorted(reached, recall)]

    precision = _mean(curves, weights, precision_at_recall)
    point = None
    if all(curve.one_point for curve in curves):
        rows = [_only_row(curve.scores) for curve in curves]
        recalls = [curve.recall[row] for curve, row in zip(curves, rows, strict=True)]
        # a class that is never detected has no precision
        precisions = [c.precision[row] if row else np.nan for c, row in zip(curves, rows, strict=True)]
        point = _mean_of_defined(recalls, weights), _mean_of_defined(precisions, weights)
    return PrecisionRecallCurve(np.full(len(recall), np.nan), precision, recall, point)


def mean_roc(curves: Sequence[ROCCurve], weights: Sequence[float]) -> ROCCurve:
    """Return the mean true positive rate at each false positive rate. Its scores are not defined (NaN)."""
    rates = np.unique(np.concatenate([curve.fpr for curve in curves]))
    tpr = _mean(curves, weights, lambda curve: _tpr_around(curve, rates)).ravel()
    fpr = np.repeat(rates, 2)
    kept = np.append(True, (np.diff(fpr) > 0) | (np.diff(tpr) > 0))  # no vertex twice
    point = None
    if all(curve.one_point for curve in curves):
        rows = [_only_row(curve.scores) for curve in curves]
        only_points = [(curve.fpr[row], curve.tpr[row]) for curve, row in zip(curves, rows, strict=True)]
        mean_fpr, mean_tpr = (
            _mean_of_defined(rates, weights) for rates in zip(*only_points, strict=True)
        )
        point = mean_fpr, mean_tpr
    return ROCCurve(np.full(int(kept.sum()), np.nan), fpr[kept], tpr[kept], point)


def _only_row(scores: FloatArray) -> int:
    """Return the vertex of a curve of one point; 0 if nothing is detected."""
    return int(np.flatnonzero(scores > -np.inf)[-1])


def _mean_of_defined(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted mean of the values that are not NaN; NaN if none is."""
    defined = ~np.isnan(values)
    chosen = np.asarray(weights)[defined]
    return float(np.average(np.asarray(values)[defined], weights=chosen)) if chosen.any() else np.nan


def _tpr_around(curve: ROCCurve, rates: FloatArray) -> FloatArray:
    """Return the true positive rates just before and at each false positive rate, as (rates × 2)."""
    first = np.searchsorted(curve.fpr, rates, side="left")
    last = np.searchsorted(curve.fpr, rates, side="right") - 1
    vertices = curve.tpr[np.stack([first, last], axis=1)]
    between = np.interp(rates, curve.fpr, curve.tpr)[:, None]
    return np.where((first <= last)[:, None], vertices, between)


def mean_threshold_curve(curves: Sequence[ThresholdCurve], weights: Sequence[float]) -> ThresholdCurve:
    """Return the mean of a quantity, with all classes at the same threshold."""
    scores = np.unique(np.concatenate([curve.scores for curve in curves]))[::-1]

    def values_at_scores(curve: ThresholdCurve) -> FloatArray:
        return curve.values[np.searchsorted(-curve.scores, -scores, side="right") - 1]

    mean = _mean(curves, weights, values_at_scores)
    return ThresholdCurve(scores, mean, f"mean {curves[0].quantity}")


def _mean(
    curves: Sequence[AnyCurve], weights: Sequence[float], values_of: Callable[[AnyCurve], FloatArray]
) -> FloatArray:
    """Return the weighted mean of what a function makes of the curves, holding few of them at once."""
    parts = (weight * values_of(curve) for curve, weight in zip(curves, weights, strict=True))
    return reduce(np.add, parts) / sum(weights)
