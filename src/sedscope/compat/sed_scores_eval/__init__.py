"""sed_scores_eval's functions, computed by sedscope.

>>> import sedscope.compat.sed_scores_eval as sed_scores_eval

Names, arguments and return values are those of sed_scores_eval 0.0.4, plus names and options of later
versions. Results follow sedscope's definitions; ``docs/differences.md`` lists where they differ.
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
