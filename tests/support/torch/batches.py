"""A simulated set in batches, and the metrics that are updated with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.torch import SEDMetric, SEDMetrics

FRAME = 0.1


METRICS: dict[str, Metric[Any]] = {
    "psds1": sed.presets.PSDS1,
    "psds2": sed.presets.PSDS2,
    "few": sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=5),
    "collar": sed.BestFScore(sed.Collar()),
    "clips": sed.AveragePrecision(sed.Clip()),
}


TRUTH = sed.simulate.ground_truth(40)


MADE = sed.simulate.scores(TRUTH, frame=FRAME)


ARRAYS = {clip: MADE[clip].values for clip in MADE}


CLIPS = [*ARRAYS]


CLASSES = MADE.classes


def values_of(clips: Sequence[str]) -> torch.Tensor:
    """The scores of some clips as a batch."""
    return torch.from_numpy(np.stack([ARRAYS[clip] for clip in clips]))


def metrics(**options: Any) -> SEDMetrics:
    return SEDMetrics(METRICS, CLASSES, frame=FRAME, **{"truth": TRUTH, **options})


def give(metric: Any, *batches: Sequence[str]) -> None:
    for clips in batches:
        metric.update(values_of(clips), clips)


def evaluated(chosen: Any) -> dict[str, float]:
    scores = sed.Scores.from_arrays(ARRAYS, classes=CLASSES, frame=FRAME)
    return sed.evaluate(scores, TRUTH, chosen).scalars()


def single(**options: Any) -> SEDMetric:
    return SEDMetric(sed.presets.PSDS1, CLASSES, frame=FRAME, **{"truth": TRUTH, **options})
