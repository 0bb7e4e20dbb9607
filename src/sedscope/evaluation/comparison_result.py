"""The result of a comparison: values, differences, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines.options import EngineName, RunOptions
from ..errors import counted, listing
from ..io.atomic_write import write_text
from ..metrics import Metric
from ..notebook.data_frame import Tabular, number_column, polars_frame
from ..notebook.html_table import html_table
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampling import Resampling
from .result import Evaluation
from .result_frames import heading
from .table_text import format_csv, format_latex, format_markdown, format_text

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame


@dataclass(frozen=True, eq=False, repr=False)
class SystemValue(Bootstrap):
    """A metric of a system: the mean over its runs, with its interval from resampling.

    Attributes
    ----------
    runs : tuple of float
        The value of each run.
    """

    runs: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The standard deviation between runs; NaN for a single run."""
        with np.errstate(invalid="ignore"):  # infinite values have no deviation
            return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Interval):
    """The value of one system minus that of another, in the same resamples.

    Attributes
    ----------
    p : float
        The two-sided p value: twice the share of resamples in which the difference is not on its side
        of 0.
    higher_is_better : bool
        Whether a larger value is a better one.
    """

    p: float
    higher_is_better: bool

    @property
    def verdict(self) -> int:
        """1 if the first system is better, −1 if it is worse, 0 if 0 lies in the interval."""
        if np.isnan(self.low) or self.low <= 0 <= self.high:
            return 0
        return 1 if (self.low > 0) == self.higher_is_better else -1


