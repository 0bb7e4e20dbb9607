"""sed_scores_eval's functions, computed by sedscope.

>>> import sedscope.compat.sed_scores_eval as sed_scores_eval

Names, arguments and return values are those of sed_scores_eval after version 0.0.4, plus options that
only 0.0.4 has. Results follow sedscope's definitions; ``docs/differences.md`` lists where they differ.
"""

from pathlib import Path

from ..submodules import add_submodule, by_name
from . import base_modules, clip_based, collar_based, intersection_based, segment_based, utils
from .base_modules import io, scores
from .base_modules.curves import staircase_auc

__all__ = [
    "base_modules",
    "clip_based",
    "collar_based",
    "intersection_based",
    "io",
    "segment_based",
    "utils",
]

package_dir = Path(__file__).parent.parent.absolute()
"""The folder that holds the package."""

# names of other versions
_TABLES = by_name(scores.create_score_dataframe, scores.validate_score_dataframe)
_INDICES = by_name(scores.get_unique_thresholds, scores.onset_offset_times_to_score_indices)
add_submodule(__name__, "scores", "Score tables.", {**_TABLES, **_INDICES})
add_submodule(utils.__name__, "scores", "Score tables.", _TABLES)
add_submodule(utils.__name__, "auc", "Areas under curves.", by_name(staircase_auc))
for _function in _TABLES.values():
    setattr(utils, _function.__name__, _function)
    utils.__all__.append(_function.__name__)
