"""The axes of DET curves: rates on the scale of normal quantiles, which straightens the curves."""

from __future__ import annotations

from math import erf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PERCENT = (0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.9)
_TICKS = np.array(_PERCENT) / 100
_QUANTILES = np.linspace(-6, 6, 4801)  # so fine that lines between them cannot be seen
_RATES = np.array([0.5 + erf(quantile / sqrt(2)) / 2 for quantile in _QUANTILES.tolist()])
_SMALLEST_LIMIT, _LARGEST_LIMIT = 0.0001, 0.999
_USUAL_LIMITS = (0.01, 0.6)


def probit(rates: FloatArray) -> FloatArray:
    """Return the normal quantiles of rates, at least −6 and at most 6."""
    quantiles: FloatArray = np.interp(rates, _RATES, _QUANTILES)
    return quantiles


def normal_probability(quantiles: FloatArray) -> FloatArray:
    """Return the rates that belong to normal quantiles."""
    rates: FloatArray = np.interp(quantiles, _QUANTILES, _RATES)
    return rates


def use_probit_axes(axes: Axes, x: FloatArray, y: FloatArray) -> None:
    """Scale both axes, and choose limits at which the curve, and those drawn before, can be seen.

    The upper limit is 60 %, or more for a curve that is nowhere below 60 % in both rates. The lower limit is
    the smallest rate above 0 on the part of the curve below the upper one.
    """
    low, high = _USUAL_LIMITS
    if not (np.maximum(x, y) <= high).any():
        high = _LARGEST_LIMIT
    inside = np.maximum(x, y) <= high
    rates = np.concatenate([x[inside], y[inside]])
    low = max(_SMALLEST_LIMIT, min(low, float(rates[rates > 0].min(initial=1))))
    if axes.get_xscale() == "function":
        before = axes.get_xlim()
        low, high = min(low, before[0]), max(high, before[1])
    ticks = _TICKS[(low <= _TICKS) & (high >= _TICKS)]
    names = [f"{100 * tick:g}" for tick in ticks]
    functions: Any = (probit, normal_probability)
    axes.set_xscale("function", functions=functions)
    axes.set_yscale("function", functions=functions)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, names)
        axis.set_ticks([], minor=True)
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
