"""psds_eval's ``PSDSEval``, computed by sedscope: PSDS over given operating points.

Names, arguments and what is returned are those of psds_eval 0.5.3. Where the results differ, sedscope's
definitions hold: see ``docs/differences.md``. All thresholds at once are better: see ``sedscope.PSDS``.
"""

from .plots import plot_per_class_psd_roc, plot_psd_roc
from .psds import PSDSEval
from .values import PSDSEvalError

__all__ = ["PSDSEval", "PSDSEvalError", "plot_per_class_psd_roc", "plot_psd_roc"]
