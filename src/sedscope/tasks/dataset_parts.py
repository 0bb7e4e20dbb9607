"""What a data set does to references and scores before they are evaluated: a function for each key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..data.ground_truth import GroundTruth
from ..data.joined_chunks import join_chunks
from ..data.regions import RegionTruth
from ..data.scores import Scores
from ..errors import SedscopeError
from ..io.locations import Location
from ..io.regions import read_regions
from ..resampling.resampling import Resampling
from .task import Dataset


def truth_reading(dataset: Dataset, folder: Location) -> Mapping[str, Any]:
    """Return further arguments of ``read_ground_truth``: soft labels, and references to ignore."""
    _refuse(dataset, "ignored", "ignored_labels")
    return {"confidence": dataset.confidence}


def relabel_truth(truth: GroundTruth, dataset: Dataset, folder: Location) -> GroundTruth:
    """Give the references the labels of the task."""
    _refuse(dataset, "labels", "truth_labels")
    return truth


def relabel_scores(scores: Scores, dataset: Dataset, folder: Location) -> Scores:
    """Give the scores the labels of the task."""
    _refuse(dataset, "labels", "system_labels")
    return scores


def join(
    scores: Scores, truth: GroundTruth, dataset: Dataset, recordings: Mapping[str, float] | None
) -> tuple[Scores, GroundTruth]:
    """Join chunks to whole recordings. ``recordings``: the durations of these, if they are known."""
    rule = dataset.chunks
    if rule is None:
        return scores, truth
    return join_chunks(
        scores,
        truth,
        unit=rule.unit,
        segment=rule.segment,
        durations=recordings,
        uncovered=rule.uncovered,
        unreferenced=rule.unreferenced,
        classes=dataset.classes,
    )


def cut(
    scores: Scores, truth: GroundTruth, dataset: Dataset, folder: Location
) -> tuple[Scores, GroundTruth]:
    """Keep the regions to evaluate."""
    if dataset.regions is None:
        return scores, truth
    regions = read_regions(folder / dataset.regions)
    cut_truth = regions.cut_truth(truth)
    return regions.cut_scores(scores, cut_truth), cut_truth


def drawing_recordings(resampling: Resampling | None, truth: GroundTruth) -> Resampling | None:
    """Return a resampling that draws recordings where clips are regions, unless it draws blocks."""
    if resampling is None or resampling.blocks is not None or not isinstance(truth, RegionTruth):
        return resampling
    return replace(resampling, groups=truth.resampling_groups(resampling.groups))


def grouping(dataset: Dataset, folder: Location) -> Mapping[str, Any]:
    """Return further arguments of ``evaluate``: the groups that metrics are measured in."""
    _refuse(dataset, "groups")
    return {}


def changes_scores(dataset: Dataset) -> bool:
    """Return whether the scores of a system are changed before they are evaluated."""
    return any((dataset.labels, dataset.system_labels, dataset.chunks, dataset.regions))


def _refuse(dataset: Dataset, *keys: str) -> None:
    used = [key for key in keys if getattr(dataset, key)]
    if used:
        raise SedscopeError(f"This version of sedscope cannot evaluate a data set with {used[0]}.")
