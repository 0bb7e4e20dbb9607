"""Submissions: where the output of a system for each data set is, read as the task wants it."""

from __future__ import annotations

from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..errors import SedscopeError, listing
from ..io.locations import Location
from ..io.systems import DetectionSets, read_system
from .dataset_parts import changes_times, cut, join
from .task import Dataset, Task
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


def read_output(path: Location, truth: DatasetTruth) -> tuple[Scores | DetectionSets, GroundTruth]:
    """Read the output of a system for a data set; return it with the references, both as evaluated."""
    dataset = truth.dataset
    system = read_system(
        path,
        truth.truth,
        overlaps=dataset.overlaps,
        gaps=dataset.gaps,
        label_map=truth.system_map,
    )
    if isinstance(system, Scores):
        return as_evaluated(system, truth)
    refuse_changed_sets(path, dataset)
    return system, truth.truth


def refuse_changed_sets(path: Location, dataset: Dataset) -> None:
    """Refuse detections at thresholds where the task changes what a system outputs."""
    if changes_times(dataset):
        raise SedscopeError(
            f"{path} holds detections at thresholds, but the task joins chunks or cuts regions, which needs "
            "scores or one list of detections."
        )


def as_evaluated(scores: Scores, truth: DatasetTruth) -> tuple[Scores, GroundTruth]:
    """Return scores and references with the recordings and regions of the task."""
    dataset = truth.dataset
    scores, references = join(scores, truth.truth, dataset, truth.recordings)
    return cut(scores, references, dataset, truth.folder)
