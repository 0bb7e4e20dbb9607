"""The polyphonic sound detection score, and the PSD-ROC curves that it is read off.

A curve is a list of vertices, each with its operating point: ``scores[i]`` means that frames with
``score >= scores[i]`` are active, ``inf`` that nothing is detected. Between vertices a PSD-ROC is a
step: at an eFPR of x, the last vertex with ``efpr <= x`` holds.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._native import best_of_rates, cross_rates, mean_of_curves, step_area
from ..counting.clip_reader import thread_count
from ..counting.counts import Counts
from ..counting.tally import PRECISION
from ..criteria import Intersection
from ..criteria.criterion import as_share
from ..data.arrays import FloatArray
from ..data.times import SECONDS_PER_UNIT, TICKS_PER_SECOND
from ..definitions import LARGEST_WEIGHT, require_choice, require_flag, require_number
from ..errors import SedscopeError, listing
from ..postprocessing import PostProcessing
from ..tabular import CurveTable, ResultTable
from .metric import METRICS, RATE_OF_BEST, SHARE, Metric, PointsRead

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from polars import DataFrame as PolarsFrame

    from ..results.frames import Column


@dataclass(frozen=True, eq=False, repr=False)
class ClassPSDROC(CurveTable):
    """The PSD-ROC of one class: true positive ratio over effective false positive rate, in steps."""

    _drawing: ClassVar[str] = "plot_class_psd_roc"

    label: str
    efpr: FloatArray
    """Rising from 0; false positives per unit of time, cross-triggers included as weighted."""
    tpr: FloatArray
    scores: FloatArray
    """The operating point of each vertex: frames with ``score >= scores[i]`` are active."""
    postprocessing: tuple[PostProcessing | None, ...] | None = None
    """The post-processing of each vertex, if there were several to choose from; None for the vertex where
    nothing is detected."""
    max_efpr: float = np.inf
    """Where the curve ends; from its last vertex to there it is flat."""
    unit: str = "hour"
    """The unit of time of the rates."""
    one_point: bool = False
    """Whether all detections have one score, as in an event list without confidences."""

    def _columns(self) -> dict[str, Column]:
        columns: dict[str, Column] = {
            "class": [self.label] * len(self.efpr),
            "score": self.scores,
            "effective_false_positive_rate": self.efpr,
            "true_positive_rate": self.tpr,
        }
        if self.postprocessing is not None:
            columns["postprocessing"] = [
                None if step is None else repr(step) for step in self.postprocessing
            ]
        return columns


@dataclass(frozen=True, eq=False, repr=False)
class PSDROC(CurveTable):
    """The PSD-ROC over all classes: mean − α_ST · standard deviation of the classes' true positive
    rates, at least 0, in steps over the effective false positive rate."""

    _drawing: ClassVar[str] = "plot_psd_roc"

    efpr: FloatArray
    etpr: FloatArray
    per_class: Mapping[str, ClassPSDROC]
    max_efpr: float = np.inf
    """Where the curve ends; from its last vertex to there it is flat."""
    unit: str = "hour"
    """The unit of time of the rates."""

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per vertex: the curve over all classes, without a class,
        then the curve of each class."""
        import polars

        from ..results.frames import polars_frame

        overall = polars_frame({"class": [None] * len(self.efpr), **self._columns()})
        of_classes = [roc.to_polars() for roc in self.per_class.values()]
        return polars.concat([overall, *of_classes], how="diagonal")

    def _columns(self) -> dict[str, Column]:
        return {"effective_false_positive_rate": self.efpr, "true_positive_rate": self.etpr}

    @property
    def one_point(self) -> bool:
        """Whether all detections of each class have one score. The last vertex is then their rate."""
        return all(curve.one_point for curve in self.per_class.values())


def effective_fpr(
    counts: Counts, label: str, *, alpha_ct: float = 0.0, unit: str = "hour", rows: int | None = None
) -> FloatArray:
    """Return the effective false positive rate of a class, per row of its counts.

    It is the number of false positives per unit of time, plus ``alpha_ct`` times the mean cross-trigger
    rate. The mean is over the other classes with references; the rate is per unit of that class's
    reference time. ``rows``: how many rows, from the highest score on; all by default.
    """
    of_class = counts[label]
    rate: FloatArray = of_class.fp[:rows] / counts.duration
    if alpha_ct:
        by_name = counts.classes_by_name
        others = by_name.with_references - (counts.references[label] > 0)
        end = np.searchsorted(of_class.cross_rows, len(rate))
        places = by_name.place[of_class.cross_labels[:end]]  # the order of the classes must not matter
        crossed = np.bincount(places, minlength=len(by_name.times)) > 0
        numbers = (np.cumsum(crossed) - 1)[places]
        times, changes = by_name.times[crossed], of_class.cross_changes[:end]
        total = cross_rates(of_class.cross_rows[:end], numbers, changes, times, len(rate))
        rate += alpha_ct * total / max(1, others)
    return rate * SECONDS_PER_UNIT[unit]


