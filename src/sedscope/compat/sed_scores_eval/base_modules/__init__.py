"""Functions that all criteria share."""

from ...submodules import add_submodule, by_name
from ..delta_tables import accumulated_intermediate_statistics_from_deltas
from . import bootstrap, curves, detection, ground_truth, io, postprocessing, rates, scores

__all__ = ["bootstrap", "curves", "detection", "ground_truth", "io", "postprocessing", "scores"]
for _name, _about, _functions in (
    ("cy_medfilt", "The median filter of arrays.", [postprocessing.cy_medfilt]),
    (
        "precision_recall",
        "Precision, recall and F-scores.",
        [
            rates.average_precision_from_intermediate_statistics,
            rates.average_precision_from_precision_recall_curve,
            rates.best_fscore_from_intermediate_statistics,
            rates.fscore_curve_from_intermediate_statistics,
            rates.fscore_from_precision_recall,
            rates.fscore_from_sed_eval_metrics,
            rates.micro_average,
            rates.precision_recall_curve_from_intermediate_statistics,
            rates.single_fscore_from_intermediate_statistics,
        ],
    ),
    (
        "error_rate",
        "Error rates.",
        [
            rates.best_error_rate_from_intermediate_statistics,
            rates.error_rate_curve_from_intermediate_statistics,
            rates.error_rate_from_sed_eval_metrics,
            rates.single_error_rate_from_intermediate_statistics,
        ],
    ),
    (
        "roc",
        "ROC curves.",
        [rates.auroc_from_intermediate_statistics, rates.roc_curve_from_intermediate_statistics],
    ),
    ("statistics", "Statistics from deltas.", [accumulated_intermediate_statistics_from_deltas]),
):
    add_submodule(__name__, _name, _about, by_name(*_functions))
