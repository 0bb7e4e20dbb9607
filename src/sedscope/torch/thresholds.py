"""The thresholds that a training metric chose, as operating points."""

from __future__ import annotations

import math

import numpy as np

from ..counting.counts import ClassCounts
from ..data.clips import clip_list_digest
from ..data.thresholds import outside_of_probabilities, score_range
from ..errors import SedscopeError, issue_warnings, listing
from ..evaluation.result import Evaluation
from ..metrics.names import metric_called
from ..postprocessing import PostProcessing
from ..results.text import shortest_between
from ..tuning.operating_points import OperatingPoints


def points_of(
    result: Evaluation, name: str | None, postprocessing: PostProcessing | None, *, logits: bool
) -> OperatingPoints:
    """Return the thresholds of one of the metrics. ``logits``: return probabilities."""
    from .. import __version__

    with_thresholds = [result.names[metric] for metric in result if result[metric].thresholds]
    if name is None:
        if len(with_thresholds) != 1:
            raise SedscopeError(
                f"Several metrics have thresholds: {listing(with_thresholds)}. Name one: "
                f"points({with_thresholds[0]!r})."
                if with_thresholds
                else f"{listing([*result.names.values()])} has no thresholds: it looks at all of them. Add a "
                "metric that chooses them, such as 'best_collar_f1'."
            )
        (name,) = with_thresholds
    metric = metric_called(name, result.names)
    thresholds = result[metric].thresholds
    if not thresholds:
        raise SedscopeError(f"{name} has no thresholds: it looks at all of them.")
    if logits and postprocessing is not None:
        raise SedscopeError(
            "With a post-processing, thresholds of logits cannot become those of probabilities. Pass "
            "probabilities to the metric: torch.sigmoid(logits)."
        )
    counts = result.counts[metric.criterion]
    low, high = score_range([counts[label].scores for label in thresholds])
    if not logits and outside_of_probabilities(low, high):
        issue_warnings(
            [
                f"The scores lie between {low:.4g} and {high:.4g}, so these thresholds are not "
                "probabilities. If the scores are logits, points(logits=True) returns probabilities."
            ],
            3,
        )
    deltas = result.deltas[metric.criterion]
    return OperatingPoints(
        thresholds={
            label: _shortened(threshold, counts[label], logits)
            for label, threshold in thresholds.items()
        },
        postprocessing={} if postprocessing is None else dict.fromkeys(result.classes, postprocessing),
        provenance={
            "sedscope": __version__,
            "metric": repr(metric),
            "clips": str(len(deltas.clips)),
            "clips_sha256": clip_list_digest(deltas.clips),
            "hours": f"{result.hours:.4f}",
        },
    )


def _shortened(threshold: float, counts: ClassCounts, logits: bool) -> float:
    """Return a threshold with as few digits as give the same counts.

    A best threshold lies midway between two scores, so the lower one is as far away as the upper one.
    """
    if not math.isfinite(threshold):
        return threshold
    high = float(np.min(counts.scores, where=counts.scores > threshold, initial=math.inf))
    low = float(np.max(counts.scores, where=counts.scores <= threshold, initial=counts.floor))
    low = max(low, 2 * threshold - high if math.isfinite(high) else threshold)
    if logits:
        low, threshold, high = map(_probability, (low, threshold, high))
    return shortest_between(low, high, threshold)


def _probability(logit: float) -> float:
    return 0.5 * (1 + math.tanh(logit / 2))
