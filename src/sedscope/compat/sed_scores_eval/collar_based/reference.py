"""Event-based metrics of sed_eval."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..sed_eval_metrics import event_metrics, sed_eval_module


def metrics(
    scores: Any, ground_truth: Any, threshold: Any, *, collar: float, offset_collar_rate: float = 0.0
) -> Any:
    """Return the ``EventBasedMetrics`` of sed_eval at a threshold, with optimal matching."""
    kind = sed_eval_module("sound_event").EventBasedMetrics
    of_collars = partial(
        kind, t_collar=collar, percentage_of_length=offset_collar_rate, event_matching_type="optimal"
    )
    return event_metrics(of_collars, scores, ground_truth, threshold)
