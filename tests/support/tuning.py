"""A small set to tune on, post-processings to choose from, and the choice by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.postprocessing import (
    Chain,
    MaximumGap,
    MedianFilter,
    MinimumDuration,
    MovingAverage,
    PostProcessing,
)

from . import oracle
from .strategies import clip_lists

COLLAR_F = sed.BestFScore(sed.Collar())
AT_HALF = sed.FScore(sed.Collar())
# for clips of microseconds, and of seconds
CANDIDATES = (MedianFilter(3e-6), Chain(), MovingAverage(1e-5), MinimumDuration(3e-6), MaximumGap(3e-6))
SWEEP = (MedianFilter(0.3), Chain(), MedianFilter(0.9), MinimumDuration(0.5))


@st.composite
def sets_of_clips(draw: st.DrawFn) -> list[oracle.Clip]:
    """Twice as many clips as `clip_lists` has."""
    return draw(clip_lists) + draw(clip_lists)


def small_set(clips: int = 30, seed: int = 0, **options: Any) -> tuple[sed.Scores, sed.GroundTruth]:
    """A simulated set with much to gain from post-processing."""
    truth = sed.simulate.ground_truth(clips, seed=seed)
    return sed.simulate.scores(truth, frame=0.1, quality=0.5, seed=seed, **options), truth


def evaluated(scores: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any], **choice: Any) -> Any:
    """The result of one metric."""
    return sed.evaluate(scores, truth, metric, **choice)[metric]


def the_best(values: Sequence[float], metric: Metric[Any]) -> int:
    """Where the best value is, the first of equals; the first if none is defined."""
    best = 0
    for i, value in enumerate(values):
        better = value > values[best] if metric.higher_is_better else value < values[best]
        if better or (np.isnan(values[best]) and not np.isnan(value)):
            best = i
    return best


def by_class(
    scores: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any], candidates: Sequence[PostProcessing]
) -> dict[str, list[float]]:
    """The values of a class with each of the candidates."""
    results = [evaluated(chosen(scores), truth, metric) for chosen in candidates]
    return {label: [result.per_class[label].value for result in results] for label in scores.classes}
