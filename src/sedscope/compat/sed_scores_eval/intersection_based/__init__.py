"""Detections judged by their overlap with references."""

from . import reference
from .error_rate import best_error_rate, error_rate, error_rate_curve
from .intermediate_statistics import (
    accumulated_intermediate_statistics,
    accumulated_intermediate_statistics_from_deltas,
    intermediate_statistics_deltas,
)
from .pipsds import (
    bootstrapped_median_filter_independent_psds,
    bootstrapped_postprocessing_independent_psds,
    bootstrapped_postprocessing_independent_psds_from_postprocessed_scores,
    deltas_postprocessing,
    median_filter_independent_psds,
    postprocessing_independent_psd_roc,
    postprocessing_independent_psd_roc_from_postprocessed_scores,
    postprocessing_independent_psds,
    postprocessing_independent_psds_from_postprocessed_scores,
)
from .precision_recall import (
    best_fscore,
    bootstrapped_best_fscore,
    bootstrapped_fscore,
    fscore,
    fscore_curve,
    precision_recall_curve,
)
from .psds import (
    bootstrapped_psds,
    multi_class_psd_roc_from_single_class_psd_rocs,
    psd_roc,
    psds,
    psds_from_psd_roc,
)

__all__ = [
    "accumulated_intermediate_statistics",
    "accumulated_intermediate_statistics_from_deltas",
    "best_error_rate",
    "best_fscore",
    "bootstrapped_best_fscore",
    "bootstrapped_fscore",
    "bootstrapped_median_filter_independent_psds",
    "bootstrapped_postprocessing_independent_psds",
    "bootstrapped_postprocessing_independent_psds_from_postprocessed_scores",
    "bootstrapped_psds",
    "deltas_postprocessing",
    "error_rate",
    "error_rate_curve",
    "fscore",
    "fscore_curve",
    "intermediate_statistics_deltas",
    "median_filter_independent_psds",
    "multi_class_psd_roc_from_single_class_psd_rocs",
    "postprocessing_independent_psd_roc",
    "postprocessing_independent_psd_roc_from_postprocessed_scores",
    "postprocessing_independent_psds",
    "postprocessing_independent_psds_from_postprocessed_scores",
    "precision_recall_curve",
    "psd_roc",
    "psds",
    "psds_from_psd_roc",
    "reference",
]
