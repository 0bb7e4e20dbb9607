"""Small helpers, and plots."""

from . import array_ops, auc, nested, parallel, scores, test, visualization
from .scores import create_score_dataframe, validate_score_dataframe

__all__ = [
    "array_ops",
    "auc",
    "create_score_dataframe",
    "nested",
    "parallel",
    "scores",
    "test",
    "validate_score_dataframe",
    "visualization",
]
