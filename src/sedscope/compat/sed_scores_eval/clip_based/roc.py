"""ROC curves of clips and their areas."""

from ..arguments import batched
from ..base_modules.roc import (
    auroc_from_intermediate_statistics,
    roc_curve_from_intermediate_statistics,
)
from ..criteria import by_clip
from ..reading import bootstrapped, reading

roc_curve = reading("roc_curve", by_clip, roc_curve_from_intermediate_statistics)
auroc = reading("auroc", by_clip, auroc_from_intermediate_statistics)
bootstrapped_auroc = batched(
    bootstrapped("bootstrapped_auroc", by_clip, auroc_from_intermediate_statistics)
)