@dataclass(frozen=True, eq=False, repr=False)
class PairDifference(Difference):
    """The difference between two systems over all classes, and for each class.

    Attributes
    ----------
    p_corrected : float
        The p value, corrected for the number of pairs of systems (Holm, 1979).
    per_class : mapping of str to Difference
        The difference for each class alone.
    """

    p_corrected: float
    per_class: Mapping[str, Difference]

    @property
    def wins(self) -> int:
        """The number of classes in which the first system is better by more than the noise."""
        return sum(of_class.verdict > 0 for of_class in self.per_class.values())

    @property
    def losses(self) -> int:
        """The number of classes in which the first system is worse by more than the noise."""
        return sum(of_class.verdict < 0 for of_class in self.per_class.values())


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabular):
    """Values of several systems on the same clips, and their differences.

    Attributes
    ----------
    systems : tuple of str
        The names of the systems.
    metrics : tuple of Metric
        What was measured.
    classes : tuple of str
        The classes that were evaluated.
    clips : int
        The number of clips.
    hours : float
        The duration of all clips.
    values : mapping of Metric to mapping of str to SystemValue
        The value of each system, by metric and system.
    differences : mapping of Metric to mapping of pair to PairDifference
        The value of the first system of a pair minus that of the second, by metric and pair.
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
    >>> comparison.differences[sed.presets.PSDS1]["a", "b"].wins
    8
    """

    systems: tuple[str, ...]
    metrics: tuple[Metric[Any], ...]
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
        legend = [f"[{i}] {heading(metric)}" for i, metric in enumerate(self.metrics, 1)]
        tables = []
        for (header, *rows), noun, notes in (
            (self._systems_table(), "system", []),
            (self._pairs_table(), "difference", [self._about(), *legend]),
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
        (None, 'a', 'b')
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

    def table(self) -> str:
        """Return a readable table: the systems by metric, then each pair of systems.

        ≈ marks differences inside the noise, > and < mark better and worse.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> "a − b" in comparison.table()
        True
        """
        legend = [f"[{i}] {metric!r}" for i, metric in enumerate(self.metrics, 1)]
        return "\n".join(
            [
                *format_text(self._systems_table()),
                "",
                *format_text(self._pairs_table()),
                "",
                *legend,
                self._about(),
            ]
        )

    def class_table(self, metric: Metric[Any]) -> str:
        """Return a readable table of one metric: a row per class, a column per system, then each pair.

        Parameters
        ----------
        metric : Metric
            One of the metrics that were compared.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, n=50)
        >>> comparison.class_table(sed.presets.PSDS1).split()[:4]
        ['class', 'a', 'b', 'a']
        """
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
        '| system | [1] |'
        """
        parts = [format_markdown(self._systems_table()), format_markdown(self._pairs_table())]
        for i, metric in enumerate(self.metrics, 1):
            parts.append(f"**[{i}]** `{metric!r}`\n\n{format_markdown(self._class_rows(metric))}")
        return _written("\n\n".join([*parts, self._about()]) + "\n", path)

    def to_latex(self, path: str | Path | None = None) -> str:
        r"""Return all tables as LaTeX ``tabular`` environments, and write them to ``path`` if it is given.

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
        >>> r"\begin{tabular}" in comparison.to_latex()
        True
        """
        parts = [format_latex(self._systems_table()), format_latex(self._pairs_table())]
        for i, metric in enumerate(self.metrics, 1):
            parts.append(f"% [{i}] {metric!r}\n{format_latex(self._class_rows(metric))}")
        return _written("\n\n".join([*parts, f"% {self._about()}"]) + "\n", path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return every number as CSV, one row each: metric, class, system or pair, value, interval, …

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
        rows = ([_cell(value) for value in row] for row in self._long_rows())
        return _written(format_csv([_CSV_HEADER, *rows]), path)

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

    def _about(self) -> str:
        legend = "≈ inside the noise: the interval of the difference has 0 in it"
        return f"{self.resampling.about()}, the same for all systems; {legend}"

    def _systems_table(self) -> list[list[str]]:
        header = ["system", *(f"[{i}]" for i, _ in enumerate(self.metrics, 1))]
        return [
            header,
            *([name, *(_value(self.values[m][name]) for m in self.metrics)] for name in self.systems),
        ]

    def _pairs_table(self) -> list[list[str]]:
        header = ["difference", "metric", "value", "interval", "", "p", "wins", "losses", "classes"]
        rows = [
            [
                f"{first} − {second}",
                f"[{i}]",
                f"{pair.value:+.4f}",
                f"({pair.low:+.4f} … {pair.high:+.4f})",
                _SIGNS[pair.verdict],
                _p_value(pair.p_corrected),
                str(pair.wins),
                str(pair.losses),
                str(len(pair.per_class)),
            ]
            for i, metric in enumerate(self.metrics, 1)
            for (first, second), pair in self.differences[metric].items()
        ]
        return [header, *rows]

    def _class_rows(self, metric: Metric[Any]) -> list[list[str]]:
        values, pairs = self.values[metric], self.differences[metric]
        header = ["class", *self.systems, *(f"{first} − {second}" for first, second in pairs)]
        rows = [
            [
                label,
                *(f"{values[name].per_class[label].value:.4f}" for name in self.systems),
                *(_difference(pair.per_class[label]) for pair in pairs.values()),
            ]
            for label in self.classes
        ]
        overall = [
            "overall",
            *(f"{values[name].value:.4f}" for name in self.systems),
            *(_difference(pair) for pair in pairs.values()),
        ]
        return [header, *rows, overall]

    def _long_rows(self) -> Iterable[list[Any]]:
        """Iterate over the rows of all numbers. None where a column says nothing about a row."""
        for metric in self.metrics:
            for name, value in self.values[metric].items():
                for label, interval in ((None, value), *value.per_class.items()):
                    spread = value.spread if interval is value else np.nan
                    yield [
                        heading(metric),
                        label,
                        name,
                        None,
                        *_numbers(interval),
                        spread,
                        None,
                        None,
                        None,
                    ]
            for (name, other), pair in self.differences[metric].items():
                for label, difference in ((None, pair), *pair.per_class.items()):
                    corrected = pair.p_corrected if difference is pair else None
                    yield [
                        *(heading(metric), label, name, other, *_numbers(difference), None),
                        *(difference.p, corrected, difference.verdict),
                    ]


_SIGNS = {1: ">", 0: "≈", -1: "<"}
_CSV_HEADER = [
    *("metric", "class", "system", "less", "value", "low", "high", "undefined_resamples"),
    *("deviation_of_runs", "p", "p_corrected", "verdict"),
]
_TEXT_COLUMNS = _CSV_HEADER[:4]


def _value(value: SystemValue) -> str:
    spread = "" if np.isnan(value.spread) else f" ± {value.spread:.4f}"
    return f"{value.value:.4f}{spread} ({value.low:.4f}–{value.high:.4f})"


def _difference(difference: Difference) -> str:
    if np.isnan(difference.value):
        return "nan"
    return (
        f"{difference.value:+.4f} ({difference.low:+.4f} … {difference.high:+.4f}) "
        f"{_SIGNS[difference.verdict]}"
    )


def _p_value(p: float) -> str:
    return "nan" if np.isnan(p) else f"{p:.3f}" if p >= 0.001 else "< 0.001"


def _numbers(interval: Interval) -> list[float]:
    return [interval.value, interval.low, interval.high, interval.undefined]


def _cell(value: str | float | None) -> str:
    """Write a cell of CSV: numbers with all their digits."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_text(path, text)
    return text
