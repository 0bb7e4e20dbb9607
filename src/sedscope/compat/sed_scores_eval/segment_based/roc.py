"""ROC curves of segments and their areas."""

from ..arguments import batched
from ..base_modules.roc import (
    auroc_from_intermediate_statistics,
    roc_curve_from_intermediate_statistics,
)
from ..criteria import by_segment
from ..reading import bootstrapped, reading

roc_curve = reading("roc_curve", by_segment, roc_curve_from_intermediate_statistics)
auroc = reading("auroc", by_segment, auroc_from_intermediate_statistics)
bootstrapped_auroc = batched(
    bootstrapped("bootstrapped_auroc", by_segment, auroc_from_intermediate_statistics)
)
