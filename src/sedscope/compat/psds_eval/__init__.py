"""psds_eval's ``PSDSEval``, computed by sedscope: the PSDS over a set of operating points.

Names, arguments and return values are those of psds_eval 0.5.3. Results follow sedscope's definitions;
``docs/differences.md`` lists where they differ. ``sedscope.PSDS`` evaluates all thresholds at once.
"""

from ..submodules import add_submodule
from .psds import PSDSEval, PSDSEvalError, plot_per_class_psd_roc, plot_psd_roc

__version__ = "0.5.3"
add_submodule(__name__, "version", "The version of psds_eval.", {"__version__": __version__})

__all__ = ["PSDSEval", "PSDSEvalError", "__version__", "plot_per_class_psd_roc", "plot_psd_roc"]
