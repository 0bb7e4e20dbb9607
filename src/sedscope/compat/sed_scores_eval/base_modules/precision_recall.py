"""Precision, recall and F-scores read off statistics (see ``counting``).

Each function takes the statistics of one class, or of all classes by label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....counting.class_counts import ClassCounts
from ....counting.tally import Tally
from ....errors import SedscopeError
from ....metrics.curves import PrecisionRecallCurve
from ..counting import class_counts
from .curves import get_curve_idx_for_threshold, xsort


def precision_recall_curve_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return precisions, recalls, scores and statistics by rising recall."""
    if isinstance(scores_intermediate_statistics, dict):
        return {
            label: precision_recall_curve_from_intermediate_statistics(class_statistics)
            for label, class_statistics in scores_intermediate_statistics.items()
        }
    scores, stats = scores_intermediate_statistics
    precision, recall, _ = _rates(class_counts(scores, stats), 1.0)
    return xsort(precision, recall, scores, stats)


def fscore_from_precision_recall(precision: Any, recall: Any, *, beta: float = 1.0) -> Any:
    """Return the F-score, which is 0 where precision and recall are 0."""
    weight = beta * beta
    denominator = weight * np.asarray(precision, np.float64) + recall
    return (1 + weight) * precision * recall / np.where(denominator > 0, denominator, 1.0)


def fscore_curve_from_intermediate_statistics(
    scores_intermediate_statistics: Any, beta: float = 1.0
) -> Any:
    """Return F-scores, precisions, recalls, scores and statistics by rising score."""
    if isinstance(scores_intermediate_statistics, dict):
        return {
            label: fscore_curve_from_intermediate_statistics(class_statistics, beta=beta)
            for label, class_statistics in scores_intermediate_statistics.items()
        }
    scores, stats = scores_intermediate_statistics
    precision, recall, fscore = _rates(class_counts(scores, stats), beta)
    return fscore, precision, recall, scores, stats


def best_fscore_from_intermediate_statistics(
    scores_intermediate_statistics: Any,
    beta: float = 1.0,
    min_precision: float = 0.0,
    min_recall: float = 0.0,
) -> Any:
    """Return the best F-score of each class with its precision, recall, threshold and statistics, and
    averages.

    If no threshold meets the constraints, the values are those at which nothing is detected.
    """
    if isinstance(scores_intermediate_statistics, dict):
        results = {
            label: best_fscore_from_intermediate_statistics(
                class_statistics, beta, min_precision, min_recall
            )
            for label, class_statistics in scores_intermediate_statistics.items()
        }
        *rates, thresholds, stats = _by_value(results, 5)
        return (*_with_averages(rates, stats, beta), thresholds, stats)
    scores, stats = scores_intermediate_statistics
    counts = class_counts(scores, stats)
    precision, recall, fscore = _rates(counts, beta)
    met = (precision >= min_precision) & (recall >= min_recall)
    row = best_row(np.where(met, fscore, 0.0))
    threshold = counts.threshold(len(scores) - 1 - row)
    if not counts.references:
        return np.nan, np.nan, np.nan, np.nan, at_row(stats, row)
    return (
        fscore[row] if met[row] else np.float64(0),
        precision[row],
        recall[row],
        threshold,
        at_row(stats, row),
    )


def single_fscore_from_intermediate_statistics(
    scores_intermediate_statistics: Any, threshold: Any, *, beta: float = 1.0
) -> Any:
    """Return the F-score of each class at a threshold with its precision, recall and statistics, and
    averages.

    ``threshold``: one for all classes, or one for each.
    """
    if isinstance(scores_intermediate_statistics, dict):
        results = {
            label: single_fscore_from_intermediate_statistics(
                class_statistics, threshold_of(threshold, label), beta=beta
            )
            for label, class_statistics in scores_intermediate_statistics.items()
        }
        *rates, stats = _by_value(results, 4)
        return (*_with_averages(rates, stats, beta), stats)
    scores, stats = scores_intermediate_statistics
    row = get_curve_idx_for_threshold(scores, threshold_of(threshold, ""))
    precision, recall, fscore = _rates(class_counts(scores, stats), beta)
    return fscore[row], precision[row], recall[row], at_row(stats, row)


