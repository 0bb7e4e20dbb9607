"""The result of a comparison: values, differences, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..engines.options import EngineName, RunOptions
from ..errors import counted, listing
from ..metrics import Metric
from ..metrics.names import metric_called
from ..notebook.data_frame import Tabular, number_column, polars_frame
from ..notebook.html_table import html_table
from ..resampling.intervals import Interval
from ..resampling.resampling import Resampling
from .differences import Difference, PairDifference, SystemValue
from .p_values import level_of, p_text, resamples_needed
from .result import Evaluation
from .table_text import (
    Best,
    csv_cells,
    format_csv,
    format_latex,
    format_markdown,
    format_text,
    oriented,
    written,
)

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabular):
    """Values of several systems on the same clips, and their differences.

    Attributes
    ----------
    systems : tuple of str
        The names of the systems.
    metrics : tuple of Metric
        What was measured.
    names : mapping of Metric to str
        The name of each metric, as it heads the column of a table.
    classes : tuple of str
        The classes that were evaluated.
    clips : int
        The number of clips.
    hours : float
        The duration of all clips.
    values : mapping of Metric to mapping of str to SystemValue
        The value of each system, by metric and system.
    differences : mapping of Metric to mapping of pair to PairDifference
        The value of the later system minus that of the earlier one, by metric and pair: the pair
        ``("b", "a")`` if ``a`` comes first in ``systems``.
    resampling : Resampling
        How the clips were drawn.
    warnings : tuple of str
        What to know about the values.
    evaluations : mapping of str to Evaluation
        The first run of each system, with the intervals of the mean over its runs.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(200)
    >>> a, b = (sed.simulate.scores(truth, quality=quality) for quality in (0.8, 0.6))
    >>> comparison = sed.compare({"a": a, "b": b}, truth, sed.presets.PSDS1, n=200)
    >>> comparison.differences[sed.presets.PSDS1]["b", "a"].losses
    8
    """

    systems: tuple[str, ...]
    metrics: tuple[Metric[Any], ...]
    names: Mapping[Metric[Any], str]
    classes: tuple[str, ...]
    clips: int
    hours: float
    values: Mapping[Metric[Any], Mapping[str, SystemValue]]
    differences: Mapping[Metric[Any], Mapping[tuple[str, str], PairDifference]]
    resampling: Resampling
    warnings: tuple[str, ...]
    evaluations: Mapping[str, Evaluation]

    def __repr__(self) -> str:
        return (
            f"<Comparison of {listing(self.systems)}: {counted(len(self.metrics), 'metric')}, "
            f"{counted(self.clips, 'clip')}, {counted(len(self.classes), 'class')}>"
        )

    def _repr_html_(self) -> str:
        legend = [f"{name}: {metric!r}" for metric, name in self.names.items()]
        tables = []
        for (header, *rows), noun, notes in (
            (self._systems_table(), "system", []),
            (self._pairs_table(), "difference", [self.about(), *legend]),
        ):
            tables.append(html_table(header, rows, len(rows), noun, notes=notes))
        return "".join(tables)

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with the rows of :meth:`to_csv`.

        Returns
        -------
        polars.DataFrame
            A row for each metric, class and system, then for each pair of systems (``system`` less
            ``less``). Rows over all classes have no class (null). ``verdict`` is 1 if the first system of
            a pair is better, −1 if it is worse, and 0 if the difference is inside the noise.

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> comparison.to_polars().select("class", "system", "less").rows()[-3]
        (None, 'b', 'a')
        """
        import polars

        columns = dict(zip(_CSV_HEADER, zip(*self._long_rows(), strict=True), strict=True))
        frame = polars_frame(
            {
                name: column if name in _TEXT_COLUMNS else number_column(column)
                for name, column in columns.items()
            }
        )
        return frame.cast({"undefined_resamples": polars.Int64, "verdict": polars.Int64})

    @property
    def pairs(self) -> int:
        """The number of pairs of systems."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @property
    def resamples_needed(self) -> int:
        """The number of resamples without which no difference can be significant after the correction."""
        return resamples_needed(self.pairs, self.resampling.confidence)

    def table(self) -> str:
        """Return a readable table: the systems by metric, then each pair of systems.

        Differences are those of the later system to the earlier one, so an improvement of a metric of
        which more is better is positive. ≈ marks differences inside the noise, > and < mark better and
        worse.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> "b − a" in comparison.table()
        True
        """
        legend = [f"{name}: {metric!r}" for metric, name in self.names.items()]
        return "\n".join(
            [
                *format_text(self._systems_table()),
                "",
                *format_text(self._pairs_table()),
                "",
                *legend,
                self.about(),
            ]
        )

    def class_table(self, metric: Metric[Any] | str) -> str:
        """Return a readable table of one metric: a row per class, a column per system, then each pair.

        With more than three pairs of systems their columns are left out; ``to_csv`` has their numbers.

        Parameters
        ----------
        metric : Metric or str
            One of the metrics that were compared, or its name.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> comparison.class_table("psds1").split()[:4]
        ['class', 'a', 'b', 'b']
        """
        if isinstance(metric, str):
            metric = metric_called(metric, self.names)
        return "\n".join(format_text(self._class_rows(metric)))

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return all tables as Markdown, and write them to ``path`` if it is given.

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
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> comparison.to_markdown().splitlines()[0]
        '| system | psds1 |'
        """
        parts = [format_markdown(self._systems_table()), format_markdown(self._pairs_table())]
        for metric, name in self.names.items():
            parts.append(f"**{name}**: `{metric!r}`\n\n{format_markdown(self._class_rows(metric))}")
        return written("\n\n".join([*parts, self.about()]) + "\n", path)

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        classes: Literal["rows", "columns"] = "rows",
        digits: int = 3,
    ) -> str:
        r"""Return all tables as LaTeX, and write them to ``path`` if it is given.

        They need the package ``booktabs``. The best value of each metric and class is in bold.

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
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> r"\begin{tabular}" in comparison.to_latex()
        True
        """
        parts = [format_latex(self._systems_table(digits)), format_latex(self._pairs_table(digits))]
        for metric, name in self.names.items():
            rows = oriented(self._class_rows(metric, digits), classes)
            table = format_latex(rows, rule_before_last=classes == "rows")
            parts.append(f"% {name}: {metric!r}\n{table}")
        return written("\n\n".join([*parts, f"% {self.about()}"]) + "\n", path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return every number as CSV, one row each: metric, class, system or pair, value, interval, …

        The last column is the definition of the metric.

        An apostrophe precedes names that a spreadsheet could execute as a formula, such as ``=1+1``.

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
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> comparison.to_csv().splitlines()[0][:24]
        'metric,class,system,less'
        """
        return written(format_csv([_CSV_HEADER, *map(csv_cells, self._long_rows())]), path)

    def report(
        self,
        path: str | Path,
        *,
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
        engine: EngineName = "threads",
        scheduler: object = None,
        checkpoint: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        """Write an HTML page with all systems; see :meth:`Evaluation.report`.

        Curves and clips are those of the first run of each system.

        Parameters
        ----------
        path : path or address
            The HTML file to write.
        clips_shown, audio, engine, scheduler, checkpoint, threads
            As in :meth:`Evaluation.report`.
        """
        from ..report import write_report

        write_report(
            self.evaluations,
            path,
            comparison=self,
            clips_shown=clips_shown,
            audio=audio,
            options=RunOptions(threads, engine, scheduler, checkpoint),
        )

    def about(self) -> str:
        """Say how the intervals and p values were made, and whether there are enough resamples for them.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> sed.compare(systems, truth, sed.presets.PSDS1, n=50).about().split("; ")[1]
        '≈ inside the noise: p is above 0.05'
        """
        level, pairs = level_of(self.resampling.confidence), self.pairs
        parts = [
            f"{self.resampling.about()}, the same for all systems",
            f"≈ inside the noise: p is above {level:g}",
        ]
        if pairs > 1:
            parts.append(f"p of overall differences is corrected for {pairs} pairs of systems (Holm)")
        if self.resamples_needed > self.resampling.n:
            least = min(1.0, pairs * 2 / (1 + self.resampling.n))
            parts.append(
                f"with {counted(self.resampling.n, 'resample')} p cannot be below "
                f"{p_text(least, level, at_most=False)}: {self.resamples_needed} are needed for "
                f"{counted(pairs, 'pair')}"
            )
        return "; ".join(parts)

    def _systems_table(self, digits: int = 4) -> list[list[str]]:
        columns = [
            _with_best(
                [_value(of_system, digits) for of_system in self.values[metric].values()],
                [*self.values[metric].values()],
                metric.higher_is_better,
            )
            for metric in self.metrics
        ]
        rows = zip(self.systems, *columns, strict=True)
        return [["system", *self.names.values()], *map(list, rows)]

    def _pairs_table(self, digits: int = 4) -> list[list[str]]:
        header = ["difference", "metric", "value", "interval", "", "p", "wins", "losses", "classes"]
        rows = [
            [
                f"{later} − {earlier}",
                self.names[metric],
                f"{pair.value:+.{digits}f}",
                f"({pair.low:+.{digits}f} … {pair.high:+.{digits}f})",
                _SIGNS[pair.verdict],
                pair.p_text,
                str(pair.wins),
                str(pair.losses),
                str(len(pair.per_class)),
            ]
            for metric in self.metrics
            for (later, earlier), pair in self.differences[metric].items()
        ]
        return [header, *rows]

    def _class_rows(self, metric: Metric[Any], digits: int = 4) -> list[list[str]]:
        values, higher = self.values[metric], metric.higher_is_better
        pairs = self.differences[metric] if self.pairs <= PAIRS_BESIDE_CLASSES else {}
        header = ["class", *self.systems, *(f"{later} − {earlier}" for later, earlier in pairs)]
        rows = [
            [
                label,
                *_values([value.per_class[label] for value in values.values()], digits, higher),
                *(_difference(pair.per_class[label], digits) for pair in pairs.values()),
            ]
            for label in self.classes
        ]
        overall = [
            "overall",
            *_values([*values.values()], digits, higher),
            *(_difference(pair, digits) for pair in pairs.values()),
        ]
        return [header, *rows, overall]

    def _long_rows(self) -> Iterable[list[Any]]:
        """Iterate over the rows of all numbers. None where a column says nothing about a row."""
        for metric in self.metrics:
            for name, value in self.values[metric].items():
                for label, interval in ((None, value), *value.per_class.items()):
                    spread = value.spread if interval is value else np.nan
                    yield [
                        *(self.names[metric], label, name, None, *_numbers(interval), spread),
                        *(None, None, None, repr(metric)),
                    ]
            for (later, earlier), pair in self.differences[metric].items():
                for label, difference in ((None, pair), *pair.per_class.items()):
                    corrected = pair.p_corrected if difference is pair else None
                    yield [
                        *(self.names[metric], label, later, earlier, *_numbers(difference), None),
                        *(difference.p, corrected, difference.verdict, repr(metric)),
                    ]


PAIRS_BESIDE_CLASSES = 3
"""How many differences a row of a table has at most, to be readable."""
_SIGNS = {1: ">", 0: "≈", -1: "<"}
_CSV_HEADER = [
    *("metric", "class", "system", "less", "value", "low", "high", "undefined_resamples"),
    *("deviation_of_runs", "p", "p_corrected", "verdict", "definition"),
]
_TEXT_COLUMNS = ("metric", "class", "system", "less", "definition")


def _value(value: SystemValue, digits: int) -> str:
    spread = "" if np.isnan(value.spread) else f" ± {value.spread:.{digits}f}"
    return f"{value.value:.{digits}f}{spread} ({value.low:.{digits}f}–{value.high:.{digits}f})"


def _values(intervals: Sequence[Interval], digits: int, higher_is_better: bool) -> list[str]:
    return _with_best([f"{each.value:.{digits}f}" for each in intervals], intervals, higher_is_better)


def _with_best(cells: Sequence[str], intervals: Sequence[Interval], higher_is_better: bool) -> list[str]:
    """Mark the best of several values, and all that look the same."""
    values = np.array([interval.value for interval in intervals]) * (1 if higher_is_better else -1)
    if not np.isfinite(values).any():
        return [*cells]
    best = cells[int(np.nanargmax(values))].partition(" ")[0]
    return [Best(cell) if cell.partition(" ")[0] == best else cell for cell in cells]


def _difference(difference: Difference, digits: int) -> str:
    if np.isnan(difference.value):
        return "nan"
    return (
        f"{difference.value:+.{digits}f} ({difference.low:+.{digits}f} … {difference.high:+.{digits}f}) "
        f"{_SIGNS[difference.verdict]}"
    )


def _numbers(interval: Interval) -> list[float]:
    return [interval.value, interval.low, interval.high, interval.undefined]
