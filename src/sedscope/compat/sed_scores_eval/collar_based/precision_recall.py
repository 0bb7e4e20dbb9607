"""Precision, recall and F-scores by collars."""

from ..arguments import batched
from ..base_modules.precision_recall import (
    best_fscore_from_intermediate_statistics,
    fscore_curve_from_intermediate_statistics,
    precision_recall_curve_from_intermediate_statistics,
    single_fscore_from_intermediate_statistics,
)
from ..criteria import by_collar
from ..statistic_functions import bootstrapped_function, statistic_function

precision_recall_curve = statistic_function(
    "precision_recall_curve", by_collar, precision_recall_curve_from_intermediate_statistics
)
fscore_curve = statistic_function("fscore_curve", by_collar, fscore_curve_from_intermediate_statistics)
fscore = batched(statistic_function("fscore", by_collar, single_fscore_from_intermediate_statistics))
best_fscore = statistic_function("best_fscore", by_collar, best_fscore_from_intermediate_statistics)
bootstrapped_fscore = batched(
    bootstrapped_function("bootstrapped_fscore", by_collar, single_fscore_from_intermediate_statistics)
)
bootstrapped_best_fscore = batched(
    bootstrapped_function(
        "bootstrapped_best_fscore", by_collar, best_fscore_from_intermediate_statistics
    )
)
