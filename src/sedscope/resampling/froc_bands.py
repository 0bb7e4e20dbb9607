"""Bands of curves: the interval of the recall at each rate of false alarms, from resamples."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..data.arrays import FloatArray
from ..metrics.classwise import ClasswiseResult
from ..metrics.curves import FROCBand, FROCCurve, froc_curve
from .resampled_metric import weighted_counts
from .resampling import Resampling

_RATES = 200  # at which the interval is known


def with_froc_bands(
    result: ClasswiseResult[FROCCurve], deltas: Deltas, resampling: Resampling, threads: int
) -> ClasswiseResult[FROCCurve]:
    """Return the result with bands around the curves of its classes, which are made when they are read."""
    bands = _Bands(deltas, resampling, threads)

    def banded(label: str) -> FROCCurve:
        curve = result.per_class[label].curve
        assert curve is not None
        return replace(curve, band=bands.per_class[label])

    per_class = {
        label: value if value.make_curve is None else replace(value, make_curve=partial(banded, label))
        for label, value in result.per_class.items()
    }
    return replace(result, per_class=per_class)


class _Bands:
    """The bands of all classes, which are found together."""

    def __init__(self, deltas: Deltas, resampling: Resampling, threads: int) -> None:
        self.deltas, self.resampling, self.threads = deltas, resampling, threads

    @cached_property
    def per_class(self) -> dict[str, FROCBand]:
        """The percentile interval of each class, at rates from none to the largest."""
        counts = self.deltas.counts(threads=self.threads)
        hours = counts.hours
        most = max((int(of_class.fp.max(initial=1)) for of_class in counts.values()), default=1)
        rates = np.concatenate([[0.0], np.geomspace(0.5, 2 * max(1, most), _RATES) / hours])
        count = weighted_counts(self.deltas, extremes_only=True, threads=self.threads)
        weights = self.resampling.draw(self.deltas.clips)  # again: they are too large to keep
        recall = np.stack([self._recall(count(row), rates) for row in weights])
        tail = (1 - self.resampling.confidence) / 2
        bands = {}
        for c, label in enumerate(counts):
            defined = recall[~np.isnan(recall[:, c, 0]), c]
            if len(defined):
                low, high = np.quantile(defined, [tail, 1 - tail], axis=0)
            else:
                low = high = np.full(len(rates), np.nan)
            bands[label] = FROCBand(rates, low, high)
        return bands

    @staticmethod
    def _recall(counts: Counts, rates: FloatArray) -> FloatArray:
        hours = counts.hours
        return np.array([froc_curve(of_class, hours).recall_at(rates) for of_class in counts.values()])
