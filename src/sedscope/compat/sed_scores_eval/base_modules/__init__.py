"""Functions that all criteria share."""

from . import (
    bootstrap,
    curves,
    detection,
    error_rate,
    ground_truth,
    io,
    postprocessing,
    precision_recall,
    roc,
    scores,
    statistics,
)

__all__ = [
    "bootstrap",
    "curves",
    "detection",
    "error_rate",
    "ground_truth",
    "io",
    "postprocessing",
    "precision_recall",
    "roc",
    "scores",
    "statistics",
]
