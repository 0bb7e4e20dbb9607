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
from ..reading import bootstrapped, reading

precision_recall_curve = reading(
    "precision_recall_curve", by_clip, precision_recall_curve_from_intermediate_statistics
)
fscore_curve = reading("fscore_curve", by_clip, fscore_curve_from_intermediate_statistics)
fscore = batched(reading("fscore", by_clip, single_fscore_from_intermediate_statistics))
best_fscore = reading("best_fscore", by_clip, best_fscore_from_intermediate_statistics)
average_precision = reading("average_precision", by_clip, average_precision_from_intermediate_statistics)
bootstrapped_fscore = batched(
    bootstrapped("bootstrapped_fscore", by_clip, single_fscore_from_intermediate_statistics)
)
bootstrapped_best_fscore = batched(
    bootstrapped("bootstrapped_best_fscore", by_clip, best_fscore_from_intermediate_statistics)
)
