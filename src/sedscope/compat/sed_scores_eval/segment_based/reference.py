"""Segment-based metrics of sed_eval."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...sed_eval.sound_event import SegmentBasedMetrics
from ..sed_eval_metrics import event_metrics


def metrics(scores: Any, ground_truth: Any, threshold: Any, *, segment_length: float = 1) -> Any:
    """Return the ``SegmentBasedMetrics`` of sed_eval at a threshold."""
    of_segments = partial(SegmentBasedMetrics, time_resolution=segment_length)
    return event_metrics(of_segments, scores, ground_truth, threshold)
