"""Resampling against one evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sedscope as sed
from sedscope.metrics import Metric

from .sets import (
    COLLAR_F1,
    PSDS1,
    PSDS2,
    SEEDS,
    evaluation,
    evaluations_with_intervals,
    simulated,
    systems_in_files,
)
from .timing import Row, seconds, worst_of


def resampling(clips: int) -> list[Row]:
    """1000 resamples against one evaluation."""
    of_seeds = [_against_one(*simulated(clips, seed=seed)) for seed in SEEDS]
    return [*worst_of(of_seeds), *comparing(clips)]


def _against_one(scores: sed.Scores, truth: sed.GroundTruth) -> list[Row]:
    metrics: dict[str, tuple[Metric[Any], str]] = {
        "PSDS 1": (PSDS1, "≤ 5"),
        "PSDS 2": (PSDS2, "≤ 10"),
        "best collar F1": (COLLAR_F1, "≤ 10"),
    }
    rows = []
    for name, (metric, bar) in metrics.items():
        once, often = seconds(
            evaluation(scores, truth, metric), _resample(scores, truth, metric), repeat=5
        )
        rows.append(Row(f"1000 resamples of {name}", often, f"one {name}", often / once, bar))
    return rows


def comparing(clips: int, systems: int = 3) -> list[Row]:
    """A comparison of systems in TSV files, against evaluating each of them with intervals."""
    with systems_in_files(clips, systems) as (read, truth):
        each, compared = seconds(
            evaluations_with_intervals(read, truth),
            lambda: sed.compare(read, truth, [PSDS1, PSDS2], resampling=1000),
            repeat=2,
        )
    work = f"compare {systems} systems of {clips} TSV files, PSDS 1 and 2, 1000 resamples"
    return [Row(work, compared, "evaluating each with intervals", compared / each, "≤ 1.2")]


def _resample(scores: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any]) -> Callable[[], object]:
    return lambda: sed.evaluate(scores, truth, metric, resampling=1000)