def micro_average(
    intermediate_stats: Mapping[str, Mapping[str, Any]], beta: float = 1.0
) -> tuple[Any, Any, Any]:
    """Return F-score, precision and recall of all classes together, each at its operating point."""
    tp, fp, references = (
        sum(int(class_statistics[name]) for class_statistics in intermediate_stats.values())
        for name in ("tps", "fps", "n_ref")
    )
    tally = Tally(tp, fp, references)
    return np.float64(tally.fscore(beta)), np.float64(tally.precision), np.float64(tally.recall)


def average_precision_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return the average precision of each class and their mean, and the curves."""
    if isinstance(scores_intermediate_statistics, dict):
        results = {
            label: average_precision_from_intermediate_statistics(class_statistics)
            for label, class_statistics in scores_intermediate_statistics.items()
        }
        values, curves = _by_value(results, 2)
        return {**values, "mean": mean_of(values)}, curves
    curve = precision_recall_curve_from_intermediate_statistics(scores_intermediate_statistics)
    return average_precision_from_precision_recall_curve(curve[0], curve[1]), curve


def average_precision_from_precision_recall_curve(p: NDArray[Any], r: NDArray[Any]) -> Any:
    """Return the average precision of a step curve."""
    if np.isnan(r).any():
        return np.float64(np.nan)
    return np.float64(PrecisionRecallCurve(np.empty(0), p, r).average_precision())


def fscore_from_sed_eval_metrics(sed_eval_metrics: Any) -> tuple[dict[str, Any], ...]:
    """Return F-scores, precisions and recalls of the metrics of sed_eval, with averages."""
    return tuple(sed_eval_values(sed_eval_metrics, "f_measure", ("f_measure", "precision", "recall")))


def sed_eval_values(metrics: Any, group: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return some values of each class in the metrics of sed_eval, with averages."""
    results = {
        **metrics.results_class_wise_metrics(),
        "macro_average": metrics.results_class_wise_average_metrics(),
        "micro_average": metrics.results_overall_metrics(),
    }
    return [
        {label: class_statistics[group][name] for label, class_statistics in results.items()}
        for name in names
    ]


def _rates(counts: ClassCounts, beta: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return precision, recall and F-score by rising score; NaN for a class without references."""
    tally = counts.tally()
    rates = (tally.precision[::-1], tally.recall[::-1], tally.fscore(beta)[::-1])
    if not counts.references:
        undefined = np.full(len(counts.scores) + 1, np.nan)
        return undefined, undefined, undefined
    return rates


def best_row(values: NDArray[Any]) -> int:
    """Return the row of the largest value; of equal ones, that with the highest score."""
    return len(values) - 1 - int(np.argmax(values[::-1]))


def at_row(stats: Any, row: int) -> Any:
    """Return the statistics at one operating point."""
    if isinstance(stats, dict):
        return {name: at_row(column, row) for name, column in stats.items()}
    return stats if np.isscalar(stats) else stats[row]


def threshold_of(threshold: Any, label: str) -> Any:
    """Return the threshold of a class."""
    class_threshold = threshold
    if isinstance(threshold, Mapping):
        if label not in threshold:
            raise SedscopeError(f"There is no threshold for {label}.")
        class_threshold = threshold[label]
    if not np.isscalar(class_threshold):
        raise SedscopeError(
            f"A threshold must be one number, or one for each class, not {class_threshold!r:.80}."
        )
    return class_threshold


def mean_of(values: Mapping[str, Any]) -> Any:
    """Return the mean over the classes whose value is defined."""
    defined = [value for value in values.values() if not np.isnan(value)]
    return np.mean(defined) if defined else np.nan


def _by_value(results: Mapping[str, tuple[Any, ...]], number: int) -> list[dict[str, Any]]:
    """Return each of several values by label."""
    return [{label: values[k] for label, values in results.items()} for k in range(number)]


def _with_averages(
    rates: list[dict[str, Any]], stats: Mapping[str, Any], beta: float
) -> list[dict[str, Any]]:
    micro = micro_average(stats, beta)
    return [
        {**values, "macro_average": mean_of(values), "micro_average": average}
        for values, average in zip(rates, micro, strict=True)
    ]
