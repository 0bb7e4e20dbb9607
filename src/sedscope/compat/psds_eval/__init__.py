"""psds_eval's ``PSDSEval``, computed by sedscope: the PSDS over a set of operating points.

Names, arguments and return values are those of psds_eval 0.5.3. Results follow sedscope's definitions;
``docs/differences.md`` lists where they differ. ``sedscope.PSDS`` evaluates all thresholds at once.
"""

from .plots import plot_per_class_psd_roc, plot_psd_roc
from .psds import PSDSEval
from .results import PSDSEvalError
from .version import __version__

__all__ = ["PSDSEval", "PSDSEvalError", "__version__", "plot_per_class_psd_roc", "plot_psd_roc"]
