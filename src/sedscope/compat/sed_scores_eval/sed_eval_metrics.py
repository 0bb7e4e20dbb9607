"""Metrics of sed_eval for scores at a threshold, computed by its drop-in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .base_modules.detection import scores_to_event_list
from .base_modules.io import parse_inputs


def event_metrics(
    make_metrics: Callable[..., Any], scores: Any, ground_truth: Any, threshold: Any
) -> Any:
    """Return the metrics that ``make_metrics(event_label_list=…)`` makes, after all clips.

    Classes without references and detections, and clips without events, are left out.
    """
    tables, references, clips = parse_inputs(scores, ground_truth)
    detections = scores_to_event_list(tables, threshold)
    labels = {
        label for events in (references, detections) for clip in clips for _, _, label in events[clip]
    }
    metrics = make_metrics(event_label_list=sorted(labels))
    for clip in clips:
        if references[clip] or detections[clip]:
            metrics.evaluate(
                reference_event_list=_event_list(clip, references[clip]),
                estimated_event_list=_event_list(clip, detections[clip]),
            )
    return metrics


def _event_list(clip: str, events: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {"filename": f"{clip}.wav", "onset": onset, "offset": offset, "event_label": label}
        for onset, offset, label in events
    ]
