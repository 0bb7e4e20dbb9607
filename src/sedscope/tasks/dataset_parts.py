"""What a data set does to references and scores before they are evaluated: a function for each key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..errors import SedscopeError
from ..io.locations import Location
from .task import Dataset


def truth_reading(dataset: Dataset, folder: Location) -> Mapping[str, Any]:
    """Return further arguments of ``read_ground_truth``: soft labels, and references to ignore."""
    _refuse(dataset, "confidence", "ignored", "ignored_labels")
    return {}


def relabel_truth(truth: GroundTruth, dataset: Dataset, folder: Location) -> GroundTruth:
    """Give the references the labels of the task."""
    _refuse(dataset, "labels", "truth_labels")
    return truth


def relabel_scores(scores: Scores, dataset: Dataset, folder: Location) -> Scores:
    """Give the scores the labels of the task."""
    _refuse(dataset, "labels", "system_labels")
    return scores


def join_truth_chunks(truth: GroundTruth, dataset: Dataset) -> GroundTruth:
    """Join the references of chunks to those of whole recordings."""
    _refuse(dataset, "chunks")
    return truth


def join_score_chunks(scores: Scores, dataset: Dataset) -> Scores:
    """Join the scores of chunks to those of whole recordings."""
    _refuse(dataset, "chunks")
    return scores


def cut_truth_to_regions(truth: GroundTruth, dataset: Dataset, folder: Location) -> GroundTruth:
    """Keep the references in the regions to evaluate."""
    _refuse(dataset, "regions")
    return truth


def cut_scores_to_regions(scores: Scores, truth: GroundTruth, dataset: Dataset) -> Scores:
    """Keep the scores in the regions to evaluate."""
    _refuse(dataset, "regions")
    return scores


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
