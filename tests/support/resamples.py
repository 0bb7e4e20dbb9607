"""Clips drawn with weights, and the values of a result."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.resampling.resampled_metric import ResampledMetric
from sedscope.resampling.resampling import Weights

from . import oracle
from .strategies import clip_lists


@st.composite
def weighted_cases(draw: st.DrawFn) -> tuple[list[oracle.Clip], NDArray[np.int32]]:
    """Clips, and a row of weights for each resample."""
    clips = draw(clip_lists)
    weight = st.integers(0, 3)
    row = st.lists(weight, min_size=len(clips), max_size=len(clips))
    weights = draw(st.lists(row, min_size=1, max_size=10))  # more than are measured side by side
    return clips, np.array(weights, np.int32)


def repeated(case: list[oracle.Clip], weights: NDArray[np.int32]) -> list[oracle.Clip]:
    """Each clip as many times as it weighs."""
    return [clip for clip, times in zip(case, weights, strict=True) for _ in range(times)]


def all_values(result: Any) -> list[float]:
    """The overall value, then those of the classes."""
    return [result.value, *(of_class.value for of_class in result.per_class.values())]


def measure_resampled(
    deltas: sed.Deltas, metric: Metric[Any], weights: Weights, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure a metric, and each class alone, for each row of weights."""
    values = ResampledMetric(deltas, metric, weights, threads)(weights)
    return values[:, 0], values[:, 1:]
