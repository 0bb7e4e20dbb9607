"""``rank_task``: submissions that are evaluated on all data sets of a task, and ranked by its score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..data.progress import StagedProgress
from ..engines.run import Run
from ..errors import SedscopeError, collected_warnings, counted, issue_warnings, listing, readable
from ..evaluation.result import Evaluation
from ..io.locations import Address, Location, input_location, local_path
from ..io.submission_lists import ListedSystem, list_systems
from ..ranking.rank import bootstrap_of, enough_resamples, few_resamples_note
from ..ranking.ranking import (
    RankedMetric,
    RankedSet,
    RankedSystem,
    RejectedSystem,
    different_classes_note,
    full_name,
    rank_systems,
    refuse_equal_names,
)
from ..ranking.ranking_result import Ranking
from ..ranking.submissions import SCORE, Measurement, measured_system
from ..resampling.resampling import Resampling
from .measured_submissions import UnrankableError, measure_listed
from .submissions import require_outputs
from .task import Dataset, Task
from .task_data import TaskData, opened_data
from .task_evaluation import evaluate_output


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
    rank : Rank systems without a task.

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
        opened_data(task, data, truth, durations),
        _listed(submissions, teams),
        Resampling._of(resampling),
        Run._of(run, "Ranking", "engine", "scheduler", "checkpoint"),
    )
    issue_warnings(ranking.all_warnings(), 2)
    return ranking


def rank_listed(
    data: TaskData,
    systems: Sequence[ListedSystem],
    resampling: Resampling,
    run: Run,
) -> Ranking:
    """Evaluate submissions one after the other, and rank them.

    The arguments are those of :func:`rank_task`.
    """
    if resampling.interval != "percentile":
        raise SedscopeError(
            "The score of a task has percentile intervals only. Leave out interval='bca' (--interval bca)."
        )
    ordered = sorted(systems, key=lambda system: (system.team, system.name))
    refuse_equal_names([full_name(system.team, system.name) for system in ordered])
    if resampling.n is None:
        resampling = replace(resampling, n=_enough(data, len(ordered), resampling.confidence))
    folder = None if run.checkpoint is None else local_path(run.checkpoint)
    steps = StagedProgress(run._steps, len(ordered))
    quiet = replace(run, checkpoint=None, progress=None)
    measured: dict[tuple[str, str], Measurement] = {}
    rejected: list[RejectedSystem] = []
    for system in ordered:
        stage = steps.stage(1)
        try:
            measured[system.team, system.name] = measure_listed(system, data, resampling, quiet, folder)
        except UnrankableError as error:
            rejected.append(RejectedSystem(system.name, system.team, error.reasons))
        if stage is not None:
            stage(1, 1)
    rejected += _take_other_clips(measured)
    kinds = _kinds(data.task)
    common = _common_notes([*measured.values()])
    ranked, pairs = rank_systems(
        [
            measured_system(
                name, team, measurement, [note for note in measurement.notes if note not in common]
            )
            for (team, name), measurement in measured.items()
        ],
        higher_is_better=kinds[0].higher_is_better,
        confidence=resampling.confidence,
    )
    sets = _sets([*measured.values()])
    notes = [*common, *_class_notes(data.task, measured), *few_resamples_note(len(pairs), resampling)]
    return Ranking(
        systems=ranked,
        rejected=tuple(sorted(rejected, key=lambda system: (system.team, system.name))),
        score=kinds[0],
        metrics=kinds,
        classes=tuple(dict.fromkeys(label for of_set in sets.values() for label in of_set.classes)),
        clips=sum(of_set.clips for of_set in sets.values()),
        hours=sum(of_set.hours for of_set in sets.values()),
        pairs=pairs,
        resampling=resampling,
        warnings=tuple(map(readable, notes)),
        evaluate=_evaluator(ordered, data, resampling, quiet),
        task=data.task.name,
        datasets=sets,
    )


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


def _enough(data: TaskData, systems: int, confidence: float) -> int:
    """Return how many resamples all pairs of systems need."""
    sizes = [
        (len(of_set.truth.clips), len(of_set.dataset.classes or of_set.truth.labels))
        for of_set in data.datasets.values()
    ]
    metrics = max(len(of_set.dataset.metrics) for of_set in data.datasets.values())
    clips, classes = (max(numbers) for numbers in zip(*sizes, strict=True))  # one set after the other
    return enough_resamples(systems, clips, classes, metrics, confidence)


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


def _definition(dataset: Dataset, metric: str) -> str:
    rule = dataset.groups
    if rule is None or rule.average is None:
        return metric
    mean = "mean" if rule.average == "mean" else "harmonic mean"
    return f"{metric}, {mean} over groups of {'clips' if rule.clips else 'classes'}"


def _take_other_clips(measured: dict[tuple[str, str], Measurement]) -> list[RejectedSystem]:
    """Take out systems that were evaluated on other clips than most systems, and reject them."""

    def clips(measurement: Measurement) -> tuple[str, ...]:
        return tuple(of_set.digest for of_set in measurement.sets.values())

    def size(measurement: Measurement) -> int:
        return sum(of_set.clips for of_set in measurement.sets.values())

    numbers = Counter(map(clips, measured.values()))
    if len(numbers) < 2:
        return []
    common = max(measured.values(), key=lambda system: (numbers[clips(system)], size(system)))
    others = [key for key, system in measured.items() if clips(system) != clips(common)]
    rejected = []
    for team, name in others:
        sets = measured.pop((team, name)).sets
        reasons = [
            f"{dataset}: the system was evaluated on {counted(of_set.clips, 'clip')}, but most systems on "
            f"{'other clips' if of_set.clips == common.sets[dataset].clips else common.sets[dataset].clips}. "
            "Only systems with the same clips can be ranked."
            for dataset, of_set in sets.items()
            if of_set.digest != common.sets[dataset].digest
        ]
        rejected.append(RejectedSystem(name, team, tuple(reasons)))
    return rejected


def _common_notes(measured: Sequence[Measurement]) -> list[str]:
    """Return the notes that all systems have, which are about the data. A single system has its own."""
    if len(measured) < 2:
        return []
    return [note for note in measured[0].notes if all(note in other.notes for other in measured)]


def _sets(measured: Sequence[Measurement]) -> dict[str, RankedSet]:
    """Return the data sets with the classes of all systems."""
    if not measured:
        return {}
    return {
        name: replace(
            of_set,
            classes=tuple(
                dict.fromkeys(label for system in measured for label in system.sets[name].classes)
            ),
        )
        for name, of_set in measured[0].sets.items()
    }


def _class_notes(task: Task, measured: Mapping[tuple[str, str], Measurement]) -> list[str]:
    """Note that systems were evaluated on different classes, where the task does not list them."""
    notes = []
    for name in task.datasets:
        classes = [system.sets[name].classes for system in measured.values()]
        advice = "List the classes of the data set in the task to change that."
        notes += [f"{name}: {note}" for note in different_classes_note(classes, advice)]
    return notes


def _evaluator(
    systems: Sequence[ListedSystem], data: TaskData, resampling: Resampling, run: Run
) -> Callable[[RankedSystem, str], Evaluation]:
    """Return what evaluates the first run of a system anew on a data set, with all that a report shows."""
    paths = {(system.team, system.name): system.paths for system in systems}

    def evaluate_ranked(system: RankedSystem, dataset: str) -> Evaluation:
        runs = paths[system.team, system.name]
        of_set = data.datasets[dataset]
        output = require_outputs(data.task, runs[0])[dataset]
        with collected_warnings():
            result = evaluate_output(output, of_set, None, run, keep_scores=True)
        rule = of_set.dataset.groups
        if len(runs) > 1 or (rule is not None and rule.average is not None):
            return result  # intervals are of the mean over runs, or of the average over groups
        intervals = {
            metric: bootstrap_of(system.metrics[f"{dataset}.{name}"], resampling)
            for metric, name in result.names.items()
        }
        return replace(result, intervals=intervals)

    return evaluate_ranked
