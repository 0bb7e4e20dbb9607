"""Precision, recall and F-scores read off statistics (see ``counting``).

Each function takes the statistics of one class, or of all classes by label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....counting.counts import ClassCounts
from ....counting.tally import Tally
from ....errors import SedscopeError
from ....metrics.curves import PrecisionRecallCurve
from ..counting import class_counts
from .curves import get_curve_idx_for_threshold, xsort


def precision_recall_curve_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Precisions, recalls, scores and statistics, by rising recall."""
    if isinstance(scores_intermediate_statistics, dict):
        return {
            label: precision_recall_curve_from_intermediate_statistics(of_class)
            for label, of_class in scores_intermediate_statistics.items()
        }
    scores, stats = scores_intermediate_statistics
    precision, recall, _ = _rates(class_counts(scores, stats), 1.0)
    return xsort(precision, recall, scores, stats)


def fscore_from_precision_recall(precision: Any, recall: Any, *, beta: float = 1.0) -> Any:
    """The F-score; 0 where precision and recall are."""
    weight = beta * beta
    whole = weight * np.asarray(precision, np.float64) + recall
    return (1 + weight) * precision * recall / np.where(whole > 0, whole, 1.0)


def fscore_curve_from_intermediate_statistics(
    scores_intermediate_statistics: Any, beta: float = 1.0
) -> Any:
    """F-scores, precisions, recalls, scores and statistics, by rising score."""
    if isinstance(scores_intermediate_statistics, dict):
        return {
            label: fscore_curve_from_intermediate_statistics(of_class, beta=beta)
            for label, of_class in scores_intermediate_statistics.items()
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
    """The best F-score of each class, its precision, recall, threshold and statistics, and averages.

    Where no threshold meets the needs, it is that of nothing being detected.
    """
    if isinstance(scores_intermediate_statistics, dict):
        found = {
            label: best_fscore_from_intermediate_statistics(of_class, beta, min_precision, min_recall)
            for label, of_class in scores_intermediate_statistics.items()
        }
        *rates, thresholds, stats = _by_value(found, 5)
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
    """The F-score of each class at a threshold, its precision, recall and statistics, and averages.

    ``threshold``: one for all classes, or one for each.
    """
    if isinstance(scores_intermediate_statistics, dict):
        found = {
            label: single_fscore_from_intermediate_statistics(
                of_class, threshold_of(threshold, label), beta=beta
            )
            for label, of_class in scores_intermediate_statistics.items()
        }
        *rates, stats = _by_value(found, 4)
        return (*_with_averages(rates, stats, beta), stats)
    scores, stats = scores_intermediate_statistics
    row = get_curve_idx_for_threshold(scores, threshold_of(threshold, ""))
    precision, recall, fscore = _rates(class_counts(scores, stats), beta)
    return fscore[row], precision[row], recall[row], at_row(stats, row)


def micro_average(
    intermediate_stats: Mapping[str, Mapping[str, Any]], beta: float = 1.0
) -> tuple[Any, Any, Any]:
    """F-score, precision and recall of all classes together, each at its operating point."""
    tp, fp, references = (
        sum(int(of_class[name]) for of_class in intermediate_stats.values())
        for name in ("tps", "fps", "n_ref")
    )
    tally = Tally(tp, fp, references)
    return tally.fscore(beta), tally.precision, tally.recall


def average_precision_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """The average precision of each class and their mean, and the curves."""
    if isinstance(scores_intermediate_statistics, dict):
        found = {
            label: average_precision_from_intermediate_statistics(of_class)
            for label, of_class in scores_intermediate_statistics.items()
        }
        values, curves = _by_value(found, 2)
        return {**values, "mean": mean_of(values)}, curves
    curve = precision_recall_curve_from_intermediate_statistics(scores_intermediate_statistics)
    return average_precision_from_precision_recall_curve(curve[0], curve[1]), curve


def average_precision_from_precision_recall_curve(p: NDArray[Any], r: NDArray[Any]) -> float:
    """The average precision of a curve, in steps."""
    if np.isnan(r).any():
        return np.nan
    return PrecisionRecallCurve(np.empty(0), p, r).average_precision()


def fscore_from_sed_eval_metrics(sed_eval_metrics: Any) -> tuple[dict[str, Any], ...]:
    """F-scores, precisions and recalls of sed_eval's metrics, with averages."""
    return tuple(sed_eval_values(sed_eval_metrics, "f_measure", ("f_measure", "precision", "recall")))


def sed_eval_values(metrics: Any, group: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Some values of each class in sed_eval's metrics, and their averages."""
    results = {
        **metrics.results_class_wise_metrics(),
        "macro_average": metrics.results_class_wise_average_metrics(),
        "micro_average": metrics.results_overall_metrics(),
    }
    return [{label: of_class[group][name] for label, of_class in results.items()} for name in names]


def _rates(counts: ClassCounts, beta: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Precision, recall and F-score by rising score; not defined for a class without references."""
    tally = counts.tally()
    rates = (tally.precision[::-1], tally.recall[::-1], tally.fscore(beta)[::-1])
    if not counts.references:
        undefined = np.full(len(counts.scores) + 1, np.nan)
        return undefined, undefined, undefined
    return rates


def best_row(values: NDArray[Any]) -> int:
    """Where the largest value is; of equals the one with the highest score."""
    return len(values) - 1 - int(np.argmax(values[::-1]))


def at_row(stats: Any, row: int) -> Any:
    """Statistics at one operating point."""
    if isinstance(stats, dict):
        return {name: at_row(column, row) for name, column in stats.items()}
    return stats if np.isscalar(stats) else stats[row]


def threshold_of(threshold: Any, label: str) -> Any:
    """The threshold of a class."""
    chosen = threshold
    if isinstance(threshold, Mapping):
        if label not in threshold:
            raise SedscopeError(f"there is no threshold for {label}")
        chosen = threshold[label]
    if not np.isscalar(chosen):
        raise SedscopeError(f"thresholds must be one number, or one for each class, not {chosen!r:.80}")
    return chosen


def mean_of(values: Mapping[str, Any]) -> Any:
    """The mean over the classes for which there is a value."""
    known = [value for value in values.values() if not np.isnan(value)]
    return np.mean(known) if known else np.nan


def _by_value(found: Mapping[str, tuple[Any, ...]], number: int) -> list[dict[str, Any]]:
    """Each of several values by label."""
    return [{label: values[k] for label, values in found.items()} for k in range(number)]


def _with_averages(
    rates: list[dict[str, Any]], stats: Mapping[str, Any], beta: float
) -> list[dict[str, Any]]:
    micro = micro_average(stats, beta)
    return [
        {**values, "macro_average": mean_of(values), "micro_average": average}
        for values, average in zip(rates, micro, strict=True)
    ]
