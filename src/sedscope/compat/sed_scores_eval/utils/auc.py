"""The functions of ``base_modules.curves`` under their name in older versions."""

from ..base_modules.curves import staircase_auc

__all__ = ["staircase_auc"]
