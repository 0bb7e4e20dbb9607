"""Submissions to a task that are checked and evaluated for a ranking, of which only values are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..data.arrays import FloatArray
from ..data.clip_ids import clip_list_digest
from ..data.ground_truth import GroundTruth
from ..engines.run import Run
from ..errors import SedscopeError, collected_warnings
from ..io.locations import Location, folder_content, open_input
from ..io.submission_lists import ListedSystem, refuse_outward_links
from ..ranking.ranking import Estimate, RankedSet
from ..ranking.submissions import (
    SCORE,
    Measurement,
    keep,
    kept,
    mean_estimate,
    mean_interval,
    problems_of,
    undefined_score,
)
from ..resampling.resampling import Resampling
from .submission_check import check_submission
from .submissions import require_outputs
from .task import named_files
from .task_data import DatasetTruth, TaskData
from .task_evaluation import TaskEvaluation, evaluate_task
from .task_files import task_toml

_BLOCK = 1 << 20  # bytes that are read at a time


def measurement_key(
    data: TaskData, runs: Sequence[Mapping[str, Location]], resampling: Resampling
) -> str:
    """Return a digest of everything that the values of a system depend on.

    ``runs``: where the output of each run for each data set is.
    """
    from .. import __version__

    digest = hashlib.blake2b(digest_size=16)
    digest.update(_bytes(("task", __version__, task_toml(data.task), resampling)))
    for of_set in data.datasets.values():
        _add_data(digest, of_set)
    for outputs in runs:
        for name, path in outputs.items():
            _add_files(digest, path, f"{name}/")
    return digest.hexdigest()


def _add_data(digest: hashlib.blake2b, of_set: DatasetTruth) -> None:
    """Add the reference events as they were read, and the other files of the data set."""
    of_clips = [
        None if facts is None else sorted(facts.items())
        for facts in (of_set.recordings, of_set.folder_of, of_set.shot_ends)
    ]
    digest.update(_bytes((of_set.name, of_set.system_map, *of_clips)))
    _add_truth(digest, of_set.truth)
    for name in sorted({name for _, name in named_files(of_set.dataset)}):
        file = of_set.folder / name
        if file.is_file():
            _add_files(digest, file, name)


def _add_truth(digest: hashlib.blake2b, truth: GroundTruth) -> None:
    names = (truth.clips, truth.labels, truth.ignored_labels, truth.invalid, truth.warnings)
    digest.update(_bytes(names))
    arrays = (truth.event_clips, truth.event_labels, truth.onsets, truth.offsets, truth.ignored)
    for array in (*arrays, truth.durations):
        if array is not None:
            digest.update(_bytes((array.dtype.str, array.shape)))
            digest.update(np.ascontiguousarray(array).tobytes())


def _add_files(digest: hashlib.blake2b, path: Location, name: str) -> None:
    """Add the names and the content of a file, or of all files in a folder."""
    if path.is_dir():
        for part in folder_content(path):
            _add_files(digest, part, f"{name}/{part.name}")
        return
    digest.update(_bytes((name, path.name)))
    with open_input(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    digest.update(b"\0end")


def _bytes(value: object) -> bytes:
    return repr(value).encode("utf-8", "surrogatepass")


class UnrankableError(Exception):
    """A submission cannot be ranked."""

    def __init__(self, reasons: Iterable[str]) -> None:
        super().__init__()
        self.reasons = tuple(reasons)


def measure_listed(
    system: ListedSystem,
    data: TaskData,
    resampling: Resampling,
    run: Run,
    folder: Path | None,
) -> Measurement:
    """Check a submission and evaluate it. What was measured before comes from the folder."""
    try:
        key = None
        if folder is not None:
            refuse_outward_links(system.paths)
            outputs = [require_outputs(data.task, path) for path in system.paths]
            key = measurement_key(data, outputs, resampling)
            measurement = kept(folder, key)
            if measurement is not None:
                return measurement
    except SedscopeError:
        pass  # the check lists all problems
    problems: list[str] = []
    notes: list[str] = []
    for path in system.paths:
        with collected_warnings():
            check = check_submission(data.task, path, data, run=Run(run.threads))
        problems += check.problems
        notes += check.warnings
    if problems:
        raise UnrankableError(_portable(problems, system))
    try:
        measurement = _evaluate(system, data, resampling, run, notes)
    except SedscopeError as error:
        raise UnrankableError(_portable(problems_of(error), system)) from None
    undefined = undefined_score(measurement)
    if undefined is not None:
        raise UnrankableError([undefined, *measurement.notes])
    if folder is not None and key is not None:
        keep(folder, key, measurement)
    return measurement


def _portable(texts: Iterable[str], system: ListedSystem) -> list[str]:
    """Let paths begin with the name of the submission, so that they are the same on every machine."""
    portable = [*texts]
    for path in system.paths:
        portable = [text.replace(str(path), path.name) for text in portable]
    return [*dict.fromkeys(portable)]


@dataclass(frozen=True, eq=False)
class _Values:
    """What is kept of a run: for each value, itself and then its resamples."""

    score: FloatArray
    metrics: Mapping[str, FloatArray]
    classes: Mapping[str, Mapping[str, FloatArray]]
    sets: Mapping[str, RankedSet]


def _evaluate(
    system: ListedSystem,
    data: TaskData,
    resampling: Resampling,
    run: Run,
    notes: list[str],
) -> Measurement:
    runs: list[_Values] = []
    for path in system.paths:
        with collected_warnings():  # they are among the notes
            result = evaluate_task(data.task, path, data, resampling=resampling, run=run)
        runs.append(_values(result))
        notes = [*notes, *result.warnings]
        if [of_set.digest for of_set in runs[0].sets.values()] != [
            of_set.digest for of_set in runs[-1].sets.values()
        ]:
            raise SedscopeError("The runs of the system have different clips.")
    metrics = {SCORE: mean_estimate([run.score for run in runs], resampling)}
    for name in runs[0].metrics:
        labels = dict.fromkeys(label for run in runs for label in run.classes[name])
        per_class = {label: _class_mean(runs, name, label, resampling) for label in labels}
        metrics[name] = mean_estimate([run.metrics[name] for run in runs], resampling, per_class)
    return Measurement(
        score=mean_interval([run.score for run in runs], resampling).values,
        metrics=metrics,
        sets=runs[0].sets,
        notes=tuple(dict.fromkeys(_portable(notes, system))),
    )


def _class_mean(runs: Sequence[_Values], name: str, label: str, resampling: Resampling) -> Estimate:
    undefined = np.full(1 + resampling.number, np.nan)
    columns = [run.classes[name].get(label, undefined) for run in runs]
    mean = mean_interval(columns, resampling)
    return Estimate(mean.value, mean.low, mean.high)


def _values(result: TaskEvaluation) -> _Values:
    """Take the values from an evaluation, which holds much more."""
    assert result.interval is not None
    metrics: dict[str, FloatArray] = {}
    classes: dict[str, dict[str, FloatArray]] = {}
    sets: dict[str, RankedSet] = {}
    for dataset, evaluation in result.datasets.items():
        for metric, name in evaluation.names.items():
            full = f"{dataset}.{name}"
            metrics[full] = _column(result.values[dataset][name], result.resamples[dataset][name])
            classes[full] = {
                label: _column(interval.value, interval.values)
                for label, interval in evaluation.intervals[metric].per_class.items()
            }
        assert evaluation.alignment is not None
        digest = clip_list_digest(evaluation.alignment.clips)
        sets[dataset] = RankedSet(evaluation.clips, evaluation.hours, evaluation.classes, digest)
    return _Values(_column(result.score, result.interval.values), metrics, classes, sets)


def _column(value: float, resampled: FloatArray) -> FloatArray:
    return np.concatenate([[value], resampled])
