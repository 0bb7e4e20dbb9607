"""Rates, curves and areas read off statistics (see ``counting``).

Functions of statistics take those of one class, or of all classes by label.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....counting.counts import ClassCounts
from ....counting.tally import Tally
from ....errors import SedscopeError
from ....metrics.curves import PrecisionRecallCurve, roc_curve
from ..counting import class_counts
from .curves import get_curve_idx_for_threshold, xsort

Read = Callable[..., Any]
Columns = list[dict[str, Any]]
"""A value of all classes by label, for each of several values."""


def of_classes(averages: Callable[[Columns, float], Any] | None = None) -> Callable[[Read], Read]:
    """Let a function of the statistics of one class take those of all classes by label.

    It then returns the values by label or, with ``averages``, what this makes of the columns of values and of
    the weight ``beta``. Arguments that are mappings have a value for each class.
    """

    def decorate(read: Read) -> Read:
        signature = inspect.signature(read)

        @wraps(read)
        def of_one_or_all(*args: Any, **options: Any) -> Any:
            given = dict(signature.bind(*args, **options).arguments)
            statistics = given.pop("scores_intermediate_statistics")
            if not isinstance(statistics, dict):
                return read(statistics, **given)
            results = {
                label: read(of_class, **{name: _of_label(given[name], label) for name in given})
                for label, of_class in statistics.items()
            }
            if averages is None:
                return results
            columns = [
                dict(zip(results, column, strict=True)) for column in zip(*results.values(), strict=True)
            ]
            return averages(columns, given.get("beta", 1.0))

        return of_one_or_all

    return decorate


def _of_label(value: Any, label: str) -> Any:
    if not isinstance(value, Mapping):
        return value
    if label not in value:
        raise SedscopeError(f"There is no threshold for {label}.")
    return value[label]


def _fscore_averages(columns: Columns, beta: float) -> tuple[Any, ...]:
    micro = micro_average(columns[-1], beta)
    rates = [
        {**values, "macro_average": mean_of(values), "micro_average": average}
        for values, average in zip(columns[:3], micro, strict=True)
    ]
    return (*rates, *columns[3:])


def _error_averages(columns: Columns, beta: float) -> tuple[Any, ...]:
    rates = ({**values, "macro_average": mean_of(values)} for values in columns[:3])
    return (*rates, *columns[3:])


def _mean_area(columns: Columns, beta: float) -> tuple[Any, ...]:
    values, curves = columns
    return {**values, "mean": mean_of(values)}, curves


def _row_at(scores: Any, threshold: Any) -> Any:
    """Return the row of a threshold."""
    number: Any = threshold
    if not np.isscalar(threshold):
        raise SedscopeError(
            f"A threshold must be one number, or one for each class, not {threshold!r:.80}."
        )
    return get_curve_idx_for_threshold(scores, number)


# Precision, recall and F-scores


@of_classes()
def precision_recall_curve_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return precisions, recalls, scores and statistics by rising recall."""
    scores, stats = scores_intermediate_statistics
    precision, recall, _ = _rates(class_counts(scores, stats), 1.0)
    return xsort(precision, recall, scores, stats)


def fscore_from_precision_recall(precision: Any, recall: Any, *, beta: float = 1.0) -> Any:
    """Return the F-score, which is 0 where precision and recall are 0."""
    weight = beta * beta
    denominator = weight * np.asarray(precision, np.float64) + recall
    return (1 + weight) * precision * recall / np.where(denominator > 0, denominator, 1.0)


@of_classes()
def fscore_curve_from_intermediate_statistics(
    scores_intermediate_statistics: Any, beta: float = 1.0
) -> Any:
    """Return F-scores, precisions, recalls, scores and statistics by rising score."""
    scores, stats = scores_intermediate_statistics
    precision, recall, fscore = _rates(class_counts(scores, stats), beta)
    return fscore, precision, recall, scores, stats


@of_classes(_fscore_averages)
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


@of_classes(_fscore_averages)
def single_fscore_from_intermediate_statistics(
    scores_intermediate_statistics: Any, threshold: Any, *, beta: float = 1.0
) -> Any:
    """Return the F-score of each class at a threshold with its precision, recall and statistics, and
    averages.

    ``threshold``: one for all classes, or one for each.
    """
    scores, stats = scores_intermediate_statistics
    row = _row_at(scores, threshold)
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


