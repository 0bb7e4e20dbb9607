"""Where older versions have what is in ``base_modules.scores``."""

from ..base_modules.scores import create_score_dataframe, validate_score_dataframe

__all__ = ["create_score_dataframe", "validate_score_dataframe"]
