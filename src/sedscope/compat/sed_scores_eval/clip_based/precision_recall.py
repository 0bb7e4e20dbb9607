"""Precision, recall and F-scores of clips."""

from ..arguments import batched
from ..base_modules.precision_recall import (
    average_precision_from_intermediate_statistics,
    best_fscore_from_intermediate_statistics,
    fscore_curve_from_intermediate_statistics,
    precision_recall_curve_from_intermediate_statistics,
    single_fscore_from_intermediate_statistics,
)
from ..criteria import by_clip
from ..statistic_functions import bootstrapped_function, statistic_function

precision_recall_curve = statistic_function(
    "precision_recall_curve", by_clip, precision_recall_curve_from_intermediate_statistics
)
fscore_curve = statistic_function("fscore_curve", by_clip, fscore_curve_from_intermediate_statistics)
fscore = batched(statistic_function("fscore", by_clip, single_fscore_from_intermediate_statistics))
best_fscore = statistic_function("best_fscore", by_clip, best_fscore_from_intermediate_statistics)
average_precision = statistic_function(
    "average_precision", by_clip, average_precision_from_intermediate_statistics
)
bootstrapped_fscore = batched(
    bootstrapped_function("bootstrapped_fscore", by_clip, single_fscore_from_intermediate_statistics)
)
bootstrapped_best_fscore = batched(
    bootstrapped_function("bootstrapped_best_fscore", by_clip, best_fscore_from_intermediate_statistics)
)
