"""ROC curves of clips and their areas."""

from ..arguments import batched
from ..base_modules.roc import (
    auroc_from_intermediate_statistics,
    roc_curve_from_intermediate_statistics,
)
from ..criteria import by_clip
from ..statistic_functions import bootstrapped_function, statistic_function

roc_curve = statistic_function("roc_curve", by_clip, roc_curve_from_intermediate_statistics)
auroc = statistic_function("auroc", by_clip, auroc_from_intermediate_statistics)
bootstrapped_auroc = batched(
    bootstrapped_function("bootstrapped_auroc", by_clip, auroc_from_intermediate_statistics)
)
