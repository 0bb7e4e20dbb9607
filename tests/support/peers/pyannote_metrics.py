"""Values of a case by pyannote.metrics, which measures the time of one class at one threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .cases import Arrays

METRICS = (
    "DetectionErrorRate",
    "DetectionCostFunction",
    "DetectionPrecision",
    "DetectionRecall",
    "DetectionAccuracy",
)


def detected_time(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """The `METRICS` of each class at each of ``thresholds``, with a ``collar``. ``regions``, by clip a list
    of ``(onset, offset)``, say what is scored. ``label``: thresholds × metrics."""
    detection: Any = import_module("pyannote.metrics.detection")
    core: Any = import_module("pyannote.core")

    def timeline(spans: Sequence[Sequence[float]]) -> Any:
        return core.Timeline([core.Segment(onset, offset) for onset, offset in spans])

    verdict: Arrays = {}
    for label in case["classes"]:
        rows = []
        for threshold in case["thresholds"]:
            metrics = [getattr(detection, name)(collar=case["collar"]) for name in METRICS]
            for clip, of_clip in case["clips"].items():
                reference = [event[:2] for event in of_clip["events"] if event[2] == label]
                hypothesis = [*_active(scores[clip], label, threshold)]
                for metric in metrics:
                    metric(
                        timeline(reference).to_annotation(),
                        timeline(hypothesis).to_annotation(),
                        uem=timeline(case["regions"][clip]),
                    )
            rows.append([abs(metric) for metric in metrics])
        verdict[label] = np.array(rows)
    return verdict


def _active(table: Any, label: str, threshold: float) -> Iterator[tuple[float, float]]:
    """The frames above the threshold."""
    for onset, offset, score in zip(table["onset"], table["offset"], table[label], strict=True):
        if score > threshold:
            yield onset, offset
