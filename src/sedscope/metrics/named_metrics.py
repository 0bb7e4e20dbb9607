"""All metrics that have a short name. Naming or parsing a single metric does not load the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .metric import Metric
from .names import SHORT_NAMES, parse_metric


@dataclass(frozen=True)
class NamedMetric:
    """A metric that has a short name.

    Attributes
    ----------
    name : str
        The name.
    meaning : str
        What the metric says, in one line.
    metric : Metric
        The metric itself. Its ``repr`` is the full definition.
    """

    name: str
    meaning: str
    metric: Metric[Any]


NAMED_METRICS: Mapping[str, NamedMetric] = {
    name: NamedMetric(name, meaning, parse_metric(name)) for name, (_, meaning) in SHORT_NAMES.items()
}
"""All metrics that have a short name; ``sedscope metrics`` lists them."""
