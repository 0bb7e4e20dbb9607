"""Where older versions have what is in ``base_modules.curves``."""

from ..base_modules.curves import staircase_auc

__all__ = ["staircase_auc"]
