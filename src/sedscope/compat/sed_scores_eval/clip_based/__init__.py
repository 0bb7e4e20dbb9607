"""Whole clips, judged by their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..criteria import by_clip
from ..sed_eval_metrics import tagging_metrics
from ..statistic_functions import add_statistics

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


add_statistics(__name__, by_clip, metrics=tagging_metrics)
