"""The functions of ``base_modules.scores`` under their shorter name."""

from .base_modules.scores import (
    create_score_dataframe,
    get_unique_thresholds,
    onset_offset_times_to_score_indices,
    validate_score_dataframe,
)

__all__ = [
    "create_score_dataframe",
    "get_unique_thresholds",
    "onset_offset_times_to_score_indices",
    "validate_score_dataframe",
]
