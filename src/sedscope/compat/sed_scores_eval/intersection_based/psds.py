"""PSD-ROC curves and the polyphonic sound detection score.

A curve is a tuple of true positive rates, effective false positive rates and, for one class, the scores
of the operating points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....counting.counts import Counts
from ....counting.request import DeltaRequest
from ....criteria import Criterion, Intersection
from ....data.times import SECONDS_PER_UNIT
from ....errors import SedscopeError
from ....metrics import psds as curves
from ....postprocessing import PostProcessing
from ..base_modules.bootstrap import Resamples, transpose
from ..base_modules.curves import staircase_auc
from ..counting import NamedDeltas
from ..criteria import by_events
from ..inputs import durations_by_name
from ..rounded_criteria import rounded
from ..statistic_functions import Count, batched, with_options

__all__ = [
    "bootstrapped_psds",
    "multi_class_psd_roc_from_single_class_psd_rocs",
    "psd_roc",
    "psds",
    "psds_from_psd_roc",
]

FloatArray = NDArray[np.float64]
Variants: TypeAlias = tuple[PostProcessing, ...]
Curve: TypeAlias = tuple[FloatArray, FloatArray]
ClassCurves: TypeAlias = dict[str, tuple[FloatArray, FloatArray, FloatArray]]

seconds_per_unit_of_time = {unit: float(seconds) for unit, seconds in SECONDS_PER_UNIT.items()}


@dataclass(frozen=True)
class PSDSOptions:
    """The parameters of a PSDS, as in :class:`sedscope.PSDS`.

    ``non_oracle``: also count operating points with a lower true positive rate at a higher effective
    false positive rate. ``num_jobs`` has no effect, because sedscope uses one thread per core anyway.
    """

    dtc_threshold: float
    gtc_threshold: float
    cttc_threshold: float | None = None
    alpha_ct: float = 0.0
    alpha_st: float = 0.0
    unit_of_time: str = "hour"
    max_efpr: float | None = 100.0
    time_decimals: int = 6
    num_jobs: int = 1
    non_oracle: bool = False

    def __post_init__(self) -> None:
        if (self.cttc_threshold is None) != (self.alpha_ct == 0):
            raise SedscopeError(
                f"cttc_threshold={self.cttc_threshold!r} and alpha_ct={self.alpha_ct!r} do not go "
                "together. Pass both to count cross-triggers, or neither."
            )
        if self.unit_of_time not in SECONDS_PER_UNIT:
            units = " or ".join(map(repr, SECONDS_PER_UNIT))
            raise SedscopeError(f"unit_of_time={self.unit_of_time!r} is not valid. Choose {units}.")
        if self.max_efpr is not None and not 0 < self.max_efpr < np.inf:
            raise SedscopeError(f"max_efpr={self.max_efpr!r} must be above 0 and finite.")

    @property
    def criterion(self) -> Criterion:
        """The criterion."""
        criterion = Intersection(self.dtc_threshold, self.gtc_threshold, self.cttc_threshold)
        return rounded(criterion, self.time_decimals)

    def counting(self, ground_truth: Any, audio_durations: Any, *, pruned: bool = True) -> Count:
        """Return a function that finds the deltas of scores, perhaps with several post-processings, or that
        converts them from a table. ``pruned``: only as far as curves go."""
        per_second = self.max_efpr and self.max_efpr / SECONDS_PER_UNIT[self.unit_of_time]
        data = {"ground_truth": ground_truth, "audio_durations": durations_by_name(audio_durations)}

        def count(scores: Any, deltas: Any = None, variants: Variants = ()) -> NamedDeltas:
            request = DeltaRequest(per_second if pruned else None, variants=variants)
            return by_events(scores, criterion=self.criterion, deltas=deltas, request=request, **data)

        return count

    def class_curves(self, counts: Counts) -> ClassCurves:
        """Return the PSD-ROC of each class; NaN for a class without reference events."""
        class_curves: ClassCurves = {}
        for label, of_class in counts.items():
            roc = curves.class_psd_roc(
                counts,
                label,
                alpha_ct=self.alpha_ct,
                unit=self.unit_of_time,
                max_efpr=np.inf if self.max_efpr is None else self.max_efpr,
                oracle=not self.non_oracle,
            )
            tpr = roc.tpr if of_class.references else np.full(len(roc.tpr), np.nan)
            class_curves[label] = (tpr, roc.efpr, roc.scores)
        return class_curves

    def overall(self, rocs: Mapping[str, Any]) -> Curve:
        """Return the PSD-ROC over all classes."""
        return multi_class_psd_roc_from_single_class_psd_rocs(rocs, self.alpha_st, self.max_efpr)

    def with_areas(self, rocs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the PSDS, that of each class, and the curves."""
        if self.max_efpr is None:
            raise SedscopeError("A PSDS needs max_efpr, where its area ends.")
        etpr, efpr = self.overall(rocs)
        of_classes = {
            label: psds_from_psd_roc(tpr, class_efpr, self.max_efpr)
            for label, (tpr, class_efpr, *_) in rocs.items()
        }
        return psds_from_psd_roc(etpr, efpr, self.max_efpr), of_classes, (etpr, efpr), rocs


