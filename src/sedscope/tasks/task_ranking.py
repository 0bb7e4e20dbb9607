"""``rank_task``: submissions that are evaluated on all data sets of a task, and ranked by its score."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ..data.arrays import FloatArray
from ..data.clips import clip_list_digest
from ..data.ground_truth import GroundTruth
from ..engines.run import Run
from ..errors import SedscopeError, collected_warnings, issue_warnings, listing
from ..evaluation.result import Evaluation
from ..io.locations import Address, Location, folder_content, input_location, open_input
from ..io.submission_lists import ListedSystem, list_systems, refuse_outward_links
from ..ranking.ranking import RankedMetric, RankedSet
from ..ranking.ranking_result import Ranking
from ..ranking.similarity import fingerprint_of_sets
from ..ranking.submissions import (
    SCORE,
    SYSTEMS,
    Measurement,
    OpenedSubmission,
    RankingRules,
    RunValues,
    Submission,
    in_order,
    rank_submissions,
    refuse_randomisation,
)
from ..resampling.resampling import Resampling
from ..resampling.subsampling import Behaviour
from .submission_check import check_submission
from .submissions import require_outputs
from .task import Dataset, Task, named_files
from .task_data import DatasetTruth, TaskData, read_task_data
from .task_evaluation import TaskEvaluation, evaluate_output, evaluate_task
from .task_files import task_toml

_BLOCK = 1 << 20  # bytes that are read at a time


def rank_task(
    task: Task | str | Location,
    submissions: Mapping[str, str | Location | Sequence[str | Location]] | Iterable[str | Location],
    data: str | Location | TaskData | None = None,
    *,
    truth: str | Location | None = None,
    durations: str | Location | None = None,
    teams: Mapping[str, str] | None = None,
    resampling: Resampling | int | None = None,
    run: Run | None = None,
) -> Ranking:
    """Rank submissions to a task by its score, with intervals of the ranks and groups of systems that tie.

    Submissions are evaluated one after the other. One with problems is rejected, and the others go on.

    Parameters
    ----------
    task : Task, str or Path
        The task, its name, or the path of its TOML file.
    submissions : mapping of str to path, or iterable of str
        The submission of each system. Several paths under one name are runs of one system: the mean of
        their scores is ranked. An iterable lists paths, patterns such as ``"submissions/*"``, and tables
        ``team,name,path``.
    data : str or Path, optional
        The folder of the data sets; see :func:`~sedscope.tasks.evaluate_task`.
    resampling : int or Resampling, optional
        How clips are drawn; see :func:`~sedscope.rank`. Each data set is resampled on its own, and
        in the same way for all systems.
    truth, durations : str or Path, optional
        Instead of `data`, for a task with one data set; see :func:`~sedscope.tasks.evaluate_task`.
    teams : mapping of str to str, optional
        The team of each system, if `submissions` is a mapping. A system that is not listed is a team of
        its own.
    run : Run, optional
        How the passes run. Its checkpoint keeps the values of each system: one that was evaluated before,
        by the same task on the same data and resamples, is not evaluated again.

    Returns
    -------
    Ranking
        The systems, best first, and those that were rejected. Values are named ``dataset.metric``.

    See Also
    --------
    sedscope.rank : Rank systems without a task.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> task = sed.tasks.Task("mine", {"home": sed.tasks.Dataset("psds1")}, "100 * home.psds1")
    >>> truth = sed.simulate.ground_truth(30, classes=2)
    >>> durations = "".join(f"{clip}\\t10\\n" for clip in truth.clips)
    >>> with TemporaryDirectory() as folder:
    ...     sed.write_ground_truth(truth, Path(folder, "ground_truth.tsv"))
    ...     _ = Path(folder, "durations.tsv").write_text(f"filename\\tduration\\n{durations}")
    ...     for name, quality in (("a", 0.6), ("b", 0.9)):
    ...         sed.write_scores(sed.simulate.scores(truth, quality=quality), Path(folder, name))
    ...     paths = {name: f"{folder}/{name}" for name in ("a", "b")}
    ...     ranking = sed.tasks.rank_task(task, paths, folder, resampling=50)
    >>> [(system.rank, system.name) for system in ranking.systems]
    [(1, 'b'), (2, 'a')]
    """
    ranking = rank_listed(
        read_task_data(task, data, truth, durations),
        _listed(submissions, teams),
        Resampling._of(resampling),
        Run._of(run, "Ranking", "engine", "scheduler", "checkpoint", unit=SYSTEMS),
    )
    issue_warnings(ranking._all_warnings(), 2)
    return ranking


def rank_listed(
    data: TaskData, systems: Iterable[ListedSystem], resampling: Resampling, run: Run
) -> Ranking:
    """Rank submissions that are files. The arguments are those of :func:`rank_task`."""
    ordered = in_order(
        Submission(system.name, system.team, system.paths, system.paths) for system in systems
    )
    return rank_submissions(ordered, TaskRules(data, resampling, run), run)


class TaskRules(RankingRules[Location]):
    """Systems are evaluated on all data sets of a task, and ranked by its score."""

    class_advice = "List the classes of the data set in the task to change that."

    def __init__(self, data: TaskData, resampling: Resampling, run: Run) -> None:
        refuse_randomisation(resampling)
        self.data, self.resampling = data, resampling._with_interval()
        self.quiet = replace(run, checkpoint=None, progress=None)
        self.task, self.kinds = data.task.name, _kinds(data.task)
        self.sets: Mapping[str, RankedSet] = {}

    def opened(self, submission: Submission[Location], *, keyed: bool) -> OpenedSubmission:
        """Find the files of a submission."""
        key = None
        if keyed:
            try:
                refuse_outward_links(submission.runs)
                outputs = [require_outputs(self.data.task, path) for path in submission.runs]
                key = _measurement_key(self.data, outputs, self.resampling)
            except SedscopeError:
                pass  # the check lists all problems
        return OpenedSubmission(partial(self._measure, submission), key)

    def _measure(self, submission: Submission[Location], _: Run) -> Measurement:
        """Check all runs, then evaluate them."""
        problems: list[str] = []
        notes: list[str] = []
        for path in submission.runs:
            with collected_warnings():
                check = check_submission(self.data.task, path, self.data, run=Run(self.quiet.threads))
            problems += check.problems
            notes += check.warnings
        if problems:
            raise SedscopeError(f"{listing(problems)}.", lines=problems)
        runs: list[RunValues] = []
        prints = np.empty(0)
        for path in submission.runs:
            with collected_warnings():  # they are among the notes
                result = evaluate_task(
                    self.data.task, path, self.data, resampling=self.resampling, run=self.quiet
                )
            if not runs:
                prints = fingerprint_of_sets([of_set.deltas for of_set in result.datasets.values()])
            runs.append(_values(result))
            notes += result.warnings
        portable = submission.portable(notes)
        return Measurement.of_runs(
            runs, self.resampling, prints, portable, behaviours=_behaviours(self.data.task)
        )

    def common_notes(self, measured: Sequence[Measurement]) -> list[str]:
        """Return the notes that all systems have, which are about the data. A single system has its own."""
        if len(measured) < 2:
            return []
        return [note for note in measured[0].notes if all(note in other.notes for other in measured)]

    def first_run(self, submission: Submission[Location], dataset: str) -> Evaluation:
        """Evaluate the first run anew on a data set."""
        output = require_outputs(self.data.task, submission.runs[0])[dataset]
        with collected_warnings():
            return evaluate_output(
                output, self.data.datasets[dataset], None, self.quiet, keep_scores=True
            )

    def has_intervals(self, submission: Submission[Location], dataset: str) -> bool:
        """Return whether intervals are neither of the mean over runs nor of the average over groups."""
        rule = self.data.task.datasets[dataset].groups
        return len(submission.runs) == 1 and (rule is None or rule.average is None)


def _listed(
    submissions: Mapping[str, str | Location | Sequence[str | Location]] | Iterable[str | Location],
    teams: Mapping[str, str] | None,
) -> list[ListedSystem]:
    """Return the systems that a user lists."""
    if not isinstance(submissions, Mapping):
        if teams is not None:
            raise SedscopeError("teams= needs submissions by name: {'name': path}.")
        texts = [submissions] if isinstance(submissions, str) else [*submissions]
        return list_systems([str(text) for text in texts])
    unknown = sorted(set(teams or {}).difference(submissions))
    if unknown:
        raise SedscopeError(
            f"teams names systems that are not among the submissions: {listing(unknown)}."
        )
    systems = []
    for name, paths in submissions.items():
        runs = [paths] if isinstance(paths, (str, Path, Address)) else [*paths]
        locations = tuple(input_location(path) for path in runs)
        if not locations:
            raise SedscopeError(f"{name} has no submission.")
        systems.append(ListedSystem((teams or {}).get(name, name), name, locations))
    return systems


def _kinds(task: Task) -> tuple[RankedMetric, ...]:
    """Return what is measured, the score first."""
    return (
        RankedMetric(SCORE, task.score, not task.lower_is_better),
        *(
            RankedMetric(
                f"{name}.{metric}", _definition(dataset, repr(definition)), definition.higher_is_better
            )
            for name, dataset in task.datasets.items()
            for metric, definition in dataset.metrics.items()
        ),
    )


def _behaviours(task: Task) -> dict[str, Behaviour]:
    """Return how the score and the metrics behave on few clips.

    An average over groups is corrected as a whole: the classes are those of all clips, not of the groups.
    """
    metrics = {name: dataset.metrics for name, dataset in task.datasets.items()}
    behaviours = {SCORE: task.formula.behaviour(metrics, task.lower_is_better)}
    for name, dataset in task.datasets.items():
        averaged = dataset.groups is not None and dataset.groups.average is not None
        for metric, definition in dataset.metrics.items():
            of_metric = Behaviour.of(definition)
            whole = replace(of_metric, costs_spread=False)
            behaviours[f"{name}.{metric}"] = whole if averaged else of_metric
    return behaviours


def _definition(dataset: Dataset, metric: str) -> str:
    rule = dataset.groups
    if rule is None or rule.average is None:
        return metric
    mean = "mean" if rule.average == "mean" else "harmonic mean"
    return f"{metric}, {mean} over groups of {'clips' if rule.clips else 'classes'}"


def _values(result: TaskEvaluation) -> RunValues:
    """Take the values from an evaluation, which holds much more."""
    assert result.interval is not None
    metrics = {SCORE: result.interval._column}
    classes: dict[str, dict[str, FloatArray]] = {}
    sets: dict[str, RankedSet] = {}
    for dataset, evaluation in result.datasets.items():
        for metric, name in evaluation.names.items():
            full = f"{dataset}.{name}"
            interval_of_all = result._measured[dataset][name][1]
            assert interval_of_all is not None
            metrics[full] = interval_of_all._column
            classes[full] = {
                label: interval._column
                for label, interval in evaluation.intervals[metric].per_class.items()
            }
        assert evaluation.alignment is not None
        digest = clip_list_digest(evaluation.alignment.clips)
        sets[dataset] = RankedSet(evaluation.clips, evaluation.hours, evaluation.classes, digest)
    signatures = {name: evaluation.signature for name, evaluation in result.datasets.items()}
    return RunValues(metrics, classes, sets, signatures, result._score_of_classes)


def _measurement_key(
    data: TaskData, runs: Sequence[Mapping[str, Location]], resampling: Resampling
) -> str:
    """Return a digest of everything that the values of a system depend on.

    ``runs``: where the output of each run for each data set is.
    """
    from .. import __version__

    digest = hashlib.blake2b(digest_size=16)
    digest.update(_bytes(("task submission", __version__, task_toml(data.task), resampling)))
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
