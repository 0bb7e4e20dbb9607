"""Error rates read off statistics (see ``counting``): insertions and deletions per reference.

Each function takes the statistics of one class, or of all classes by label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..counting import class_counts
from .curves import get_curve_idx_for_threshold
from .precision_recall import at_row, best_row, mean_of, sed_eval_values, threshold_of


def error_rate_curve_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return error, insertion and deletion rates, scores and statistics by rising score."""
    if isinstance(scores_intermediate_statistics, dict):
        return {
            label: error_rate_curve_from_intermediate_statistics(class_statistics)
            for label, class_statistics in scores_intermediate_statistics.items()
        }
    scores, stats = scores_intermediate_statistics
    tally = class_counts(scores, stats).tally()
    rates = (tally.error_rate, tally.insertion_rate, tally.deletion_rate)
    return (*(rate[::-1] for rate in rates), scores, stats)


def best_error_rate_from_intermediate_statistics(
    scores_intermediate_statistics: Any,
    max_insertion_rate: float | None = None,
    max_deletion_rate: float | None = None,
) -> Any:
    """Return the smallest error rate of each class with its insertion rate, deletion rate, threshold and
    statistics, and macro averages.

    Only operating points within the limits count. If there is none, the values are those at which
    nothing is detected.
    """
    if isinstance(scores_intermediate_statistics, dict):
        results = {
            label: best_error_rate_from_intermediate_statistics(
                class_statistics, max_insertion_rate, max_deletion_rate
            )
            for label, class_statistics in scores_intermediate_statistics.items()
        }
        return _by_value_with_means(results, 5)
    scores, stats = scores_intermediate_statistics
    errors, insertions, deletions, *_ = error_rate_curve_from_intermediate_statistics((scores, stats))
    counts = class_counts(scores, stats)
    if not counts.references:
        return np.nan, np.nan, np.nan, np.nan, at_row(stats, -1)
    met = np.ones(len(errors), bool)
    if max_insertion_rate is not None:
        met &= insertions <= max_insertion_rate
    if max_deletion_rate is not None:
        met &= deletions <= max_deletion_rate
    row = best_row(np.where(met, -errors, -np.inf))
    threshold = counts.threshold(len(scores) - 1 - row)
    return errors[row], insertions[row], deletions[row], threshold, at_row(stats, row)


def single_error_rate_from_intermediate_statistics(
    scores_intermediate_statistics: Any, threshold: Any
) -> Any:
    """Return the error rate of each class at a threshold with its insertion rate, deletion rate and
    statistics, and macro averages."""
    if isinstance(scores_intermediate_statistics, dict):
        results = {
            label: single_error_rate_from_intermediate_statistics(
                class_statistics, threshold_of(threshold, label)
            )
            for label, class_statistics in scores_intermediate_statistics.items()
        }
        return _by_value_with_means(results, 4)
    scores, stats = scores_intermediate_statistics
    row = get_curve_idx_for_threshold(scores, threshold_of(threshold, ""))
    *rates, _, _ = error_rate_curve_from_intermediate_statistics((scores, stats))
    return (*(rate[row] for rate in rates), at_row(stats, row))


def error_rate_from_sed_eval_metrics(sed_eval_metrics: Any) -> tuple[dict[str, Any], ...]:
    """Return error, insertion and deletion rates of the metrics of sed_eval, with averages."""
    names = ("error_rate", "insertion_rate", "deletion_rate")
    return tuple(sed_eval_values(sed_eval_metrics, "error_rate", names))


def _by_value_with_means(results: dict[str, Any], number: int) -> tuple[dict[str, Any], ...]:
    """Return each of several values by label, with averages of the first three, which are rates."""
    columns = [{label: values[k] for label, values in results.items()} for k in range(number)]
    rates = [{**column, "macro_average": mean_of(column)} for column in columns[:3]]
    return (*rates, *columns[3:])