@batched
@with_options(options=PSDSOptions)
def psds(
    scores: Any, ground_truth: Any, audio_durations: Any, *, deltas: Any = None, options: PSDSOptions
) -> tuple[Any, ...]:
    """Return the PSDS, that of each class, the PSD-ROC, and that of each class."""
    named = options.counting(ground_truth, audio_durations)(scores, deltas)
    return options.with_areas(options.class_curves(named.counts()))


@with_options(options=PSDSOptions)
def psd_roc(
    scores: Any, ground_truth: Any, audio_durations: Any, *, deltas: Any = None, options: PSDSOptions
) -> tuple[Curve, ClassCurves]:
    """Return the PSD-ROC, and that of each class."""
    rocs = options.class_curves(options.counting(ground_truth, audio_durations)(scores, deltas).counts())
    return options.overall(rocs), rocs


@batched
@with_options(options=PSDSOptions, resamples=Resamples)
def bootstrapped_psds(
    scores: Any,
    ground_truth: Any,
    audio_durations: Any,
    *,
    deltas: Any = None,
    options: PSDSOptions,
    resamples: Resamples,
) -> list[tuple[Any, ...]]:
    """Return the values of ``psds`` for resamples of the clips: a list with one tuple per value."""
    named = options.counting(ground_truth, audio_durations, pruned=False)(scores, deltas)
    resampled = (named.counts(weights) for weights in resamples.weights(named.names))
    return transpose([options.with_areas(options.class_curves(counts)) for counts in resampled])


def psds_from_psd_roc(tpr: FloatArray, fpr: FloatArray, max_fpr: float) -> Any:
    """Return the area under a curve up to a rate, divided by the rate."""
    area = np.nan if np.isnan(tpr).any() else staircase_auc(tpr, fpr, max_x=max_fpr)
    return np.float64(area / max_fpr)


def multi_class_psd_roc_from_single_class_psd_rocs(
    single_class_psd_rocs: Mapping[str, Any], alpha_st: float, max_efpr: float | None
) -> Curve:
    """Return the PSD-ROC over all classes with defined rates, up to ``max_efpr`` if there is one."""
    rocs = []
    for label, (tpr, efpr, *_) in single_class_psd_rocs.items():
        if not np.isnan(tpr).any():
            origin = [0.0] if efpr[0] > 0 else []  # the rate is 0 where no false positive is allowed
            false_rates, true_rates = (np.concatenate([origin, rate]) for rate in (efpr, tpr))
            rocs.append(curves.ClassPSDROC(label, false_rates, true_rates, np.empty(0)))
    roc = curves.psd_roc(rocs, alpha_st=alpha_st)
    if max_efpr is None:
        return roc.etpr, roc.efpr
    return np.append(roc.etpr, roc.etpr[-1]), np.append(roc.efpr, max_efpr)
