"""The result of an evaluation: values, counts, intervals, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..engines.run import Run
from ..errors import SedscopeError, issue_warnings, listing
from ..escaping import latex_comment
from ..metrics import Metric, MetricResult
from ..metrics.names import metric_called
from ..results.frames import Tabular
from ..results.text import (
    csv_cells,
    format_csv,
    format_latex,
    format_markdown,
    oriented,
    ruled_text,
    written,
    written_json,
)
from .result_tables import (
    GROUPED_HEADER,
    LONG_HEADER,
    all_long_rows,
    class_rows,
    evaluation_dict,
    evaluation_frame,
    evaluation_html,
    evaluation_line,
    group_rows,
    legend,
    long_rows,
)

if TYPE_CHECKING:
    from pathlib import Path

    from polars import DataFrame as PolarsFrame

    from ..resampling.intervals import Bootstrap
    from ..tuning.operating_points import OperatingPoints
    from .group_results import GroupResults
    from .result_tables import FalseAlarms

AnyResult = TypeVar("AnyResult", bound=MetricResult)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[Metric[Any], MetricResult], Tabular):
    """The results of an evaluation, by metric. The name or the definition of a metric is a key, too.

    Attributes
    ----------
    results : mapping of Metric to its result
        The value of each metric, with its curves.
    names : mapping of Metric to str
        The name of each metric, as it heads the column of a table.
    counts : mapping of Criterion to Counts
        The counts of each criterion; for metrics with a limit on false positives, up to that limit. With
        several blocks of classes, only the rows that the metrics read (``ClassCounts.complete``). At
        operating points, one row for each class.
    classes : tuple of str
        The classes that were evaluated.
    references : mapping of str to int
        The number of reference events of each class; of positive segments or clips, where deltas or
        detections at thresholds were evaluated by ``Segment`` and ``Clip`` only.
    clips : int
        The number of clips.
    hours : float
        The duration of all clips.
    warnings : tuple of str
        What to know about the values.
    intervals : mapping of Metric to Bootstrap
        The interval of each metric, if intervals were asked for.
    alignment : Alignment or None
        What was evaluated; None for sets of detections.
    deltas : mapping of Criterion to Deltas
        What the counts were added up from; empty for sets of detections. With several blocks of classes,
        they are not kept, and any access is refused.
    blocks : int
        How many blocks of classes were counted one after the other, to stay within the memory limit.
    points : OperatingPoints or None
        The operating points of the system, if it was evaluated there.
    groups : mapping of str to GroupResults
        The evaluations of groups, where they were asked for: of ``"clips"``, of ``"classes"`` and of
        ``"lengths"``.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> best = sed.BestFScore(sed.Collar())
    >>> result = sed.evaluate(scores, truth, best)
    >>> result[best].value, round(result[best].thresholds["Dog"], 2)
    (1.0, 0.65)
    """

    results: Mapping[Metric[Any], MetricResult]
    names: Mapping[Metric[Any], str]
    counts: Mapping[Criterion, Counts]
    classes: tuple[str, ...]
    references: Mapping[str, int]
    clips: int
    hours: float
    warnings: tuple[str, ...]
    intervals: Mapping[Metric[Any], Bootstrap] = field(default_factory=dict)
    alignment: Alignment | None = None
    deltas: Mapping[Criterion, Deltas] = field(default_factory=dict)
    blocks: int = 1
    points: OperatingPoints | None = None
    groups: Mapping[str, GroupResults] = field(default_factory=dict)

    @overload
    def __getitem__(self, metric: Metric[AnyResult]) -> AnyResult: ...
    @overload
    def __getitem__(self, metric: str) -> MetricResult: ...

    def __getitem__(self, metric: Metric[Any] | str) -> MetricResult:
        if isinstance(metric, str):
            return self.results[metric_called(metric, self.names)]
        if metric not in self.results and self.points is not None:
            metric = metric.at_points() or metric
        return self.results[metric]

    def __iter__(self) -> Iterator[Metric[Any]]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        return evaluation_line(self)

    def _repr_html_(self) -> str:
        return evaluation_html(self)

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per metric and class.

        The first row of a metric has no class (null): it is the value over all classes.

        Returns
        -------
        polars.DataFrame
            With the columns ``metric``, ``class``, ``references``, ``value``, the ends of its interval
            ``low`` and ``high``, the ``threshold`` that the value belongs to, and the ``definition`` of the
            metric. Where there is none, or a value is not defined, a cell is null. With groups, the columns
            ``grouping`` and ``group`` come first, and the rows of the groups last.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.FScore(sed.Collar()))
        >>> result.to_polars().select("class", "value", "threshold").rows()
        [(None, 1.0, None), ('Dog', 1.0, 0.5)]
        """
        return evaluation_frame(self)

    def scalars(self) -> dict[str, float]:
        """Return all values in one flat dict, for loggers: ``{name: value, "name/class": value}``.

        Returns
        -------
        dict of str to float

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> result.scalars()
        {'best_collar_f1': 1.0, 'best_collar_f1/Dog': 1.0}
        """
        values: dict[str, float] = {}
        for metric, result in self.results.items():
            name = self.names[metric]
            of_metric = {name: result.value}
            of_metric |= {f"{name}/{label}": value.value for label, value in result.per_class.items()}
            twice = values.keys() & of_metric
            if twice:
                raise SedscopeError(
                    f"Two values would have the same name: {listing(sorted(twice))}. A metric is named like "
                    "a class of another metric. Choose another name for it."
                )
            values |= of_metric
        return values

    @cached_property
    def false_alarms_per_hour(self) -> dict[Metric[Any], FalseAlarms]:
        """The false alarms per hour of the classes without reference events, whose values are missing.

        For ``Segment`` and ``Clip``, they are segments and clips.
        """
        from .result_tables import false_alarms

        rates = {metric: false_alarms(metric, self.counts[metric.criterion]) for metric in self.results}
        return {metric: of_metric for metric, of_metric in rates.items() if of_metric.per_class}

    def table(self) -> str:
        """Return a readable table: a row per class, a column per metric.

        Beside the missing values of classes without reference events are their false alarms per hour. A
        table of each kind of groups follows.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> print(result.table())
        class    references  best_collar_f1
        ───────────────────────────────────
        Dog               1          1.0000
        ───────────────────────────────────
        overall           1          1.0000
        <BLANKLINE>
        best_collar_f1: BestFScore(Collar(onset=0.2, offset=0.2, offset_rate=0.2), beta=1, average='macro')
        """
        tables = [ruled_text(class_rows(self), rule_before_last=True)]
        for results in self.groups.values():
            rows = group_rows(results)
            text = ruled_text(rows, rule_before_last=bool(results.averages))
            tables.append(f"{results.title()}\n\n{text}")
        return "\n".join([*(f"{table}\n" for table in tables), *legend(self)])

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the table as Markdown, and write it to ``path`` if it is given.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> sed.evaluate(scores, truth, "psds1").to_markdown().splitlines()[0]
        '| class | references | psds1 |'
        """
        items = "\n".join(f"- {line}" for line in legend(self, as_markdown=True))
        tables = [format_markdown(class_rows(self))]
        for results in self.groups.values():
            tables.append(f"{results.title()}:\n\n{format_markdown(group_rows(results))}")
        return written("\n\n".join([*tables, items]) + "\n", path)

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        classes: Literal["rows", "columns"] = "rows",
        digits: int = 3,
    ) -> str:
        r"""Return the table as LaTeX, and write it to ``path`` if it is given.

        It needs the package ``booktabs``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.
        classes : {"rows", "columns"}, default "rows"
            Whether each class is a row or a column.
        digits : int, default 3
            The number of decimals.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> print(sed.evaluate(scores, truth, ["psds1", "map"]).to_latex(classes="columns"))
        % psds1: PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_ct=0, alpha_st=1, max_efpr=100, unit='hour')
        % map: AveragePrecision(Clip(aggregation='max'), average='macro')
        \begin{tabular}{lrr}
        \toprule
        class & Dog & overall \\
        \midrule
        references & 1 & 1 \\
        psds1 & 1.000 & 1.000 \\
        map & 1.000 & 1.000 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        rows = class_rows(self, digits)
        tables = [format_latex(oriented(rows, classes), rule_before_last=classes == "rows")]
        for results in self.groups.values():
            table = format_latex(group_rows(results, digits), rule_before_last=bool(results.averages))
            tables.append(f"\n{latex_comment(results.title())}\n{table}")
        return written("\n".join([*map(latex_comment, legend(self)), *tables]) + "\n", path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return every value as CSV, one row each: metric, class, value, interval, threshold, definition.

        The overall value has an empty class. With groups, two columns come first: what is grouped, and the
        group. Both are empty for the values of all clips and classes; the average over groups has an empty
        group. An apostrophe precedes names that a spreadsheet could
        execute as a formula, such as ``=1+1``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> print(sed.evaluate(scores, truth, {"f1": sed.FScore(sed.Clip())}).to_csv())
        metric,class,references,value,low,high,threshold,definition
        f1,,1,1.0,,,,"FScore(Clip(aggregation='max'), threshold=0.5, beta=1, average='macro')"
        f1,Dog,1,1.0,,,0.5,"FScore(Clip(aggregation='max'), threshold=0.5, beta=1, average='macro')"
        <BLANKLINE>
        """
        header: Sequence[str] = GROUPED_HEADER if self.groups else LONG_HEADER
        rows = all_long_rows(self) if self.groups else long_rows(self)
        return written(format_csv([header, *map(csv_cells, rows)]), path)

    def to_dict(self) -> dict[str, Any]:
        """Return what :meth:`to_json` writes. Values that are not defined are None.

        Returns
        -------
        dict

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> result.to_dict()["metrics"][0]["per_class"]
        {'Dog': 1.0}
        """
        return evaluation_dict(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the results as JSON text, and write them to ``path`` if it is given.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> '"clips": 1' in result.to_json()
        True
        """
        return written_json(self.to_dict(), path)

    def report(
        self,
        path: str | Path,
        *,
        name: str = "system",
        others: Mapping[str, Evaluation] | None = None,
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
        run: Run | None = None,
    ) -> None:
        """Write an HTML page with curves, threshold sliders, an error analysis and a clip browser.

        The page needs nothing but a browser.

        Parameters
        ----------
        path : path or address
            The HTML file to write.
        name : str, default "system"
            The name of this system.
        others : mapping of str to Evaluation, optional
            Evaluations of other systems, with the same metrics on the same clips.
        clips_shown : int or iterable of str, default 60
            How many clips can be browsed, or which. One in six of them are clips without errors, the
            others those with the most errors.
        audio : path, optional
            A folder with the audio files of the clips. Those of the clips shown go into the page, as far
            as there is room.
        run : Run, optional
            How a further pass over the clips runs, if the page needs one; see
            :func:`~sedscope.evaluate`.
        """
        from ..report import write_report

        write_report(
            {name: self, **(others or {})},
            path,
            clips_shown=clips_shown,
            audio=audio,
            run=run,
        )

    def warn(self, stacklevel: int) -> Evaluation:
        """Issue the warnings as Python warnings, and return the evaluation.

        Parameters
        ----------
        stacklevel : int
            How many callers up the warning should point to, as in ``warnings.warn``.

        Returns
        -------
        Evaluation
            The same object.
        """
        issue_warnings(self.warnings, stacklevel + 1)
        return self