def class_psd_roc(
    counts: Counts,
    label: str,
    *,
    alpha_ct: float = 0.0,
    unit: str = "hour",
    max_efpr: float = np.inf,
    oracle: bool = True,
) -> ClassPSDROC:
    """Return the PSD-ROC of a class up to ``max_efpr``.

    ``oracle``: at each rate, the best true positive ratio of any operating point with at most that rate;
    otherwise that of the operating point with the highest rate, so that the curve may fall.
    """
    of_class = counts[label]
    of_class.require_reach("The PSD-ROC", max_efpr / SECONDS_PER_UNIT[unit] * counts.duration)
    if alpha_ct or not oracle:
        of_class.require_rows("The PSD-ROC")
    length = len(of_class.scores)
    if np.isfinite(max_efpr):  # below the last row with few false positives, all rates are too high
        few = max_efpr * (1 + PRECISION) / SECONDS_PER_UNIT[unit] * counts.duration + 1
        below = np.flatnonzero(of_class.fp <= few)
        length = int(below[-1]) + 1 if len(below) else 0
    efpr = effective_fpr(counts, label, alpha_ct=alpha_ct, unit=unit, rows=length)
    highest = max_efpr * (1 + PRECISION)
    if oracle:
        rows = best_of_rates(np.ascontiguousarray(of_class.tp[:length], np.int64), efpr, highest)
        x = np.minimum(efpr[rows], max_efpr)
    else:
        rows = np.flatnonzero(efpr <= highest)
        rows = rows[np.lexsort((-of_class.tp[rows], efpr[rows]))]
        rows = _best_of_each_rate(counts, label, alpha_ct, rows, efpr)
        x = np.minimum(np.maximum.accumulate(efpr[rows]), max_efpr)
        last_at_x = np.append(x[1:] > x[:-1], True)[: len(x)]
        rows, x = rows[last_at_x], x[last_at_x]
        tp = of_class.tp[rows]
        changed = tp != np.concatenate([[0], tp[:-1]])[: len(tp)]
        rows, x = rows[changed], x[changed]
    tpr = of_class.tp[rows] / max(1, of_class.references)
    scores = of_class.scores[rows].astype(np.float64)
    if not len(x) or x[0] > 0:  # with nothing detected the curve starts at 0
        x, tpr = np.concatenate([[0.0], x]), np.concatenate([[0.0], tpr])
        scores = np.concatenate([[np.inf], scores])
    return ClassPSDROC(
        label, x, tpr, scores, max_efpr=max_efpr, unit=unit, one_point=len(of_class.scores) <= 1
    )


def _best_of_each_rate(
    counts: Counts, label: str, alpha_ct: float, rows: NDArray[np.intp], efpr: FloatArray
) -> NDArray[np.intp]:
    """Return the row with the most true positives of each rate, by increasing rate.

    ``rows``: by increasing ``efpr``. Rates that may differ only by rounding are compared as fractions.
    """
    of_class, x = counts[label], efpr[rows]
    apart = x[1:] - x[:-1] > (len(counts) + 8) * np.finfo(np.float64).eps * x[1:]
    group = np.cumsum(np.append(0, apart))[: len(x)]
    within = np.zeros_like(group)
    if alpha_ct:
        # random numbers, added up: equal sums stand for equal counts of false positives and cross-triggers
        numbers = np.random.default_rng(0).integers(2**63, size=len(of_class.classes) + 1)
        changes = np.zeros(len(of_class.fp), np.int64)
        np.add.at(changes, of_class.cross_rows, of_class.cross_changes * numbers[of_class.cross_labels])
        sums = (np.cumsum(changes) + of_class.fp * numbers[-1])[rows]
        doubtful = np.isin(group, group[1:][~apart & (sums[1:] != sums[:-1])])
        exact = _exact_rates(counts, label, alpha_ct, rows[doubtful])
        place = {rate: i for i, rate in enumerate(sorted({*exact}))}
        within[doubtful] = [place[rate] for rate in exact]
    order = np.lexsort((-of_class.tp[rows], within, group))
    first = np.append(True, (np.diff(group[order]) > 0) | (np.diff(within[order]) > 0))[: len(x)]
    return rows[order][first]


