"""Small helpers, and plots."""

from . import array_ops, auc, nested, scores, visualization
from .scores import create_score_dataframe, validate_score_dataframe

__all__ = [
    "array_ops",
    "auc",
    "create_score_dataframe",
    "nested",
    "scores",
    "validate_score_dataframe",
    "visualization",
]
