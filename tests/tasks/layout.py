"""Tasks on disk: simulated data sets and submissions, laid out as tasks expect them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sedscope as sed
from sedscope.metrics.names import MetricsLike, name_metrics

from ..support.files import write_durations


def dataset(metrics: MetricsLike, **options: Any) -> sed.tasks.Dataset:
    """A data set whose metrics may be names."""
    return sed.tasks.Dataset(name_metrics(metrics), **options)


def write_set(data: Path, submission: Path, name: str, seed: int, clips: int = 12) -> None:
    """Write a simulated data set, and the scores of a system on it."""
    truth = sed.simulate.ground_truth(clips, seed=seed)
    (data / name).mkdir(parents=True)
    submission.mkdir(exist_ok=True)
    sed.write_ground_truth(truth, data / name / "ground_truth.tsv")
    write_durations(truth, data / name / "durations.tsv")
    sed.write_scores(sed.simulate.scores(truth, seed=seed), submission / name)


def by_hand(
    data: Path,
    submission: Path,
    name: str,
    metrics: Mapping[str, sed.Metric[Any]],
    bootstrap: sed.Resampling | None = None,
) -> sed.Evaluation:
    """Evaluate a data set without its task."""
    folder = data / name
    truth = sed.read_ground_truth(folder / "ground_truth.tsv", durations=folder / "durations.tsv")
    return sed.evaluate(sed.read_scores(submission / name), truth, metrics, resampling=bootstrap)
