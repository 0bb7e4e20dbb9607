"""Reading and writing files, one small module a format; what a format needs is imported on first use."""

from .ground_truth import read_events, read_ground_truth, write_events, write_ground_truth
from .scores import read_scores, write_scores

__all__ = [
    "read_events",
    "read_ground_truth",
    "read_scores",
    "write_events",
    "write_ground_truth",
    "write_scores",
]
