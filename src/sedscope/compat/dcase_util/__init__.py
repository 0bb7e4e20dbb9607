"""The few parts of dcase_util that sed_eval and its users need.

``containers`` has the lists of events, scenes, tags and probabilities, ``data`` finds active regions, and
``utils`` has the names of file formats. Everything else of dcase_util is missing.
"""

from . import containers, data, utils
from .missing_names import refusing

__all__ = ["containers", "data", "utils"]
__getattr__ = refusing(__name__)
