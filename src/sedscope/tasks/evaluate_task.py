"""``evaluate_task``: a submission on all data sets of a task, and its score."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..data.score_cache import cached
from ..engines.run import Run
from ..errors import SedscopeError, SedscopeWarning, without_options
from ..evaluation.evaluate import evaluate, evaluate_sets
from ..evaluation.notes import equal_answers_note, one_point_note
from ..evaluation.result import Evaluation
from ..io.locations import Location, input_location
from ..resampling.resampling import Resampling, drawing_recordings
from .dataset_parts import grouping
from .submissions import read_output, require_outputs
from .task import Task
from .task_data import DatasetTruth, TaskData, opened_data
from .task_evaluation import TaskEvaluation


def evaluate_task(
    task: Task | str | Location,
    submission: str | Location,
    data: str | Location | TaskData | None = None,
    *,
    truth: str | Location | None = None,
    durations: str | Location | None = None,
    resampling: Resampling | int | None = None,
    keep_scores: bool = False,
    run: Run | None = None,
) -> TaskEvaluation:
    """Evaluate a submission on all data sets of a task, and compute its score.

    Parameters
    ----------
    task : Task, str or Path
        The task, its name, or the path of its TOML file.
    submission : str or Path
        The folder of the submission, with a folder or file for each data set: scores or detections in any
        format. If the task has one data set, it may be the output of the system itself.
    data : str or Path, optional
        The folder with a folder for each data set, which has its ground truth and durations. If the task
        has one data set, it may be the folder of that data set itself.
    truth, durations : str or Path, optional
        Instead of ``data``, for a task with one data set: the file or folder of the reference events, and
        the file of durations.
    resampling : int or Resampling, optional
        Resample the clips this many times, and add intervals. Each data set is resampled independently.
    keep_scores : bool, default False
        Keep scores in memory as far as there is room, for a report.
    run : Run, optional
        How the passes over the clips run.

    Returns
    -------
    TaskEvaluation
        The score, and the evaluation of each data set.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> task = sed.Task("mine", {"home": sed.Dataset("collar_f1")}, "100 * home.collar_f1")
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> with TemporaryDirectory() as folder:
    ...     data, ours = Path(folder, "data"), Path(folder, "ours")
    ...     (data / "home").mkdir(parents=True)
    ...     ours.mkdir()
    ...     sed.write_ground_truth(truth, data / "home" / "ground_truth.tsv")
    ...     _ = (data / "home" / "durations.tsv").write_text("filename\\tduration\\na\\t3\\n")
    ...     sed.write_scores(scores, ours / "home")
    ...     sed.evaluate_task(task, ours, data).score
    100.0
    """
    opened = opened_data(task, data, truth, durations)
    outputs = require_outputs(opened.task, input_location(submission))
    resampling = None if resampling is None else Resampling._of(resampling)
    if resampling is not None and resampling.interval != "percentile":
        raise SedscopeError(
            "The score of a task has percentile intervals only. Leave out interval='bca' (--interval bca)."
        )
    evaluations = {}
    for name, drawn in _resampling_of(opened.task, resampling).items():
        try:
            with without_options():
                evaluations[name] = evaluate_output(
                    outputs[name], opened.datasets[name], drawn, run, keep_scores=keep_scores
                )
        except SedscopeError as error:
            if len(outputs) == 1:
                raise
            raise SedscopeError(f"{name}: {error}", lines=error.lines, advice=error.advice) from None
    return TaskEvaluation(opened.task, evaluations).warn(stacklevel=2)


def evaluate_output(
    path: Location,
    truth: DatasetTruth,
    resampling: Resampling | None,
    run: Run | None,
    *,
    keep_scores: bool = False,
) -> Evaluation:
    """Evaluate the output of a system for one data set."""
    dataset = truth.dataset
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SedscopeWarning)
        system, references = read_output(path, truth)
        if isinstance(system, dict):
            if resampling is not None or dataset.groups is not None:
                user = "groups need" if resampling is None else "resampling needs"
                raise SedscopeError(f"{path} holds detections at thresholds, but {user} scores.")
            result = evaluate_sets(
                system,
                references,
                dataset.metrics,
                classes=dataset.classes,
                clips=dataset.clips,
                missing=dataset.missing,
                coverage=dataset.coverage,
                overlaps=dataset.overlaps,
                label_map=truth.system_map,
                run=None if run is None else Run(threads=run.threads),
            )
        else:
            result = evaluate(
                cached(system) if keep_scores else system,
                references,
                dataset.metrics,
                classes=dataset.classes,
                clips=dataset.clips,
                missing=dataset.missing,
                coverage=dataset.coverage,
                resampling=None if resampling is None else drawing_recordings(resampling, references),
                by=grouping(dataset, references, truth.folder, truth.folder_of, system),
                run=run,
            )
            result = replace(
                result,
                warnings=(
                    *result.warnings,
                    *one_point_note(result.results),
                    *equal_answers_note(result.results, result.alignment),
                ),
            )
    notes = [str(warning.message) for warning in caught if warning.category is SedscopeWarning]
    for other in caught:
        if other.category is not SedscopeWarning:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return replace(result, warnings=tuple(dict.fromkeys([*notes, *result.warnings])))


def _resampling_of(task: Task, resampling: Resampling | None) -> Mapping[str, Resampling | None]:
    """Return how each data set is resampled: independently, so with a seed of its own.

    The first data set has the seed that was chosen, so a task with one data set is resampled as
    ``evaluate`` resamples it.
    """
    if resampling is None:
        return dict.fromkeys(task.datasets)
    seeds = [
        resampling.seed
        if i == 0
        else int(np.random.SeedSequence([resampling.seed, i]).generate_state(1)[0])
        for i in range(len(task.datasets))
    ]
    return {
        name: replace(resampling, seed=seed) for name, seed in zip(task.datasets, seeds, strict=True)
    }
