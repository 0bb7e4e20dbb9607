"""Error rates by intersection."""

from ..base_modules.error_rate import (
    best_error_rate_from_intermediate_statistics,
    error_rate_curve_from_intermediate_statistics,
    single_error_rate_from_intermediate_statistics,
)
from ..criteria import by_intersection
from ..statistic_functions import statistic_function

error_rate_curve = statistic_function(
    "error_rate_curve", by_intersection, error_rate_curve_from_intermediate_statistics
)
error_rate = statistic_function(
    "error_rate", by_intersection, single_error_rate_from_intermediate_statistics
)
best_error_rate = statistic_function(
    "best_error_rate", by_intersection, best_error_rate_from_intermediate_statistics
)
