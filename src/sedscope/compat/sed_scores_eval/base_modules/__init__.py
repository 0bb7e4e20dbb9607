"""Functions that all criteria share."""

from . import (
    bootstrap,
    curves,
    cy_medfilt,
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
    "cy_medfilt",
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
