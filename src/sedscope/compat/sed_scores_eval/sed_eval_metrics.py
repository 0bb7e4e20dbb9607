"""Metrics of sed_eval for scores at a threshold, computed by its drop-in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..sed_eval.audio_tag import AudioTaggingMetrics
from ..sed_eval.sound_event import EventBasedMetrics, SegmentBasedMetrics
from .base_modules.detection import scores_to_event_list
from .base_modules.io import parse_inputs


def event_based_metrics(
    scores: Any, ground_truth: Any, threshold: Any, *, collar: float, offset_collar_rate: float = 0.0
) -> Any:
    """Return the ``EventBasedMetrics`` of sed_eval at a threshold, with optimal matching."""
    options = {"t_collar": collar, "percentage_of_length": offset_collar_rate}
    return _evaluated(EventBasedMetrics, options, scores, ground_truth, threshold)


def segment_based_metrics(
    scores: Any, ground_truth: Any, threshold: Any, *, segment_length: float = 1
) -> Any:
    """Return the ``SegmentBasedMetrics`` of sed_eval at a threshold."""
    options = {"time_resolution": segment_length}
    return _evaluated(SegmentBasedMetrics, options, scores, ground_truth, threshold)


def tagging_metrics(scores: Any, ground_truth: Any, threshold: Any) -> Any:
    """Return the ``AudioTaggingMetrics`` of sed_eval at a threshold."""
    tables, references, clips = parse_inputs(scores, ground_truth, tagging=True)
    detections = scores_to_event_list(tables, threshold)
    estimated = {clip: [label for _, _, label in detections[clip]] for clip in clips}
    metrics = AudioTaggingMetrics(tags=sorted({label for clip in clips for label in references[clip]}))
    return metrics.evaluate(
        reference_tag_list=[_tagged(clip, references[clip]) for clip in clips],
        estimated_tag_list=[_tagged(clip, estimated[clip]) for clip in clips],
    )


def _evaluated(
    kind: Any, options: dict[str, float], scores: Any, ground_truth: Any, threshold: Any
) -> Any:
    """Return metrics of events after all clips.

    Classes without references and detections, and clips without events, are left out.
    """
    tables, references, clips = parse_inputs(scores, ground_truth)
    detections = scores_to_event_list(tables, threshold)
    labels = {
        label for events in (references, detections) for clip in clips for _, _, label in events[clip]
    }
    metrics = kind(event_label_list=sorted(labels), **options)
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


def _tagged(clip: str, labels: list[str]) -> dict[str, str]:
    return {"filename": f"{clip}.wav", "tags": ",".join(sorted(set(labels)))}
