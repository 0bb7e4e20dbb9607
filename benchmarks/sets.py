"""The sets and metrics that are measured."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.postprocessing import MedianFilter, parse_sweep

PSDS1, PSDS2 = sed.presets.PSDS1, sed.presets.PSDS2
COLLAR_F1 = sed.BestFScore(sed.Collar())
# windows of an odd number of frames, of which all have the same idea of a median
MIPSDS1 = sed.PiPSDS(PSDS1.criterion, alpha_st=1, postprocessing="MedianFilter(0.1..2.1/0.2)")
SEEDS = range(5)  # how fast an evaluation is depends on the set
DATA = Path(os.environ.get("SEDSCOPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
FILTERS = parse_sweep("MedianFilter(0.02..1.94/0.08)")
FILTER = MedianFilter(0.5)  # with which the peer shows what one of them costs it


def simulated(
    clips: int, frame: float = 0.02, *, seed: int = 0, **options: Any
) -> tuple[sed.Scores, sed.GroundTruth]:
    """A simulated set in memory."""
    truth = sed.simulate.ground_truth(clips, seed=seed, **options)
    scores = sed.simulate.scores(truth, frame=frame, seed=seed)
    arrays = {clip: scores[clip].values for clip in scores}
    return sed.Scores.from_arrays(arrays, classes=scores.classes, frame=frame), truth


def real() -> tuple[sed.Scores, sed.GroundTruth] | None:
    """The DESED validation set in memory, with a baseline's detections at 50 thresholds; None if absent."""
    folder = DATA / "desed_validation"
    if not folder.exists():
        return None
    truth = sed.read_ground_truth(folder / "ground_truth.tsv", durations=folder / "durations.tsv")
    with np.load(folder / "dcase2021_baseline_student.npz") as file:
        values = np.concatenate([[0], file["thresholds"]])
        arrays = {
            str(clip): values[levels] for clip, levels in zip(file["clips"], file["levels"], strict=True)
        }
        classes, frame = [str(label) for label in file["classes"]], float(file["frame_seconds"])
    return sed.Scores.from_arrays(arrays, classes=classes, frame=frame), truth


def evaluation(scores: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any]) -> Callable[[], object]:
    """An evaluation, to be timed."""
    return lambda: sed.evaluate(scores, truth, metric)


@contextmanager
def systems_in_files(
    clips: int, systems: int
) -> Iterator[tuple[dict[str, sed.Scores], sed.GroundTruth]]:
    """Systems in TSV files, of which every second has the same files."""
    truth = sed.simulate.ground_truth(clips)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(2):
            sed.write_scores(sed.simulate.scores(truth, quality=0.6 + 0.2 * k), folder / f"{k}")
        yield {f"system {k}": sed.read_scores(folder / f"{k % 2}") for k in range(systems)}, truth


def evaluations_with_intervals(
    systems: Mapping[str, sed.Scores], truth: sed.GroundTruth
) -> Callable[[], object]:
    """Evaluations of each system with intervals, to be timed."""

    def evaluate_each() -> None:
        for scores in systems.values():
            sed.evaluate(scores, truth, [PSDS1, PSDS2], resampling=1000)

    return evaluate_each
