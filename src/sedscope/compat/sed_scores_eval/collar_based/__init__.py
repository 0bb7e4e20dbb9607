"""Detections judged by the distance of their boundaries from those of references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....criteria import Collar
from ..criteria import by_collar
from ..sed_eval_metrics import event_based_metrics
from ..statistic_functions import add_statistics

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


add_statistics(
    __name__,
    by_collar,
    criterion=lambda columns: Collar(errors="onset_dist_sum" in columns),  # whatever the collars were
    metrics=event_based_metrics,
    positional=True,
)
