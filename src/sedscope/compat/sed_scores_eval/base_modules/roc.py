"""ROC curves and their areas read off statistics of segments or clips (see ``counting``).

Each function takes the statistics of one class, or of all classes by label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....counting.class_counts import ClassCounts
from ....errors import SedscopeError
from ....metrics.curves import roc_curve
from ..counting import class_counts
from .curves import xsort
from .precision_recall import mean_of


def roc_curve_from_intermediate_statistics(scores_intermediate_statistics: Any) -> Any:
    """Return true and false positive rates, scores and statistics by rising false positive rate."""
    if isinstance(scores_intermediate_statistics, dict):
        return {
            label: roc_curve_from_intermediate_statistics(class_statistics)
            for label, class_statistics in scores_intermediate_statistics.items()
        }
    scores, stats = scores_intermediate_statistics
    tally = _judged(scores, stats).tally()
    return xsort(tally.recall[::-1], tally.fpr[::-1], scores, stats)


def auroc_from_intermediate_statistics(
    scores_intermediate_statistics: Any,
    max_fpr: float | None = None,
    mcclish_correction: bool = False,
) -> Any:
    """Return the area under the ROC of each class and their mean, and the curves.

    ``max_fpr``: take the area up to that false positive rate only, divided by it. With
    ``mcclish_correction`` it is rescaled so that chance is 0.5.
    """
    if isinstance(scores_intermediate_statistics, dict):
        values, curves = {}, {}
        for label, class_statistics in scores_intermediate_statistics.items():
            values[label], curves[label] = auroc_from_intermediate_statistics(
                class_statistics, max_fpr, mcclish_correction
            )
        return {**values, "mean": mean_of(values)}, curves
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
