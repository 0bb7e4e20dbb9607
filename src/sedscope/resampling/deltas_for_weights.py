"""Deltas for resampling: they reach lower scores than the original clips need, and serve every resample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.progress import Progress
from ..engines.engine import Engine
from ..engines.floor_search import find_deltas
from ..metrics import Metric
from ..metrics.requests import delta_requests
from ..postprocessing import PostProcessing
from .resampled_metric import reaches
from .resampling import Weights

_MARGIN = 2.0  # resamples rarely read twice as far down as the clips as they are


def find_deltas_for_weights(
    alignment: Alignment,
    metrics: Sequence[Metric[Any]],
    weights: Weights,
    engine: Engine,
    progress: Progress | None = None,
    *,
    variants: Sequence[PostProcessing] = (),
) -> dict[Criterion, Deltas]:
    """Find deltas that reach down as far as the metrics read, for all weights of the clips.

    ``variants``: also find the deltas of these, beside those that the metrics need.
    """
    requests = {}
    for criterion, request in delta_requests(metrics).items():
        limit = request.false_positive_limit
        requests[criterion] = replace(
            request,
            false_positive_limit=None if limit is None else _MARGIN * limit,
            variants=tuple(dict.fromkeys((*request.variants, *variants))),
        )
    deltas = find_deltas(alignment, requests, engine, progress)
    short = {
        metric.criterion for metric in metrics if not reaches(deltas[metric.criterion], metric, weights)
    }
    if short:
        complete = {criterion: requests[criterion].at_every_threshold() for criterion in short}
        deltas |= find_deltas(alignment, complete, engine, progress)
    return deltas
