"""The result of a ranking: the systems in order, and its tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ..errors import SedscopeError, counted, of_systems
from ..escaping import one_line
from ..evaluation.result import Evaluation
from ..evaluation.result_tables import signature_line
from ..evaluation.signature import Signature
from ..resampling.resampling import Resampling
from ..results.text import (
    Form,
    Line,
    Part,
    Records,
    Table,
    csv_of,
    definition,
    mark_best,
    picked,
    written,
)
from ..tabular import TabularResult
from .ranking import (
    Estimate,
    MetricEstimate,
    Pairs,
    RankedMetric,
    RankedSet,
    RankedSystem,
    RejectedSystem,
)
from .significance import level_of

COLUMNS: dict[str, type] = {
    **{"rank": int, "rank_low": int, "rank_high": int, "group": int, "team": str, "system": str},
    **{
        "best_of_team": int,
        "team_rank": int,
        "runs": int,
        "metric": str,
        "class": str,
        "value": float,
        "low": float,
    },
    **{"high": float, "deviation_of_runs": float, "definition": str},
}
PAIR_COLUMNS: dict[str, type] = {
    **{"better_team": str, "better_system": str, "worse_team": str, "worse_system": str},
    **{"difference": float, "p": float, "p_corrected": float, "significant": int},
}
_NAMES = ("team", "name")
_KIND = ("name", "definition", "higher_is_better")
_ESTIMATE = ("value", "low", "high")
_PAIR = ("difference", "p", "p_corrected", "significant")
_UNDEFINED = Estimate(math.nan, math.nan, math.nan)

Reports: TypeAlias = Literal["all", "best", "none"]
"""Which systems have a report: all, the best one of each team, or none."""


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(TabularResult):
    """Systems, best first, with the intervals of their ranks and the groups in which they tie.

    In tables, ``ranks`` is the interval of the rank, and ``team rank`` the rank of a team, beside its best
    system. Systems of one tie group cannot be told apart from the best one of the group. LaTeX has the rank,
    the names, the rank of the team and the score; ``columns`` chooses others. CSV and data frames have a row
    for each system, metric and class; rows over all classes have no class.

    Attributes
    ----------
    systems : tuple of RankedSystem
        Each has a ``name``, ``team``, ``score`` and ``metrics`` with intervals, ``rank``, the interval of
        the rank (``rank_low``, ``rank_high``), a tie ``group`` from 1 on, ``best_of_team`` and
        ``team_rank``.
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

    _json_indent: ClassVar[int] = 1

    def __repr__(self) -> str:
        rejected = f", {len(self.rejected)} rejected" if self.rejected else ""
        return f"<Ranking of {counted(len(self.systems), 'system')} by {one_line(self.score.name)}{rejected}>"

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        ranked = self._ranked_table(digits, rank_first=form == "latex")
        if form == "html":
            return [ranked, [self.about(), *self._signature_lines()]]
        definitions = [definition(metric.name, metric.definition) for metric in self.metrics]
        if form == "markdown":
            parts: list[Part] = [ranked, [self.about(), *self._signature_lines()]]
            for metric, line in zip(self.metrics, definitions, strict=True):
                parts.append(line)
                if not self.systems or classes_of(self, metric.name):
                    parts.append(self._class_table(metric, digits))
            return parts
        lines = [*definitions, self.about(), *self._signature_lines()]
        return [lines, ranked] if form == "latex" else [ranked, lines]

    def _records(self) -> Records:
        return COLUMNS, self._rows()

    def _values(self) -> dict[str, Any]:
        sets = {name: picked(one, "clips", "hours", "classes") for name, one in self.datasets.items()}
        return {
            **({"task": self.task, "datasets": sets} if self.task else {}),
            "score": picked(self.score, *_KIND),
            "metrics": [picked(metric, *_KIND) for metric in self.metrics],
            "signatures": {name: of_set.as_json() for name, of_set in self.signatures().items()},
            **picked(self, "clips", "hours", "classes"),
            "resampling": self.about(),
            "systems": [_system_values(system) for system in self.systems],
            "pairs": [
                {
                    "better": picked(self.systems[first], *_NAMES),
                    "worse": picked(self.systems[second], *_NAMES),
                    **picked(pair, *_PAIR),
                }
                for (first, second), pair in self.pairs.items()
            ],
            "rejected": [picked(system, *_NAMES, "reasons") for system in self.rejected],
            "warnings": self.warnings,
        }

    def signatures(self) -> dict[str, Signature]:
        """Return what all systems have in common: their signatures without scores, by data set.

        Data sets on which they differ, for example in their classes, are left out.

        Returns
        -------
        dict of str to Signature

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.6), ("b", 0.8))}
        >>> ranking = sed.rank(systems, truth, "psds1", resampling=50)
        >>> str(ranking.signatures()[""]).partition(" psds1")[2]
        '#c0ca clips=30#635c classes=2#baa0 truth#83ff'
        """
        common: dict[str, Signature] = {}
        for system in self.systems[:1]:
            for name, signature in system.signatures.items():
                others = [other.signatures[name] for other in self.systems]
                if not any(signature.differences(other, of_scores=False) for other in others):
                    common[name] = replace(signature.of_scores(None), processing=())
        return common

    def _signature_lines(self) -> list[Line]:
        return [signature_line(signature, name) for name, signature in self.signatures().items()]

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
        rows = []
        for (first, second), pair in self.pairs.items():
            better, worse = self.systems[first], self.systems[second]
            names = (better.team, better.name, worse.team, worse.name)
            rows.append((*names, pair.difference, pair.p, pair.p_corrected, int(pair.significant)))
        return written(csv_of((PAIR_COLUMNS, rows)), path)

    def site(
        self,
        folder: str | Path,
        *,
        title: str = "Leaderboard",
        reports: Reports = "none",
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
        private_reasons: str | Path | None = None,
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
        private_reasons : str or Path, optional
            A folder for why systems were rejected, with a text file for each team. The site then says only
            that they were.

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
            self,
            folder,
            title=title,
            reports=reports,
            clips_shown=clips_shown,
            audio=audio,
            private_reasons=private_reasons,
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
            parts.append(f"p is corrected for {len(self.pairs)} pairs of systems (Westfall and Young)")
        return "; ".join(parts)

    def _all_warnings(self) -> list[str]:
        """Return the warnings about all systems, about each of them, and about those that were rejected."""
        return [
            *self.warnings,
            *of_systems((system.full_name, text) for system in self.systems for text in system.warnings),
            *(f"{system.full_name} was rejected: {system.reasons[0]}" for system in self.rejected),
        ]

    def _ranked_table(self, digits: int, *, rank_first: bool) -> Table:
        """Return a row per system, best first. ``rank_first``: with the rank as the first name."""
        names = [("system", [system.name for system in self.systems])]
        if any(system.team != system.name for system in self.systems):
            names.insert(0 if rank_first else 1, ("team", [system.team for system in self.systems]))
        of_teams = [str(system.team_rank) if system.best_of_team else "" for system in self.systems]
        hashes = [
            " ".join(signature.short_hash("scores") for signature in system.signatures.values())
            for system in self.systems
        ]
        columns = [
            ("ranks", [ranks_text(system) for system in self.systems]),
            *([] if all(of_teams) else [("team rank", of_teams)]),
            ("tie group", [str(system.group) for system in self.systems]),
            *((metric.name, self._column(metric, digits)) for metric in self.metrics),
            ("scores", hashes),
        ]
        (names if rank_first else columns).insert(
            0, ("rank", [str(system.rank) for system in self.systems])
        )
        return Table(
            [name for name, _ in (*names, *columns)],
            [*zip(*(cells for _, cells in (*names, *columns)), strict=True)],
            names=len(names),
            noun="system",
            in_latex=("team rank", self.score.name),
        )

    def _column(self, metric: RankedMetric, digits: int) -> list[str]:
        """Return the cells of a metric, with intervals and the deviation between runs."""
        values = [system.metrics[metric.name] for system in self.systems]
        cells = []
        for value in values:
            spread = deviation(value)
            between = "" if spread is None else f" ± {spread:.{digits}f}"
            limits = f"({value.low:.{digits}f}–{value.high:.{digits}f})"
            cells.append(f"{value.value:.{digits}f}{between} {limits}")
        return mark_best(cells, [value.value for value in values], metric.higher_is_better)

    def _class_table(self, metric: RankedMetric, digits: int) -> Table:
        """Return a row per class, with a column per system, best system first."""
        rows = []
        for label in classes_of(self, metric.name):
            values = [value_of_class(system, metric.name, label).value for system in self.systems]
            cells = [f"{value:.{digits}f}" for value in values]
            rows.append([label, *mark_best(cells, values, metric.higher_is_better)])
        return Table(["class", *(system.full_name for system in self.systems)], rows, by_class=True)

    def _rows(self) -> Iterator[tuple[str | float | None, ...]]:
        definitions = {metric.name: metric.definition for metric in self.metrics}
        for system in self.systems:
            place = (
                *(system.rank, system.rank_low, system.rank_high, system.group),
                *(system.team, system.name, int(system.best_of_team), system.team_rank),
            )
            for name, metric in system.metrics.items():
                estimates: list[tuple[str | None, Estimate]] = [
                    (None, metric),
                    *metric.per_class.items(),
                ]
                for label, estimate in estimates:
                    spread = deviation(metric) if label is None else None
                    numbers = (estimate.value, estimate.low, estimate.high, spread)
                    yield (*place, len(metric.runs), name, label, *numbers, definitions[name])


def ranks_text(system: RankedSystem) -> str:
    """Return the interval of a rank as text."""
    low, high = system.rank_low, system.rank_high
    return str(low) if low == high else f"{low}–{high}"


def classes_of(ranking: Ranking, metric: str) -> list[str]:
    """Return the classes that a metric has values for, in one system at least."""
    return [
        *dict.fromkeys(label for system in ranking.systems for label in system.metrics[metric].per_class)
    ]


def value_of_class(system: RankedSystem, metric: str, label: str) -> Estimate:
    """Return the value of a class; it is not defined if the system does not have the class."""
    return system.metrics[metric].per_class.get(label, _UNDEFINED)


def deviation(metric: MetricEstimate) -> float | None:
    """Return the standard deviation between runs; None for a single run."""
    return float(np.std(metric.runs, ddof=1)) if len(metric.runs) > 1 else None


def _system_values(system: RankedSystem) -> dict[str, Any]:
    return {
        "rank": system.rank,
        "rank_interval": [system.rank_low, system.rank_high],
        **picked(system, "group", *_NAMES, "best_of_team", "team_rank"),
        "score": picked(system.score, *_ESTIMATE),
        "metrics": {
            name: {
                **picked(metric, *_ESTIMATE, "runs"),
                "per_class": {label: picked(of, *_ESTIMATE) for label, of in metric.per_class.items()},
            }
            for name, metric in system.metrics.items()
        },
        "signatures": {name: str(signature) for name, signature in system.signatures.items()},
        "warnings": system.warnings,
    }
