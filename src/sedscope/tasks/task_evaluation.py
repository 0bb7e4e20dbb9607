"""``evaluate_task``: a submission on all data sets of a task, and its score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..alignment.coverage import UNLESS_TRIMMED
from ..data.arrays import FloatArray
from ..data.score_cache import cached
from ..engines.run import Run
from ..errors import (
    SedscopeError,
    collected_warnings,
    counted,
    issue_warnings,
    readable,
    without_options,
)
from ..escaping import one_line
from ..evaluation.evaluate import evaluate, evaluate_sets
from ..evaluation.notes import event_list_notes
from ..evaluation.result import Evaluation
from ..evaluation.result_tables import COLUMNS, Row, interval_ends, legend, limits, long_rows, value_cell
from ..io.archives import with_archives
from ..io.locations import Location, input_location
from ..resampling.draws import interval_of, mean_of_classes
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampling import Resampling, drawing_recordings
from ..resampling.subsampling import Behaviour
from ..results.text import Code, Form, Line, Name, Part, Records, Table
from ..tabular import TabularResult
from .submissions import grouping, read_output, require_outputs
from .task import GroupRule, Task
from .task_data import DatasetTruth, TaskData, read_task_data

Measured: TypeAlias = tuple[float, Interval | None]
"""The value of a metric, and its interval if clips were resampled."""


@dataclass(frozen=True, eq=False, repr=False)
class TaskEvaluation(TabularResult):
    """The score of a submission, and its evaluation on each data set of the task.

    Attributes
    ----------
    task : Task
        What was evaluated.
    datasets : mapping of str to Evaluation
        The evaluation of each data set, by name.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(30)
    >>> task = sed.tasks.Task("mine", {"home": sed.tasks.Dataset("collar_f1")}, "100 * home.collar_f1")
    >>> evaluation = sed.evaluate(sed.simulate.scores(truth), truth, "collar_f1")
    >>> sed.tasks.TaskEvaluation(task, {"home": evaluation})
    <TaskEvaluation: mine, score 57.9868, 1 data set>
    """

    task: Task
    datasets: Mapping[str, Evaluation]

    @cached_property
    def _measured(self) -> dict[str, dict[str, Measured]]:
        return {
            name: _measured_values(result, self.task.datasets[name].groups)
            for name, result in self.datasets.items()
        }

    @cached_property
    def values(self) -> dict[str, dict[str, float]]:
        """The value of each metric, by data set and name.

        Where the task averages over groups, it is that average.
        """
        return {
            name: {metric: value for metric, (value, _) in measured.items()}
            for name, measured in self._measured.items()
        }

    @cached_property
    def score(self) -> float:
        """The ranking score; NaN if one of its values is not defined."""
        return float(self.task.formula.value(self.values))

    @cached_property
    def resamples(self) -> dict[str, dict[str, FloatArray]]:
        """The value of each resample, by data set and name of the metric; empty without resampling."""
        return {
            name: {
                metric: interval.values
                for metric, (_, interval) in measured.items()
                if interval is not None
            }
            for name, measured in self._measured.items()
            if self.datasets[name].intervals
        }

    @cached_property
    def interval(self) -> Interval | None:
        """The score with its interval, if the clips were resampled.

        The data sets are resampled independently; the formula combines their resamples one by one.
        """
        if not self.resamples:
            return None
        intervals = next(iter(self.datasets.values())).intervals
        resampling = next(iter(intervals.values())).resampling
        metrics = {name: dataset.metrics for name, dataset in self.task.datasets.items()}
        column = self.task.formula.value(self._columns(resampling))
        behaviour = self.task.formula.behaviour(metrics, self.task.lower_is_better)
        return interval_of(column, resampling, behaviour, self._score_of_classes)

    @cached_property
    def _score_of_classes(self) -> FloatArray:
        """The score of the means over the classes, for metrics that subtract the spread of the classes."""
        resampling = next(iter(next(iter(self.datasets.values())).intervals.values())).resampling
        score: FloatArray = self.task.formula.value(self._columns(resampling, of_classes=True))
        return score

    def _columns(
        self, resampling: Resampling, *, of_classes: bool = False
    ) -> dict[str, dict[str, FloatArray]]:
        """Return what was measured on the sets of the score: values, then those of resamples and subsets.

        ``of_classes``: the mean over the classes for metrics that subtract their spread.

        Halves and quarters are those of all data sets together. For bca, clips are left out of one data set
        after the other, while the others keep their values.
        """
        sets = {name: self._measured[name] for name, _ in self.task.formula.names}
        numbers = {
            name: max(len(interval.subsets) for _, interval in measured.values() if interval is not None)
            for name, measured in sets.items()
        }
        leaves_out = resampling.interval == "bca"
        total, start = (sum if leaves_out else max)(numbers.values()), 0
        columns: dict[str, dict[str, FloatArray]] = {}
        for name, measured in sets.items():
            columns[name] = {}
            for metric, (value, interval) in measured.items():
                assert interval is not None
                column = np.concatenate([[value], interval.values, interval.subsets])
                behaviour = Behaviour.of(self.task.datasets[name].metrics[metric])
                if of_classes and behaviour.costs_spread and isinstance(interval, Bootstrap):
                    column = mean_of_classes(
                        np.array([of._column for of in interval.per_class.values()]).T
                    )
                subsets = column[1 + len(interval.values) :]
                others = np.full(total, column[0])
                others[start : start + len(subsets)] = subsets
                columns[name][metric] = np.concatenate([column[: 1 + len(interval.values)], others])
            start += numbers[name] if leaves_out else 0
        return columns

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know about the values. Each names its data set if there are several."""
        several = len(self.datasets) > 1
        notes = [
            f"{name}: {warning}" if several else warning
            for name, result in self.datasets.items()
            for warning in result.warnings
        ]
        undefined = [
            f"{dataset}.{metric}"
            for dataset, metric in self.task.formula.names
            if not math.isfinite(self.values[dataset][metric])
        ]
        if undefined:
            notes.append(
                f"The score is not defined, because these values are not: {', '.join(undefined)}."
            )
        elif not math.isfinite(self.score):
            notes.append(
                f"The score is not defined, because {self.task.score} has no value for these numbers."
            )
        return tuple(map(readable, notes))

    def __repr__(self) -> str:
        number = counted(len(self.datasets), "data set")
        return f"<TaskEvaluation: {one_line(self.task.name)}, score {self.score:.4f}, {number}>"

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        better = ", lower is better" if self.task.lower_is_better else ""
        score: Line = ("score: ", Code(self.task.score), f"{better} (", Name(self.task.name), ")")
        rows = [
            [name, metric, value_cell(value, interval, digits)]
            for name, measured in self._measured.items()
            for metric, (value, interval) in measured.items()
        ]
        last = ["score", "", value_cell(self.score, self.interval, digits)]
        overview = Table(["data set", "metric", "value"], rows, last, names=2, noun="value")
        if form == "text":
            parts: list[Part] = []
            for name, result in self.datasets.items():
                heading = f": {counted(result.clips, 'clip')}, {result.hours:.2f} hours"
                parts += [(Name(name), heading), *result._parts(form, digits)]
            return [*parts, overview, [score]]
        lines: list[Line] = [
            (Name(name), ": ", *((line,) if isinstance(line, str) else line))
            for name, result in self.datasets.items()
            for line in legend(result)
        ]
        lines.append(score)
        return [lines, overview] if form == "latex" else [overview, lines]

    def _records(self) -> Records:
        rows: list[Row] = [
            (name, *row) for name, result in self.datasets.items() for row in long_rows(result)
        ]
        ends = interval_ends(self.interval)
        rows.append((None, "score", None, None, self.score, *ends, None, self.task.score))
        return {"dataset": str, **COLUMNS}, rows

    def _values(self) -> dict[str, Any]:
        return {
            "task": self.task.name,
            "score": self.score,
            "formula": self.task.score,
            "lower_is_better": self.task.lower_is_better,
            **({} if self.interval is None else {"interval": limits(self.interval)}),
            "datasets": self.values,
            "details": {name: result.to_dict() for name, result in self.datasets.items()},
            "warnings": self.warnings,
        }


