"""The polyphonic sound detection score."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting.counts import Counts
from ..criteria import Intersection
from ..data.arrays import FloatArray
from ..data.times import SECONDS_PER_UNIT
from ..definitions import LARGEST_WEIGHT, require_choice, require_flag, require_number
from ..errors import SedscopeError, listing
from ..postprocessing import PostProcessing
from ..tabular import ResultTable
from .metric import METRICS, Metric, PointsRead
from .psd_roc import (
    PSDROC,
    ClassPSDROC,
    PSDROCParameters,
    best_of,
    class_psd_roc,
    psd_roc,
    step_area,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    def psd_roc(self) -> PSDROCParameters:
        return PSDROCParameters(self.alpha_ct, self.alpha_st, self.max_efpr, self.unit, self.oracle)

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
        return class_psd_roc(
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
    best true positive rate of any post-processing counts. The rest is as for :class:`PSDS`. The curve
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