def _exact_rates(counts: Counts, label: str, alpha_ct: float, rows: NDArray[np.intp]) -> list[Fraction]:
    """Return the effective false positive rates of some rows per microsecond, without rounding."""
    of_class, duration = counts[label], round(counts.duration * TICKS_PER_SECOND)
    others = counts.classes_by_name.with_references - (counts.references[label] > 0)
    weight = Fraction(*as_share(alpha_ct)) / max(1, others)
    times = [round(counts.reference_times[name] * TICKS_PER_SECOND) for name in of_class.classes]
    crossed, done, exact = np.zeros(len(times), np.int64), 0, {}
    for row in np.sort(rows).tolist():
        end = int(np.searchsorted(of_class.cross_rows, row, side="right"))
        np.add.at(crossed, of_class.cross_labels[done:end], of_class.cross_changes[done:end])
        done = end
        total = sum(Fraction(int(crossed[m]), times[m]) for m in np.flatnonzero(crossed))
        exact[row] = Fraction(int(of_class.fp[row]), duration) + weight * total
    return [exact[row] for row in rows.tolist()]


def best_of(curves: Sequence[ClassPSDROC], postprocessing: Sequence[PostProcessing]) -> ClassPSDROC:
    """Return the best of several curves of one class at each rate; of equally good ones, the first."""
    efpr = np.concatenate([curve.efpr for curve in curves])
    tpr = np.concatenate([curve.tpr for curve in curves])
    scores = np.concatenate([curve.scores for curve in curves])
    source = np.repeat(np.arange(len(curves)), [len(curve.efpr) for curve in curves])
    order = np.lexsort((source, -tpr, efpr))
    best = np.concatenate([[-1.0], np.maximum.accumulate(tpr[order])[:-1]])
    kept = order[tpr[order] > best]
    return ClassPSDROC(
        curves[0].label,
        efpr[kept],
        tpr[kept],
        scores[kept],
        tuple(
            postprocessing[i] if np.isfinite(score) or rate > 0 else None
            for i, score, rate in zip(source[kept].tolist(), scores[kept], tpr[kept], strict=True)
        ),
        curves[0].max_efpr,
        curves[0].unit,
    )


def psd_roc(
    rocs: Iterable[ClassPSDROC], *, alpha_st: float = 0.0, unit: str = "hour", max_efpr: float = np.inf
) -> PSDROC:
    """Combine the curves of the classes, in any order. They have this unit, and end at ``max_efpr``."""
    per_class = {roc.label: roc for roc in sorted(rocs, key=lambda roc: roc.label)}
    efpr = _distinct(np.concatenate([[0.0], *(roc.efpr for roc in per_class.values())]))
    etpr = np.full(len(efpr), np.nan)
    if per_class:
        rates, ratios = (
            [np.ascontiguousarray(getattr(roc, name), np.float64) for roc in per_class.values()]
            for name in ("efpr", "tpr")
        )
        etpr = mean_of_curves(rates, ratios, efpr, alpha_st, thread_count(None))
    return PSDROC(efpr, etpr, per_class, max_efpr, unit)


def _distinct(rates: FloatArray) -> FloatArray:
    """Return the distinct rates in increasing order. ``np.unique`` would load ``numpy.ma`` for this."""
    rates = np.sort(rates)
    return rates[np.append(True, rates[1:] != rates[:-1])]


