"""The classes of all metrics."""

from __future__ import annotations

from typing import Any

from ..criteria.registry import CRITERIA
from ..definitions import Registry
from ..postprocessing import POSTPROCESSINGS
from .metric import Metric

METRICS: Registry[Metric[Any]] = Registry(
    "metric", Metric, uses=(CRITERIA, POSTPROCESSINGS), package=__package__
)
