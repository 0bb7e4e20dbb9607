"""Error rates of clips."""

from ..base_modules.error_rate import (
    best_error_rate_from_intermediate_statistics,
    error_rate_curve_from_intermediate_statistics,
    single_error_rate_from_intermediate_statistics,
)
from ..criteria import by_clip
from ..reading import reading

error_rate_curve = reading("error_rate_curve", by_clip, error_rate_curve_from_intermediate_statistics)
error_rate = reading("error_rate", by_clip, single_error_rate_from_intermediate_statistics)
best_error_rate = reading("best_error_rate", by_clip, best_error_rate_from_intermediate_statistics)
