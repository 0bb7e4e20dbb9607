"""The real data sets, as scores and ground truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sedscope as sed


def desed_truth(data: Path) -> sed.GroundTruth:
    folder = data / "desed_validation"
    return sed.read_ground_truth(folder / "ground_truth.tsv", durations=folder / "durations.tsv")


def desed_scores(data: Path) -> sed.Scores:
    """Detections at 50 thresholds, written back as scores."""
    with np.load(data / "desed_validation" / "dcase2021_baseline_student.npz") as file:
        values = np.concatenate([[0], file["thresholds"]])
        return sed.Scores.from_arrays(
            {
                str(clip): values[levels]
                for clip, levels in zip(file["clips"], file["levels"], strict=True)
            },
            classes=[str(label) for label in file["classes"]],
            frame=float(file["frame_seconds"]),
        )


def excerpt_truth(data: Path) -> sed.GroundTruth:
    folder = data / "dcase2023_excerpt"
    return sed.read_ground_truth(folder / "ground_truth.tsv", durations=folder / "audio_durations.tsv")


def excerpt_scores(data: Path) -> sed.Scores:
    return sed.read_scores(data / "dcase2023_excerpt" / "scores")
