"""Operating points: choosing thresholds and post-processings, saving and applying them."""

from ..lazy_names import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__)