@dataclass(frozen=True, eq=False, repr=False)
class ClassPSDS:
    """The PSDS of one class: the area under its own curve."""

    value: float
    curve: ClassPSDROC

    def __repr__(self) -> str:
        return f"<ClassPSDS: {self.value:.4f}>"

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve with matplotlib, on ``ax`` or on new axes, and return the axes."""
        return self.curve.plot(ax, **options)


@dataclass(frozen=True, eq=False, repr=False)
class PSDSResult(ResultTable[ClassPSDS]):
    """A PSDS with the curves that it is read off."""

    value: float
    curve: PSDROC
    per_class: Mapping[str, ClassPSDS]
    metric: PSDS
    name: str | None = None
    """The name of the metric in the evaluation, for titles."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """Empty: a PSDS is read off all thresholds."""
        return {}

    def plot(self, ax: Axes | None = None, *, per_class: bool = True, **options: Any) -> Axes:
        """Draw the PSD-ROC over all classes and those of the classes, from 0 to ``max_efpr``.

        See :meth:`sedscope.metrics.ClasswiseResult.plot`.
        """
        from ..plots.plot import plot_result

        classes = {label: self.curve.per_class.get(label) for label in self.per_class}
        return plot_result(self, classes, lambda: self.curve, ax, per_class, options)


@METRICS.register
@dataclass(frozen=True, repr=False)
class PSDS(Metric[PSDSResult]):
    """Polyphonic sound detection score (Bilen et al., ICASSP 2020), over all thresholds (Ebbers et
    al., "Threshold Independent Evaluation of Sound Event Detection Scores", ICASSP 2022).

    The score is the area under the PSD-ROC up to ``max_efpr``, divided by ``max_efpr``.

    Parameters
    ----------
    criterion : Intersection, or OfLength of one
        What counts as found.
    alpha_ct : float, default 0.0
        The weight of cross-triggers in the false positive rate. The criterion then needs a ``cttc``.
    alpha_st : float, default 0.0
        The weight of the standard deviation between classes, which is subtracted from their mean.
    max_efpr : float, default 100.0
        The largest effective false positive rate, per ``unit``.
    unit : {"hour", "minute", "second"}, default "hour"
        The unit of time of the rate.
    oracle : bool, default True
        Take at each rate the best operating point up to that rate. False keeps operating points that
        find less at a higher rate.

    Examples
    --------
    >>> from sedscope import Intersection
    >>> PSDS(Intersection(0.7, 0.7), alpha_st=1)
    PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_ct=0, alpha_st=1, max_efpr=100, unit='hour')
    """

    criterion: Intersection
    alpha_ct: float = 0.0
    alpha_st: float = 0.0
    max_efpr: float = 100.0
    unit: str = "hour"
    oracle: bool = True

    bias_rate: ClassVar[float] = RATE_OF_BEST
    bounds: ClassVar[tuple[float, float] | None] = SHARE

    def __post_init__(self) -> None:
        criterion = getattr(self.criterion, "unwrapped", None)
        if not isinstance(criterion, Intersection):
            raise SedscopeError(f"PSDS needs an Intersection criterion, not {self.criterion!r}.")
        require_number(self, "alpha_ct", at_least=0, at_most=LARGEST_WEIGHT)
        require_number(self, "alpha_st", at_least=0, at_most=LARGEST_WEIGHT)
        require_number(self, "max_efpr", above=0)
        require_choice(self, "unit", SECONDS_PER_UNIT)
        require_flag(self, "oracle")
        if self.alpha_ct > 0 and criterion.cttc is None:
            raise SedscopeError(
                f"alpha_ct={self.alpha_ct:g} weights cross-triggers, so the criterion needs a cttc, e.g. "
                f"Intersection(dtc={criterion.dtc:g}, gtc={criterion.gtc:g}, cttc=0.3)."
            )

    @property
    def false_positive_limit(self) -> float:
        """False positives per second at ``max_efpr``."""
        return self.max_efpr / SECONDS_PER_UNIT[self.unit]

    @property
    def points_read(self) -> PointsRead:
        """All points where cross-triggers count, because their number may fall while nothing else changes,
        and where the curve may fall (``oracle=False``)."""
        return "all" if self.alpha_ct > 0 or not self.oracle else "extremes"

    @property
    def psd_roc(self) -> PSDS:
        return self

    def tuning_note(self) -> str | None:
        if self.alpha_st == 0:
            return None
        return (
            "Each class is tuned for its own PSDS. The overall PSDS subtracts the deviation between "
            "classes, so it need not be the largest possible."
        )

    def measure(self, counts: Counts) -> PSDSResult:
        """Read the score and its curves off the counts."""
        rocs = self.class_curves(counts)
        curve = psd_roc(
            (roc for label, roc in rocs.items() if counts.references[label]),
            alpha_st=self.alpha_st,
            unit=self.unit,
            max_efpr=self.max_efpr,
        )
        per_class = {
            label: ClassPSDS(self._area(roc.efpr, roc.tpr) if counts.references[label] else np.nan, roc)
            for label, roc in rocs.items()
        }
        return PSDSResult(self._area(curve.efpr, curve.etpr), curve, per_class, self)

    def class_curves(self, counts: Counts) -> dict[str, ClassPSDROC]:
        """Return the PSD-ROC of each class up to ``max_efpr``.

        Parameters
        ----------
        counts : Counts
            The counts of the metric's criterion.

        Returns
        -------
        dict of str to ClassPSDROC
        """
        return counts.of_each_class(partial(self.class_curve, counts))

    def class_curve(self, counts: Counts, label: str) -> ClassPSDROC:
        """Return the PSD-ROC of a class up to ``max_efpr``.

        Parameters
        ----------
        counts : Counts
            The counts of the metric's criterion.
        label : str
            The class.

        Returns
        -------
        ClassPSDROC

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.presets.PSDS1.criterion).counts()
        >>> sed.presets.PSDS1.class_curve(counts, "Dog").tpr.tolist()
        [1.0]
        """
        known: ClassPSDROC | None = counts[label].curves.get(self)
        return known or class_psd_roc(
            counts,
            label,
            alpha_ct=self.alpha_ct,
            unit=self.unit,
            max_efpr=self.max_efpr,
            oracle=self.oracle,
        )

    def _area(self, efpr: FloatArray, tpr: FloatArray) -> float:
        return step_area(efpr, tpr, self.max_efpr) / self.max_efpr


@METRICS.register
@dataclass(frozen=True, repr=False)
class PiPSDS(PSDS):
    """Post-processing independent PSDS (Ebbers, Haeb-Umbach and Serizel, "Post-Processing Independent
    Evaluation of Sound Event Detection Systems", DCASE 2023).

    For each class, the operating points of all post-processings are taken together: at each rate, the
    best true positive ratio of any post-processing counts. The rest is as for :class:`PSDS`. The curve
    of a class says to which post-processing each of its vertices belongs.

    Parameters
    ----------
    postprocessing : post-processing, sequence of them, or str
        The post-processings to choose from, or a sweep as text. A sweep over median filters gives the
        median-filter independent PSDS.
    criterion, alpha_ct, alpha_st, max_efpr, unit
        As for :class:`PSDS`.

    Examples
    --------
    >>> from sedscope import Intersection
    >>> PiPSDS(Intersection(0.7, 0.7), postprocessing="MedianFilter(0..0.4/0.2)").variants
    (MedianFilter(seconds=0), MedianFilter(seconds=0.2), MedianFilter(seconds=0.4))
    """

    postprocessing: PostProcessing | Sequence[PostProcessing] | str = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        from ..postprocessing import as_postprocessings

        chosen = as_postprocessings(self.postprocessing)
        if not chosen:
            raise SedscopeError(
                "PiPSDS needs post-processings, e.g. postprocessing='MedianFilter(0..1/0.1)'."
            )
        if not self.oracle:
            raise SedscopeError("PiPSDS takes the best operating points: oracle=False is not defined.")
        object.__setattr__(self, "postprocessing", chosen)

    @property
    def variants(self) -> tuple[PostProcessing, ...]:
        """The post-processings to choose from."""
        assert isinstance(self.postprocessing, tuple)
        return self.postprocessing

    def measure(self, counts: Counts) -> PSDSResult:
        """Read the score and its curves off the counts of all post-processings."""
        require_variants(self.variants, counts.variants)
        return super().measure(counts)

    def class_curves(self, counts: Counts) -> dict[str, ClassPSDROC]:
        """Return the best curve of all post-processings, of each class."""
        curve = super().class_curve
        of_variants = [
            variant.of_each_class(partial(curve, variant))
            for variant in (counts.variants[v] for v in self.variants)
        ]
        return {
            label: best_of([curves[label] for curves in of_variants], self.variants) for label in counts
        }

    def class_curve(self, counts: Counts, label: str) -> ClassPSDROC:
        """Return the best curve of all post-processings; of equally good ones, the first."""
        curve = super().class_curve
        curves = [curve(counts.variants[variant], label) for variant in self.variants]
        return best_of(curves, self.variants)


def require_variants(needed: Iterable[PostProcessing], known: Container[PostProcessing]) -> None:
    """Refuse counts or deltas that lack a post-processing."""
    missing = [repr(variant) for variant in needed if variant not in known]
    if missing:
        raise SedscopeError(
            f"There are no counts for {listing(missing)}. Pass them to sedscope.deltas as postprocessing=."
        )