def _measured_values(result: Evaluation, rule: GroupRule | None) -> dict[str, Measured]:
    """Return the value and the interval of each metric: the average over groups if the task wants it."""
    if rule is not None and rule.average is not None:
        [groups] = result.groups.values()
        return {name: (average.value, average.interval) for name, average in groups.averages.items()}
    return {
        result.names[metric]: (result[metric].value, result.intervals.get(metric)) for metric in result
    }


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
    >>> task = sed.tasks.Task("mine", {"home": sed.tasks.Dataset("collar_f1")}, "100 * home.collar_f1")
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> with TemporaryDirectory() as folder:
    ...     data, ours = Path(folder, "data"), Path(folder, "ours")
    ...     (data / "home").mkdir(parents=True)
    ...     ours.mkdir()
    ...     sed.write_ground_truth(truth, data / "home" / "ground_truth.tsv")
    ...     _ = (data / "home" / "durations.tsv").write_text("filename\\tduration\\na\\t3\\n")
    ...     sed.write_scores(scores, ours / "home")
    ...     sed.tasks.evaluate_task(task, ours, data).score
    100.0
    """
    opened = read_task_data(task, data, truth, durations)
    outputs = require_outputs(opened.task, input_location(submission))
    resampling = None if resampling is None else Resampling._of(resampling)
    evaluations = {}
    for name, drawn in _resampling_of(opened.task, resampling).items():
        try:
            with without_options():
                evaluations[name] = evaluate_output(
                    outputs[name], opened.datasets[name], drawn, run, keep_scores=keep_scores
                )
        except SedscopeError as error:
            prefix = "" if len(outputs) == 1 else f"{name}: "
            lines = map(with_archives, error.lines)
            message = f"{prefix}{with_archives(str(error))}"
            raise SedscopeError(message, lines=lines, advice=error.advice) from None
    evaluation = TaskEvaluation(opened.task, evaluations)
    issue_warnings(evaluation.warnings, 2)
    return evaluation


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
    with collected_warnings() as notes:
        system, references = read_output(path, truth)
        if isinstance(system, dict):
            if resampling is not None or dataset.groups is not None:
                user = "groups need" if resampling is None else "resampling needs"
                raise SedscopeError(f"{path} holds detections at thresholds, but {user} scores.")
            result = evaluate_sets(
                system,
                references,
                dataset.metrics,
                **dataset._selection(),
                overlaps=dataset.truth.overlaps,
                label_map=truth.system_map,
                run=None if run is None else Run(threads=run.threads),
            )
        else:
            result = evaluate(
                cached(system) if keep_scores else system,
                references,
                dataset.metrics,
                **dataset._selection(),
                resampling=None if resampling is None else drawing_recordings(resampling, references),
                by=grouping(truth, references, system),
                run=run,
            )
            of_lists = event_list_notes(result.results, result.alignment)
            result = replace(result, warnings=(*result.warnings, *of_lists))
    said = [note.replace(UNLESS_TRIMMED, "") for note in (*notes, *result.warnings)]
    return replace(result, warnings=tuple(dict.fromkeys(said)))


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
