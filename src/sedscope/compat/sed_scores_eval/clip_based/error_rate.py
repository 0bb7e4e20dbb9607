"""Error rates of clips."""

from ..base_modules.error_rate import (
    best_error_rate_from_intermediate_statistics,
    error_rate_curve_from_intermediate_statistics,
    single_error_rate_from_intermediate_statistics,
)
from ..criteria import by_clip
from ..statistic_functions import statistic_function

error_rate_curve = statistic_function(
    "error_rate_curve", by_clip, error_rate_curve_from_intermediate_statistics
)
error_rate = statistic_function("error_rate", by_clip, single_error_rate_from_intermediate_statistics)
best_error_rate = statistic_function(
    "best_error_rate", by_clip, best_error_rate_from_intermediate_statistics
)
