"""What metrics need to know, together: which deltas to find, and down to which scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..counting.request import DeltaRequest
from ..criteria import Criterion
from .metric import Metric


def delta_requests(metrics: Iterable[Metric[Any]]) -> dict[Criterion, DeltaRequest]:
    """Return, for each criterion of the metrics, the request that covers all metrics of it."""
    requests: dict[Criterion, DeltaRequest] = {}
    for metric in parts_of(metrics):
        request = DeltaRequest(metric.false_positive_limit, metric.any_label, metric.variants)
        others = requests.get(metric.criterion)
        requests[metric.criterion] = request if others is None else others | request
    return requests


def parts_of(metrics: Iterable[Metric[Any]]) -> list[Metric[Any]]:
    """Return the parts of all metrics: each of them reads one criterion."""
    return [part for metric in metrics for part in metric.parts]
