"""Detections judged by the distance of their boundaries from those of references."""

from . import reference
from .error_rate import best_error_rate, error_rate, error_rate_curve
from .intermediate_statistics import (
    accumulated_intermediate_statistics,
    accumulated_intermediate_statistics_from_deltas,
    intermediate_statistics_deltas,
)
from .precision_recall import (
    best_fscore,
    bootstrapped_best_fscore,
    bootstrapped_fscore,
    fscore,
    fscore_curve,
    precision_recall_curve,
)

__all__ = [
    "accumulated_intermediate_statistics",
    "accumulated_intermediate_statistics_from_deltas",
    "best_error_rate",
    "best_fscore",
    "bootstrapped_best_fscore",
    "bootstrapped_fscore",
    "error_rate",
    "error_rate_curve",
    "fscore",
    "fscore_curve",
    "intermediate_statistics_deltas",
    "precision_recall_curve",
    "reference",
]
