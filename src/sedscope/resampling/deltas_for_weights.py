"""Deltas for resampling: they reach lower scores than the original clips need, and serve every resample.

They serve groups of clips as well, each of which reads as far down as if it were alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..counting.deltas import Deltas
from ..counting.request import DeltaRequest
from ..criteria import Criterion
from ..data.times import TICKS_PER_SECOND
from ..engines.engine import Engine
from ..engines.floor_search import find_deltas
from ..metrics import Metric
from ..metrics.metric import delta_requests, parts_of
from ..postprocessing import PostProcessing
from ..progress import Progress
from .resampled_metric import reaches
from .resampling import ClipPart, Weights

_SPARE = 8  # false positives by which small groups of clips differ from all clips


def find_deltas_for_weights(
    alignment: Alignment,
    metrics: Sequence[Metric[Any]],
    weights: Weights,
    engine: Engine,
    progress: Progress | None = None,
    *,
    variants: Sequence[PostProcessing] = (),
    parts: Sequence[ClipPart] = (),
) -> dict[Criterion, Deltas]:
    """Find deltas that reach down as far as the metrics read, for all weights of the clips.

    ``variants``: also find the deltas of these, beside those that the metrics need. ``parts``: the deltas
    of these clips alone also reach as far down as the metrics read, for all weights of theirs.
    """
    requests = {
        criterion: _further_down(
            replace(request, variants=tuple(dict.fromkeys((*request.variants, *variants)))),
            alignment,
            parts,
        )
        for criterion, request in delta_requests(metrics).items()
    }
    deltas = find_deltas(alignment, requests, engine, progress)
    short = {
        metric.criterion
        for metric in parts_of(metrics)
        if not reaches(deltas[metric.criterion], metric, weights, engine.threads, parts)
    }
    if short:
        complete = {criterion: requests[criterion].at_every_threshold() for criterion in short}
        deltas |= find_deltas(alignment, complete, engine, progress)
    return deltas


def _further_down(
    request: DeltaRequest, alignment: Alignment, parts: Sequence[ClipPart]
) -> DeltaRequest:
    """Return a request whose deltas are likely to reach down far enough for all weights."""
    limit = request.false_positive_limit
    if limit is None:
        return request
    allowed = [limit * int(alignment.durations[part.clips].sum()) / TICKS_PER_SECOND for part in parts]
    if any(
        # as many clips without references must exceed the limit, so that there is a floor
        _fewest_without_references(alignment, part.clips) < most + _SPARE
        for part, most in zip(parts, allowed, strict=True)
    ):
        return request.at_every_threshold()
    return request.further_down(spare=max((_SPARE / most for most in allowed), default=0.0))


def _fewest_without_references(alignment: Alignment, clips: NDArray[np.intp]) -> int:
    """Return how many of some clips have no references of a class, for the class with the fewest."""
    part = alignment.choose(clips)
    present = np.zeros((len(part.classes), len(clips)), bool)
    present[part.labels, part.event_clips] = True
    return len(clips) - int(present.sum(axis=1).max(initial=0))
