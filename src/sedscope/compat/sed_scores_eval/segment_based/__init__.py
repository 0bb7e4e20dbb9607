"""Segments of equal length, judged one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..criteria import by_segment
from ..sed_eval_metrics import segment_based_metrics
from ..statistic_functions import add_statistics

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


add_statistics(__name__, by_segment, metrics=segment_based_metrics)
