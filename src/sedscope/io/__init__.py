"""Files in and out: one module per format, and whatever a format needs is imported on first use."""

from .detections import read_events, write_events
from .ground_truth import read_ground_truth, write_ground_truth
from .scores.files import read_scores, write_scores

__all__ = [
    "read_events",
    "read_ground_truth",
    "read_scores",
    "write_events",
    "write_ground_truth",
    "write_scores",
]
