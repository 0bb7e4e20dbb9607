"""sed_scores_eval's functions, computed by sedscope.

>>> import sedscope.compat.sed_scores_eval as sed_scores_eval

Names, arguments and return values are those of sed_scores_eval after version 0.0.4, plus options that
only 0.0.4 has. Results follow sedscope's definitions; ``docs/differences.md`` lists where they differ.
"""

from pathlib import Path

from . import (
    base_modules,
    clip_based,
    collar_based,
    intersection_based,
    scores,
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
    "scores",
    "segment_based",
    "utils",
]

package_dir = Path(__file__).parent.parent.absolute()
"""The folder that holds the package."""
