"""Steps of an evaluation that have no public function of their own, as many tests call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.counting.delta_files import pack_deltas, unpack_deltas
from sedscope.counting.request import DeltaRequest, Requests
from sedscope.criteria import Criterion
from sedscope.diagnosis import ClipDiagnosis
from sedscope.diagnosis.clips import diagnose_aligned_clip
from sedscope.engines import floor_search
from sedscope.engines.engine import Engine
from sedscope.evaluation.class_blocks import estimate_memory
from sedscope.metrics import Metric
from sedscope.metrics.metric import delta_requests


def find_deltas(
    scores: sed.Scores,
    truth: sed.GroundTruth,
    wanted: Mapping[Any, Mapping[str, Any]],
    threads: int | None = None,
    **choice: Any,
) -> dict[Criterion, sed.Deltas]:
    """Find the deltas of several criteria in one pass; ``wanted``: more than ``sed.deltas`` finds of each."""
    requests = {criterion: DeltaRequest(**options) for criterion, options in wanted.items()}
    return _pass(scores, truth, requests, threads, **choice)


def find_all_deltas(
    scores: sed.Scores, truth: sed.GroundTruth, metrics: Iterable[Metric[Any]], **choice: Any
) -> dict[Criterion, sed.Deltas]:
    """Find the deltas that metrics need, at every threshold."""
    requests = delta_requests(metrics)
    every = {criterion: request.at_every_threshold() for criterion, request in requests.items()}
    return _pass(scores, truth, every, None, **choice)


def _pass(
    scores: sed.Scores, truth: sed.GroundTruth, requests: Requests, threads: int | None, **choice: Any
) -> dict[Criterion, sed.Deltas]:
    return floor_search.find_deltas(align(scores, truth, **choice), requests, Engine(threads))


def stored(deltas: sed.Deltas) -> sed.Deltas:
    """Return deltas as they come back from a file."""
    (again,), *_ = unpack_deltas(pack_deltas([deltas]), {})
    return again


def memory_of_one_class(
    scores: sed.Scores, truth: sed.GroundTruth, metrics: Iterable[Metric[Any]], slack: float = 1.5
) -> int:
    """Return a memory limit that holds the largest class, so that an evaluation goes class by class."""
    needed = estimate_memory(align(scores, truth), delta_requests(metrics))
    return int(1.5 * (needed.fixed + (needed.deltas + needed.counts).max() * slack)) + 1


def diagnosed(
    scores: sed.Scores, truth: sed.GroundTruth, clip: str, criterion: Criterion, thresholds: Any
) -> ClipDiagnosis:
    """Diagnose a clip of a set, whose other clips tell what a cross-trigger may be."""
    return diagnose_aligned_clip(align(scores, truth), clip, criterion, thresholds)
