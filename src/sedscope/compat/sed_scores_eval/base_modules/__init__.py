"""Functions that all criteria share."""

from ...submodules import add_submodule, by_name
from ..delta_tables import accumulated_intermediate_statistics_from_deltas
from . import bootstrap, curves, detection, ground_truth, io, postprocessing, rates, scores

__all__ = ["bootstrap", "curves", "detection", "ground_truth", "io", "postprocessing", "scores"]

_OTHERS = {
    "precision_recall": (
        rates.average_precision_from_precision_recall_curve,
        rates.fscore_from_precision_recall,
        rates.fscore_from_sed_eval_metrics,
        rates.micro_average,
    ),
    "error_rate": (rates.error_rate_from_sed_eval_metrics,),
}
for _name, _reads in rates.STATISTICS.items():
    _functions = by_name(*_reads.values(), *_OTHERS.get(_name, ()))
    add_submodule(__name__, _name, "Values read off statistics.", _functions)
add_submodule(__name__, "cy_medfilt", "The median filter.", by_name(postprocessing.cy_medfilt))
_function = accumulated_intermediate_statistics_from_deltas
add_submodule(__name__, "statistics", "Statistics from deltas.", by_name(_function))
