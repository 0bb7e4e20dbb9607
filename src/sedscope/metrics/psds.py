"""The polyphonic sound detection score."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting.counts import Counts
from ..criteria.criterion import Intersection
from ..data.times import SECONDS_PER_UNIT
from ..definitions import Defined, require_choice, require_flag, require_number
from ..errors import SedscopeError, listing
from ..postprocessing import PostProcessing, as_postprocessings
from .metric import Points
from .psd_roc import PSDROC, ClassPSDROC, FloatArray, best_of, class_psd_roc, psd_roc, step_area

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class ClassPSDS:
    """The PSDS of one class: the area under its own curve."""

    value: float
    curve: ClassPSDROC

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw its curve with matplotlib, on ``ax`` or new axes, which are returned."""
        return self.curve.plot(ax, **options)


@dataclass(frozen=True, eq=False)
class PSDSResult:
    """A PSDS with the curves that it comes from."""

    value: float
    curve: PSDROC
    per_class: Mapping[str, ClassPSDS]

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw its curve and those of the classes, see :meth:`ClassPSDS.plot`."""
        return self.curve.plot(ax, **options)


@dataclass(frozen=True, repr=False)
class PSDS(Defined):
    """Polyphonic sound detection score (Bilen et al., ICASSP 2020), over all thresholds (Ebbers et
    al., "Threshold Independent Evaluation of Sound Event Detection Scores", ICASSP 2022).

    The area under the PSD-ROC up to ``max_efpr`` false positives per ``unit`` of time, divided by
    ``max_efpr``. ``alpha_ct`` weighs cross-triggers in the rate of false positives (the criterion
    then needs a ``cttc``), ``alpha_st`` the deviation between classes. ``oracle=False`` keeps
    operating points that find less at a higher rate, where otherwise the best up to that rate counts.

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
        if not isinstance(self.criterion, Intersection):
            raise SedscopeError(f"PSDS needs an Intersection criterion, not {self.criterion!r}")
        require_number(self, "alpha_ct", at_least=0)
        require_number(self, "alpha_st", at_least=0)
        require_number(self, "max_efpr", above=0)
        require_choice(self, "unit", SECONDS_PER_UNIT)
        require_flag(self, "oracle")
        if self.alpha_ct > 0 and self.criterion.cttc is None:
            raise SedscopeError(
                f"alpha_ct={self.alpha_ct:g} weighs cross-triggers: the criterion needs a cttc, e.g. "
                f"Intersection(dtc={self.criterion.dtc:g}, gtc={self.criterion.gtc:g}, cttc=0.3)"
            )

    @property
    def false_positive_limit(self) -> float:
        """False positives per second at ``max_efpr``."""
        return self.max_efpr / SECONDS_PER_UNIT[self.unit]

    @property
    def any_label(self) -> bool:
        """Pairs regardless of label are not needed."""
        return False

    @property
    def variants(self) -> tuple[PostProcessing, ...]:
        """The scores are taken as they are."""
        return ()

    @property
    def higher_is_better(self) -> bool:
        """1 is best."""
        return True

    @property
    def looks_at(self) -> Points:
        """Every threshold where cross-triggers count, which may fall while nothing else changes."""
        return "all" if self.alpha_ct > 0 or not self.oracle else "extremes"

    def measure(self, counts: Counts) -> PSDSResult:
        """Read the score and its curves off the counts."""
        rocs = {label: self.class_curve(counts, label) for label in counts}
        curve = psd_roc(
            (roc for label, roc in rocs.items() if counts.references[label]), alpha_st=self.alpha_st
        )
        per_class = {
            label: ClassPSDS(self._area(roc.efpr, roc.tpr) if counts.references[label] else np.nan, roc)
            for label, roc in rocs.items()
        }
        return PSDSResult(self._area(curve.efpr, curve.etpr), curve, per_class)

    def class_curve(self, counts: Counts, label: str) -> ClassPSDROC:
        """The PSD-ROC of a class up to ``max_efpr``."""
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


@dataclass(frozen=True, repr=False)
class PiPSDS(PSDS):
    """Post-processing independent PSDS (Ebbers, Haeb-Umbach and Serizel, "Post-Processing Independent
    Evaluation of Sound Event Detection Systems", DCASE 2023).

    Per class the operating points of all post-processings are taken together: at each rate the best
    true positive rate of any of them counts. Then as :class:`PSDS`. ``postprocessing``: a list, or the
    text of a sweep; of median filters it gives the median-filter independent PSDS. The curve of a class
    says which post-processing each of its vertices belongs to.

    >>> PiPSDS(Intersection(0.7, 0.7), postprocessing="MedianFilter(0..0.4/0.2)").variants
    (MedianFilter(seconds=0), MedianFilter(seconds=0.2), MedianFilter(seconds=0.4))
    """

    postprocessing: PostProcessing | Sequence[PostProcessing] | str = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = as_postprocessings(self.postprocessing)
        if not chosen:
            raise SedscopeError(
                "PiPSDS needs post-processings, e.g. postprocessing='MedianFilter(0..1/0.1)'"
            )
        if not self.oracle:
            raise SedscopeError("PiPSDS takes the best operating points: oracle=False is not defined")
        object.__setattr__(self, "postprocessing", chosen)

    @property
    def variants(self) -> tuple[PostProcessing, ...]:
        """The post-processings whose operating points are taken together."""
        assert isinstance(self.postprocessing, tuple)
        return self.postprocessing

    def measure(self, counts: Counts) -> PSDSResult:
        """Read the score and its curves off the counts of all post-processings."""
        require_variants(self.variants, counts.variants)
        return super().measure(counts)

    def class_curve(self, counts: Counts, label: str) -> ClassPSDROC:
        """The best of all post-processings; of equally good ones the first."""
        curves = [super(PiPSDS, self).class_curve(counts.variants[one], label) for one in self.variants]
        return best_of(curves, self.variants)


def require_variants(needed: Iterable[PostProcessing], known: Container[PostProcessing]) -> None:
    """Refuse counts, or deltas, that lack a post-processing."""
    missing = [repr(variant) for variant in needed if variant not in known]
    if missing:
        raise SedscopeError(
            f"there are no variants for {listing(missing)}: see postprocessing= of sedscope.deltas"
        )
