"""The functions of ``base_modules.scores`` under their name in older versions."""

from ..base_modules.scores import create_score_dataframe, validate_score_dataframe

__all__ = ["create_score_dataframe", "validate_score_dataframe"]
