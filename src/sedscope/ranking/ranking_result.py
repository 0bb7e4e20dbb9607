"""The result of a ranking: the systems in order, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import SedscopeError, counted
from ..escaping import json_text, latex_comment, markdown, markdown_code, one_line
from ..evaluation.result import Evaluation
from ..resampling.resampling import Resampling
from ..results.frames import Tabular, frame_from_rows, html_table
from ..results.text import csv_cells, format_csv, format_latex, format_markdown, ruled_text, written
from .differences import level_of
from .ranking import Pairs, RankedMetric, RankedSet, RankedSystem, RejectedSystem
from .ranking_rows import (
    LONG_HEADER,
    PAIR_HEADER,
    TEXT_COLUMNS,
    WHOLE_COLUMNS,
    class_rows,
    classes_of,
    long_rows,
    name_columns,
    pair_rows,
    ranking_dict,
    ranking_rows,
)

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame


Reports: TypeAlias = Literal["all", "best", "none"]
"""Which systems have a report: all, the best one of each team, or none."""


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Tabular):
    """Systems, best first, with the intervals of their ranks and the groups in which they tie.

    Attributes
    ----------
    systems : tuple of RankedSystem
        Each has a ``name``, ``team``, ``score`` and ``metrics`` with intervals, ``rank``, the interval of
        the rank (``rank_low``, ``rank_high``), a tie ``group`` from 1 on, and ``best_of_team``.
    rejected : tuple of RejectedSystem
        The systems that could not be evaluated: ``name``, ``team`` and all ``reasons``.
    score : RankedMetric
        What the systems are ranked by: ``name``, ``definition`` and ``higher_is_better``.
    metrics : tuple of RankedMetric
        What was measured.
    classes : tuple of str
        The classes that were evaluated.
    clips : int
        The number of clips.
    hours : float
        The duration of all clips.
    pairs : mapping of pair to RankedPair
        The difference of each pair of systems, by their places in ``systems``, the better one first.
    resampling : Resampling
        How the clips were drawn.
    warnings : tuple of str
        What to know about all systems. Each system has its own ``warnings``, too.
    evaluate : callable
        Evaluates a system of the ranking anew on one of its data sets, for a report. Without a task, the
        data set has no name (``""``).
    task : str
        The name of the task; empty without a task.
    datasets : mapping of str to RankedSet
        The data sets of the task, each with its ``clips``, ``hours`` and ``classes``; empty without a task.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(30, classes=2)
    >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
    >>> ranking = sed.rank(systems, truth, "psds1", resampling=50)
    >>> ranking.systems[0].name, ranking.systems[1].rank
    ('b', 2)
    """

    systems: tuple[RankedSystem, ...]
    rejected: tuple[RejectedSystem, ...]
    score: RankedMetric
    metrics: tuple[RankedMetric, ...]
    classes: tuple[str, ...]
    clips: int
    hours: float
    pairs: Pairs
    resampling: Resampling
    warnings: tuple[str, ...]
    evaluate: Callable[[RankedSystem, str], Evaluation]
    task: str = ""
    datasets: Mapping[str, RankedSet] = field(default_factory=dict)

    def __repr__(self) -> str:
        rejected = f", {len(self.rejected)} rejected" if self.rejected else ""
        return f"<Ranking of {counted(len(self.systems), 'system')} by {one_line(self.score.name)}{rejected}>"

    def _repr_html_(self) -> str:
        header, *rows = ranking_rows(self)
        return html_table(header, rows, len(rows), "system", notes=[self.about()])

    def table(self) -> str:
        """Return a readable table with a row per system, best first.

        ``ranks`` is the interval of the rank. Systems of one tie group cannot be told apart from the best
        one of the group.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> sed.rank(systems, truth, "psds1", resampling=50).table().split()[:6]
        ['system', 'rank', 'ranks', 'tie', 'group', 'psds1']
        """
        definitions = [one_line(f"{metric.name}: {metric.definition}") for metric in self.metrics]
        rows = ranking_rows(self)
        return "\n".join([ruled_text(rows, names=name_columns(rows)), "", *definitions, self.about()])

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with the rows of :meth:`to_csv`.

        Returns
        -------
        polars.DataFrame
            A row for each system, metric and class. Rows over all classes have no class (null).

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> ranking = sed.rank(systems, truth, "psds1", resampling=50)
        >>> ranking.to_polars().select("rank", "system", "class").rows()[0]
        (1, 'b', None)
        """
        rows = [*long_rows(self)]
        return frame_from_rows(LONG_HEADER, rows, texts=TEXT_COLUMNS, whole_numbers=WHOLE_COLUMNS)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return every value as CSV, a row for each system, metric and class.

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
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> sed.rank(systems, truth, "psds1", resampling=50).to_csv().splitlines()[0][:29]
        'rank,rank_low,rank_high,group'
        """
        return written(format_csv([LONG_HEADER, *map(csv_cells, long_rows(self))]), path)

    def pairs_to_csv(self, path: str | Path | None = None) -> str:
        """Return the differences of all pairs of systems as CSV.

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
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> sed.rank(systems, truth, "psds1", resampling=50).pairs_to_csv().splitlines()[1][:7]
        'b,b,a,a'
        """
        return written(format_csv([PAIR_HEADER, *map(csv_cells, pair_rows(self))]), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the ranking and the values of the classes as Markdown.

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
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> sed.rank(systems, truth, "psds1", resampling=50).to_markdown().splitlines()[0]
        '| system | rank | ranks | tie group | psds1 |'
        """
        ranked = ranking_rows(self)
        parts = [format_markdown(ranked, names=name_columns(ranked)), self.about()]
        for metric in self.metrics:
            parts.append(f"**{markdown(metric.name)}**: {markdown_code(metric.definition)}")
            if not self.systems or classes_of(self, metric.name):
                parts.append(format_markdown(class_rows(self, metric.name)))
        return written("\n\n".join(parts) + "\n", path)

    def to_latex(self, path: str | Path | None = None, *, digits: int = 3) -> str:
        r"""Return the ranking as a LaTeX table, with the best value of each metric in bold.

        It needs the package ``booktabs``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.
        digits : int, default 3
            The number of decimals.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> r"\begin{tabular}" in sed.rank(systems, truth, "psds1", resampling=50).to_latex()
        True
        """
        definitions = [latex_comment(f"{metric.name}: {metric.definition}") for metric in self.metrics]
        rows = ranking_rows(self, digits)
        table = format_latex(rows, names=name_columns(rows))
        return written("\n".join([*definitions, latex_comment(self.about()), table]) + "\n", path)

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain values. Numbers that are not finite are None.

        Returns
        -------
        dict
            The keys are ``score``, ``metrics``, ``classes``, ``systems``, ``pairs``, ``rejected`` and
            ``warnings``, and some facts.

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> sed.rank(systems, truth, "psds1", resampling=50).to_dict()["systems"][0]["name"]
        'b'
        """
        return ranking_dict(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the ranking as JSON; see :meth:`to_dict`.

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
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> '"rank": 1' in sed.rank(systems, truth, "psds1", resampling=50).to_json()
        True
        """
        return written(f"{json_text(self.to_dict(), indent=1)}\n", path)

    def site(
        self,
        folder: str | Path,
        *,
        title: str = "Leaderboard",
        reports: Reports = "none",
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
    ) -> None:
        """Write a static site and all tables to a folder. Its first page is ``index.html``.

        Parameters
        ----------
        folder : str or Path
            A new folder, or one that holds nothing but an earlier leaderboard, which is replaced.
        title : str, default "Leaderboard"
            The heading of the page.
        reports : {"all", "best", "none"}, default "none"
            Which systems have a report page of their own: all of them, the best one of each team, or none.
            Each of them is evaluated once more.
        clips_shown, audio
            What a report shows; see :meth:`Evaluation.report`.

        Notes
        -----
        A system of a task has a report for each data set. Where a report cannot be made, the page says why.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> with TemporaryDirectory() as folder:
        ...     sed.rank(systems, truth, "psds1", resampling=50).site(Path(folder) / "leaderboard")
        ...     sorted(path.name for path in Path(folder, "leaderboard").iterdir())
        ['index.html', 'pairs.csv', 'ranking.csv', 'ranking.json', 'ranking.md', 'ranking.tex']
        """
        from ..report.leaderboard import write_leaderboard

        if reports not in ("all", "best", "none"):
            raise SedscopeError(f"reports={reports!r} is not valid. Choose 'all', 'best' or 'none'.")
        write_leaderboard(
            self, folder, title=title, reports=reports, clips_shown=clips_shown, audio=audio
        )

    def about(self) -> str:
        """Say how intervals and tie groups were made.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> sed.rank(systems, truth, "psds1", resampling=50).about().split("; ")[1]
        'systems tie if p is above 0.05'
        """
        of_sets = ", of each data set" if len(self.datasets) > 1 else ""
        parts = [
            f"{self.resampling.about()}{of_sets}, the same for all systems",
            f"systems tie if p is above {level_of(self.resampling.confidence):g}",
        ]
        if len(self.pairs) > 1:
            parts.append(f"p is corrected for {len(self.pairs)} pairs of systems (Holm)")
        return "; ".join(parts)

    def all_warnings(self) -> list[str]:
        """Return the warnings about all systems, about each of them, and about those that were rejected.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> sed.rank({"a": sed.simulate.scores(truth)}, truth, "psds1", resampling=50).all_warnings()
        []
        """
        return [
            *self.warnings,
            *(f"{system.full_name}: {text}" for system in self.systems for text in system.warnings),
            *(f"{system.full_name} was rejected: {system.reasons[0]}" for system in self.rejected),
        ]
