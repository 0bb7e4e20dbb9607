"""Event-based metrics of sed_eval."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...sed_eval.sound_event import EventBasedMetrics
from ..sed_eval_metrics import event_metrics


def metrics(
    scores: Any, ground_truth: Any, threshold: Any, *, collar: float, offset_collar_rate: float = 0.0
) -> Any:
    """Return the ``EventBasedMetrics`` of sed_eval at a threshold, with optimal matching."""
    of_collars = partial(
        EventBasedMetrics,
        t_collar=collar,
        percentage_of_length=offset_collar_rate,
        event_matching_type="optimal",
    )
    return event_metrics(of_collars, scores, ground_truth, threshold)
