"""sed_scores_eval's functions, computed by sedscope.

>>> import sedscope.compat.sed_scores_eval as sed_scores_eval

Names, arguments and what is returned are those of sed_scores_eval 0.0.4, with names and options of later
versions beside them. Where the results differ, sedscope's definitions hold: see ``docs/differences.md``.
"""

from . import (
    base_modules,
    clip_based,
    collar_based,
    intersection_based,
    segment_based,
    utils,
)
from .base_modules import io

__all__ = [
    "base_modules",
    "clip_based",
    "collar_based",
    "intersection_based",
    "io",
    "segment_based",
    "utils",
]
