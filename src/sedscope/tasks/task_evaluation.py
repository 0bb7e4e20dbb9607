"""The result of a task: the score, and the evaluation of each data set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray
from ..errors import counted, issue_warnings, readable
from ..escaping import one_line
from ..evaluation.result import Evaluation
from ..evaluation.result_tables import (
    COLUMNS,
    Row,
    interval_ends,
    legend,
    limits,
    long_rows,
    value_cell,
)
from ..resampling.draws import interval_of
from ..resampling.intervals import Interval
from ..results.text import Code, Form, Line, Name, Part, Records, Table
from ..tabular import TabularResult
from .task import GroupRule, Task

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
    >>> task = sed.Task("mine", {"home": sed.Dataset("collar_f1")}, "100 * home.collar_f1")
    >>> evaluation = sed.evaluate(sed.simulate.scores(truth), truth, "collar_f1")
    >>> sed.TaskEvaluation(task, {"home": evaluation})
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
        values = self.task.formula.value(self.resamples)
        column = np.concatenate([[self.score], values])
        return interval_of(column, next(iter(intervals.values())).resampling)

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

    def warn(self, stacklevel: int) -> TaskEvaluation:
        """Issue the warnings as Python warnings, and return the evaluation.

        Parameters
        ----------
        stacklevel : int
            How many callers up the warning should point to, as in ``warnings.warn``.

        Returns
        -------
        TaskEvaluation
            The same object.
        """
        issue_warnings(self.warnings, stacklevel + 1)
        return self


def _measured_values(result: Evaluation, rule: GroupRule | None) -> dict[str, Measured]:
    """Return the value and the interval of each metric: the average over groups if the task wants it."""
    if rule is not None and rule.average is not None:
        [groups] = result.groups.values()
        return {name: (average.value, average.interval) for name, average in groups.averages.items()}
    return {
        result.names[metric]: (result[metric].value, result.intervals.get(metric)) for metric in result
    }
