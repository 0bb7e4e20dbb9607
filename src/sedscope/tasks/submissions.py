"""Submissions: where the output of a system for each data set is, read as the task wants it."""

from __future__ import annotations

from ..data.scores import Scores
from ..errors import SedscopeError, listing
from ..io.locations import Location
from ..io.systems import DetectionSets, read_system
from .dataset_parts import (
    changes_scores,
    cut_scores_to_regions,
    join_score_chunks,
    relabel_scores,
)
from .task import Task
from .task_data import DatasetTruth, absent_parts, part_of


def find_outputs(task: Task, submission: Location) -> tuple[dict[str, Location], list[str]]:
    """Return where the output for each data set is, and a message for each that is missing."""
    alone = len(task.datasets) == 1
    outputs: dict[str, Location] = {}
    missing: list[str] = []
    for name, dataset in task.datasets.items():
        part = dataset.submission or name
        output = part_of(submission, part, alone)
        if output is None:
            missing += absent_parts(submission, [part], f"the output for the data set {name}")
        else:
            outputs[name] = output
    return outputs, [*dict.fromkeys(missing)]


def require_outputs(task: Task, submission: Location) -> dict[str, Location]:
    """Return where the output for each data set is. Refuse a submission that lacks one."""
    outputs, missing = find_outputs(task, submission)
    if missing:
        raise SedscopeError(
            f"The submission is not complete: {listing(missing, limit=20)}.", lines=missing
        )
    return outputs


def read_output(path: Location, truth: DatasetTruth) -> Scores | DetectionSets:
    """Read the output of a system for a data set, as the task wants it."""
    dataset = truth.dataset
    system = read_system(path, truth.truth, overlaps=dataset.overlaps, gaps=dataset.gaps)
    if isinstance(system, dict):
        if changes_scores(dataset):
            raise SedscopeError(
                f"{path} holds detections at thresholds, but the task changes labels or times, which needs "
                "scores or one list of detections."
            )
        return system
    return as_evaluated(system, truth)


def as_evaluated(scores: Scores, truth: DatasetTruth) -> Scores:
    """Return scores with the labels, recordings and regions of the task."""
    scores = relabel_scores(scores, truth.dataset, truth.folder)
    scores = join_score_chunks(scores, truth.dataset)
    return cut_scores_to_regions(scores, truth.truth, truth.dataset)
