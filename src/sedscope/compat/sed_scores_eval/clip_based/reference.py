"""Tagging metrics of sed_eval."""

from __future__ import annotations

from typing import Any

from ...sed_eval.audio_tag import AudioTaggingMetrics
from ..base_modules.detection import scores_to_event_list
from ..base_modules.io import parse_inputs


def metrics(scores: Any, ground_truth: Any, threshold: Any) -> Any:
    """Return the ``AudioTaggingMetrics`` of sed_eval at a threshold."""
    tables, references, clips = parse_inputs(scores, ground_truth, tagging=True)
    detections = scores_to_event_list(tables, threshold)
    estimated = {clip: [label for _, _, label in detections[clip]] for clip in clips}
    tags = sorted({label for clip in clips for label in references[clip]})
    evaluator = AudioTaggingMetrics(tags=tags)
    evaluator.evaluate(
        reference_tag_list=[_tagged(clip, references[clip]) for clip in clips],
        estimated_tag_list=[_tagged(clip, estimated[clip]) for clip in clips],
    )
    return evaluator


def _tagged(clip: str, labels: list[str]) -> dict[str, str]:
    return {"filename": f"{clip}.wav", "tags": ",".join(sorted(set(labels)))}
