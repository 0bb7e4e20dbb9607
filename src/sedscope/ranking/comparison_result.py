"""The result of a comparison: values, differences, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..engines.run import Run
from ..errors import counted, listing
from ..escaping import latex_comment, markdown, markdown_code
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.names import definition_lines, metric_called
from ..resampling.resampling import Resampling
from ..results.frames import Tabular, frame_from_rows, html_table
from ..results.text import (
    csv_cells,
    format_csv,
    format_latex,
    format_markdown,
    format_text,
    oriented,
    written,
)
from .comparison_rows import (
    LONG_HEADER,
    TEXT_COLUMNS,
    WHOLE_COLUMNS,
    class_rows,
    long_rows,
    pair_rows,
    system_rows,
)
from .differences import PairDifference, SystemValue, level_of, p_text, resamples_needed

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
    >>> comparison = sed.compare({"a": a, "b": b}, truth, sed.presets.PSDS1, resampling=200)
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
        header, *systems = system_rows(self)
        pair_header, *pairs = pair_rows(self)
        notes = [self.about(), *definition_lines(self.names)]
        return html_table(header, systems, len(systems), "system") + html_table(
            pair_header, pairs, len(pairs), "difference", notes=notes
        )

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
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, resampling=50)
        >>> comparison.to_polars().select("class", "system", "less").rows()[-3]
        (None, 'b', 'a')
        """
        rows = long_rows(self)
        return frame_from_rows(LONG_HEADER, rows, texts=TEXT_COLUMNS, whole_numbers=WHOLE_COLUMNS)

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

        A difference is the value of the later system minus that of the earlier one, so an improvement of
        a metric of which more is better is positive. ≈ marks differences inside the noise, > and < mark
        better and worse.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, resampling=50)
        >>> "b − a" in comparison.table()
        True
        """
        systems, pairs = format_text(system_rows(self)), format_text(pair_rows(self))
        return "\n".join([*systems, "", *pairs, "", *definition_lines(self.names), self.about()])

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
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, resampling=50)
        >>> comparison.class_table("psds1").split()[:4]
        ['class', 'a', 'b', 'b']
        """
        if isinstance(metric, str):
            metric = metric_called(metric, self.names)
        return "\n".join(format_text(class_rows(self, metric)))

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
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, resampling=50)
        >>> comparison.to_markdown().splitlines()[0]
        '| system | psds1 |'
        """
        parts = [format_markdown(system_rows(self)), format_markdown(pair_rows(self))]
        for metric, name in self.names.items():
            parts.append(
                f"**{markdown(name)}**: {markdown_code(repr(metric))}\n\n"
                f"{format_markdown(class_rows(self, metric))}"
            )
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
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, resampling=50)
        >>> r"\begin{tabular}" in comparison.to_latex()
        True
        """
        parts = [format_latex(system_rows(self, digits)), format_latex(pair_rows(self, digits))]
        for metric, name in self.names.items():
            rows = oriented(class_rows(self, metric, digits), classes)
            table = format_latex(rows, rule_before_last=classes == "rows")
            parts.append(f"{latex_comment(f'{name}: {metric!r}')}\n{table}")
        return written("\n\n".join([*parts, latex_comment(self.about())]) + "\n", path)

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
        >>> comparison = sed.compare(systems, truth, sed.presets.PSDS1, resampling=50)
        >>> comparison.to_csv().splitlines()[0][:24]
        'metric,class,system,less'
        """
        return written(format_csv([LONG_HEADER, *map(csv_cells, long_rows(self))]), path)

    def report(
        self,
        path: str | Path,
        *,
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
        run: Run | None = None,
    ) -> None:
        """Write an HTML page with all systems; see :meth:`Evaluation.report`.

        Curves and clips are those of the first run of each system.

        Parameters
        ----------
        path : path or address
            The HTML file to write.
        clips_shown, audio, run
            As in :meth:`Evaluation.report`.
        """
        from ..report import write_report

        write_report(
            self.evaluations,
            path,
            comparison=self,
            clips_shown=clips_shown,
            audio=audio,
            run=run,
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
        >>> sed.compare(systems, truth, sed.presets.PSDS1, resampling=50).about().split("; ")[1]
        '≈ inside the noise: p is above 0.05'
        """
        level, pairs = level_of(self.resampling.confidence), self.pairs
        parts = [
            f"{self.resampling.about()}, the same for all systems",
            f"≈ inside the noise: p is above {level:g}",
        ]
        if pairs > 1:
            parts.append(f"overall p values are corrected for {pairs} pairs of systems (Holm)")
        if self.resamples_needed > self.resampling.number:
            least = min(1.0, pairs * 2 / (1 + self.resampling.number))
            parts.append(
                f"with {counted(self.resampling.number, 'resample')} p cannot be below "
                f"{p_text(least, level, at_most=False)}: {self.resamples_needed} are needed for "
                f"{counted(pairs, 'pair')}"
            )
        return "; ".join(parts)
