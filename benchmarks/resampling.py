"""Resampling against one evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sedscope as sed
from sedscope.metrics import Metric

from .sets import COLLAR_F1, PSDS1, PSDS2, evaluation, simulated
from .timing import Row, seconds


def resampling(clips: int) -> list[Row]:
    """1000 resamples against one evaluation."""
    scores, truth = simulated(clips)
    metrics: dict[str, tuple[Metric[Any], str | None]] = {
        "PSDS 1": (PSDS1, "≤ 20"),
        "PSDS 2": (PSDS2, None),
        "best collar F1": (COLLAR_F1, None),
    }
    rows = []
    for name, (metric, bar) in metrics.items():
        once, often = seconds(
            evaluation(scores, truth, metric), _resample(scores, truth, metric), repeat=3
        )
        rows.append(Row(f"1000 resamples of {name}", often, f"one {name}", often / once, bar))
    return rows


def _resample(scores: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any]) -> Callable[[], object]:
    return lambda: sed.bootstrap(sed.deltas(scores, truth, metric.criterion), metric)
