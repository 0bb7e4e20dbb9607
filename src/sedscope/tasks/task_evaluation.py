"""The result of a task: the score, and the evaluation of each data set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray
from ..errors import counted, issue_warnings, readable
from ..escaping import latex_comment, markdown, markdown_code, one_line
from ..evaluation.result import Evaluation
from ..evaluation.result_tables import LONG_HEADER, legend, long_rows
from ..resampling.draws import interval_of
from ..resampling.intervals import Interval, interval_text
from ..results.text import (
    Table,
    csv_cells,
    format_csv,
    format_latex,
    format_markdown,
    format_text,
    written,
    written_json,
)
from .task import GroupRule, Task

Measured: TypeAlias = tuple[float, Interval | None]
"""The value of a metric, and its interval if clips were resampled."""


@dataclass(frozen=True, eq=False, repr=False)
class TaskEvaluation:
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

    def table(self) -> str:
        """Return readable tables: the classes of each data set, then all values and the score.

        Returns
        -------
        str
        """
        parts = []
        for name, result in self.datasets.items():
            heading = f"{one_line(name)}: {counted(result.clips, 'clip')}, {result.hours:.2f} hours"
            parts.append(f"{heading}\n\n{result.table()}")
        lines = format_text(self._rows(), names=2)
        rule = "─" * max(map(len, lines))
        overview = [lines[0], rule, *lines[1:-1], rule, lines[-1], "", self._legend()]
        return "\n\n".join([*parts, "\n".join(overview)])

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return all values and the score as Markdown, and write them to ``path`` if it is given.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str
        """
        items = "\n".join(f"- {line}" for line in self._definitions(as_markdown=True))
        return written(f"{format_markdown(self._rows(), names=2)}\n\n{items}\n", path)

    def to_latex(self, path: str | Path | None = None) -> str:
        """Return all values and the score as LaTeX, and write them to ``path`` if it is given.

        It needs the package ``booktabs``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str
        """
        comments = map(latex_comment, self._definitions())
        table = format_latex(self._rows(3), names=2, rule_before_last=True)
        return written("\n".join([*comments, table]) + "\n", path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return every value as CSV, one row each; the last row is the score.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str
        """
        rows: list[list[str]] = [["dataset", *LONG_HEADER]]
        for name, result in self.datasets.items():
            rows += [[name, *csv_cells(row)] for row in long_rows(result)]
        limits = (None, None) if self.interval is None else (self.interval.low, self.interval.high)
        score = ("", "score", None, None, self.score, *limits, None, self.task.score)
        return written(format_csv([*rows, csv_cells(score)]), path)

    def to_dict(self) -> dict[str, Any]:
        """Return what :meth:`to_json` writes. Values that are not defined are None.

        Returns
        -------
        dict
            ``score`` and ``datasets`` (the value of each metric, by data set); beside them ``task``,
            ``interval`` of the score if the clips were resampled, ``details`` (the evaluation of each
            data set, as :meth:`Evaluation.to_dict` returns it) and ``warnings``.
        """
        from .. import __version__

        plain: dict[str, Any] = {
            "sedscope": __version__,
            "task": self.task.name,
            "score": _finite(self.score),
            "formula": self.task.score,
            "lower_is_better": self.task.lower_is_better,
        }
        if self.interval is not None:
            plain["interval"] = {
                "low": _finite(self.interval.low),
                "high": _finite(self.interval.high),
                "undefined_resamples": self.interval.undefined,
            }
        plain["datasets"] = {
            name: {metric: _finite(value) for metric, value in values.items()}
            for name, values in self.values.items()
        }
        plain["details"] = {name: result.to_dict() for name, result in self.datasets.items()}
        plain["warnings"] = list(self.warnings)
        return plain

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the score and all values as JSON text, and write them to ``path`` if it is given.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str
        """
        return written_json(self.to_dict(), path)

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

    def _rows(self, digits: int = 4) -> Table:
        """Return a row for each value, and a last one for the score."""
        rows = [["data set", "metric", "value"]]
        for name in self.datasets:
            for metric, (value, interval) in self._measured[name].items():
                rows.append([name, metric, _number(value, interval, digits)])
        return [*rows, ["score", "", _number(self.score, self.interval, digits)]]

    def _legend(self, *, as_markdown: bool = False) -> str:
        name, code = (markdown, markdown_code) if as_markdown else (one_line, one_line)
        better = ", lower is better" if self.task.lower_is_better else ""
        return f"score: {code(self.task.score)}{better} ({name(self.task.name)})"

    def _definitions(self, *, as_markdown: bool = False) -> list[str]:
        escaped = markdown if as_markdown else one_line
        lines = [
            f"{escaped(name)}: {line}"
            for name, result in self.datasets.items()
            for line in legend(result, as_markdown=as_markdown)
        ]
        return [*lines, self._legend(as_markdown=as_markdown)]


def _measured_values(result: Evaluation, rule: GroupRule | None) -> dict[str, Measured]:
    """Return the value and the interval of each metric: the average over groups if the task wants it."""
    if rule is not None and rule.average is not None:
        [groups] = result.groups.values()
        return {name: (average.value, average.interval) for name, average in groups.averages.items()}
    return {
        result.names[metric]: (result[metric].value, result.intervals.get(metric)) for metric in result
    }


def _number(value: float, interval: Interval | None, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text if interval is None else f"{text} {interval_text(interval, digits)}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