@of_classes(_mean_area)
def average_precision_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return the average precision of each class and their mean, and the curves."""
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


# Error rates: insertions and deletions per reference


@of_classes()
def error_rate_curve_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return error, insertion and deletion rates, scores and statistics by rising score."""
    scores, stats = scores_intermediate_statistics
    tally = class_counts(scores, stats).tally()
    rates = (tally.error_rate, tally.insertion_rate, tally.deletion_rate)
    return (*(rate[::-1] for rate in rates), scores, stats)


@of_classes(_error_averages)
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


@of_classes(_error_averages)
def single_error_rate_from_intermediate_statistics(
    scores_intermediate_statistics: Any, threshold: Any
) -> Any:
    """Return the error rate of each class at a threshold with its insertion rate, deletion rate and
    statistics, and macro averages."""
    scores, stats = scores_intermediate_statistics
    row = _row_at(scores, threshold)
    *rates, _, _ = error_rate_curve_from_intermediate_statistics((scores, stats))
    return (*(rate[row] for rate in rates), at_row(stats, row))


def error_rate_from_sed_eval_metrics(sed_eval_metrics: Any) -> tuple[dict[str, Any], ...]:
    """Return error, insertion and deletion rates of the metrics of sed_eval, with averages."""
    names = ("error_rate", "insertion_rate", "deletion_rate")
    return tuple(sed_eval_values(sed_eval_metrics, "error_rate", names))


# ROC curves of segments or clips


@of_classes()
def roc_curve_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return true and false positive rates, scores and statistics by rising false positive rate."""
    scores, stats = scores_intermediate_statistics
    tally = _judged(scores, stats).tally()
    return xsort(tally.recall[::-1], tally.fpr[::-1], scores, stats)


@of_classes(_mean_area)
def auroc_from_intermediate_statistics(
    scores_intermediate_statistics: Any, max_fpr: float | None = None, mcclish_correction: bool = False
) -> Any:
    """Return the area under the ROC of each class and their mean, and the curves.

    ``max_fpr``: take the area up to that false positive rate only, divided by it. With
    ``mcclish_correction`` it is rescaled so that chance is 0.5.
    """
    if max_fpr is not None and not 0 < max_fpr <= 1:
        raise SedscopeError(f"max_fpr={max_fpr!r} must be above 0 and at most 1.")
    scores, stats = scores_intermediate_statistics
    area = roc_curve(_judged(scores, stats)).area(max_fpr, mcclish=mcclish_correction)
    return np.float64(area), roc_curve_from_intermediate_statistics((scores, stats))


def _judged(scores: Any, stats: Any) -> ClassCounts:
    counts = class_counts(scores, stats)
    if counts.trials is None:
        raise SedscopeError("A ROC needs true negatives ('tns'), which only segments and clips have.")
    return counts


# Rows and means


def best_row(values: NDArray[Any]) -> int:
    """Return the row of the largest value; of equal ones, that with the highest score."""
    return len(values) - 1 - int(np.argmax(values[::-1]))


def at_row(stats: Any, row: int) -> Any:
    """Return the statistics at one operating point."""
    if isinstance(stats, dict):
        return {name: at_row(column, row) for name, column in stats.items()}
    return stats if np.isscalar(stats) else stats[row]


def mean_of(values: Mapping[str, Any]) -> Any:
    """Return the mean over the classes whose value is defined."""
    defined = [value for value in values.values() if not np.isnan(value)]
    return np.mean(defined) if defined else np.nan


STATISTICS: dict[str, dict[str, Read]] = {
    "precision_recall": {
        "precision_recall_curve": precision_recall_curve_from_intermediate_statistics,
        "fscore_curve": fscore_curve_from_intermediate_statistics,
        "fscore": single_fscore_from_intermediate_statistics,
        "best_fscore": best_fscore_from_intermediate_statistics,
        "average_precision": average_precision_from_intermediate_statistics,
    },
    "error_rate": {
        "error_rate_curve": error_rate_curve_from_intermediate_statistics,
        "error_rate": single_error_rate_from_intermediate_statistics,
        "best_error_rate": best_error_rate_from_intermediate_statistics,
    },
    "roc": {
        "roc_curve": roc_curve_from_intermediate_statistics,
        "auroc": auroc_from_intermediate_statistics,
    },
}
"""What is read off statistics, by the module of a criterion's package that has it."""
