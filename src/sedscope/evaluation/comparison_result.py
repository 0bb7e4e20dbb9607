"""The result of a comparison: values, differences, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..engines.options import EngineName, RunOptions
from ..errors import counted
from ..io.atomic_write import write_text
from ..metrics import Metric
from ..resampling.intervals import Interval
from ..resampling.resampling import Resampling
from .differences import Difference, PairDifference, SystemValue
from .p_values import level_of, p_text, resamples_needed
from .result import Evaluation
from .table_text import format_csv, format_latex, format_markdown, format_text


@dataclass(frozen=True, eq=False)
class Comparison:
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
    classes: tuple[str, ...]
    clips: int
    hours: float
    values: Mapping[Metric[Any], Mapping[str, SystemValue]]
    differences: Mapping[Metric[Any], Mapping[tuple[str, str], PairDifference]]
    resampling: Resampling
    warnings: tuple[str, ...]
    evaluations: Mapping[str, Evaluation]

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
        legend = [f"[{i}] {metric!r}" for i, metric in enumerate(self.metrics, 1)]
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
        ['class', 'a', 'b', 'b']
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
        return _written("\n\n".join([*parts, self.about()]) + "\n", path)

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
        return _written("\n\n".join([*parts, f"% {self.about()}"]) + "\n", path)

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
        return _written(format_csv([_CSV_HEADER, *self._long_rows()]), path)

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
                f"{later} − {earlier}",
                f"[{i}]",
                f"{pair.value:+.4f}",
                f"({pair.low:+.4f} … {pair.high:+.4f})",
                _SIGNS[pair.verdict],
                pair.p_text,
                str(pair.wins),
                str(pair.losses),
                str(len(pair.per_class)),
            ]
            for i, metric in enumerate(self.metrics, 1)
            for (later, earlier), pair in self.differences[metric].items()
        ]
        return [header, *rows]

    def _class_rows(self, metric: Metric[Any]) -> list[list[str]]:
        values, pairs = self.values[metric], self.differences[metric]
        header = ["class", *self.systems, *(f"{later} − {earlier}" for later, earlier in pairs)]
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

    def _long_rows(self) -> Iterable[list[str]]:
        for metric in self.metrics:
            for name, value in self.values[metric].items():
                for label, interval in (("", value), *value.per_class.items()):
                    spread = value.spread if interval is value else np.nan
                    yield [repr(metric), label, name, "", *_numbers(interval), f"{spread!r}", "", "", ""]
            for (later, earlier), pair in self.differences[metric].items():
                for label, difference in (("", pair), *pair.per_class.items()):
                    corrected = f"{pair.p_corrected!r}" if difference is pair else ""
                    yield [
                        *(repr(metric), label, later, earlier, *_numbers(difference), ""),
                        *(f"{difference.p!r}", corrected, str(difference.verdict)),
                    ]


_SIGNS = {1: ">", 0: "≈", -1: "<"}
_CSV_HEADER = [
    *("metric", "class", "system", "less", "value", "low", "high", "undefined_resamples"),
    *("deviation_of_runs", "p", "p_corrected", "verdict"),
]


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


def _numbers(interval: Interval) -> list[str]:
    return [*(f"{x!r}" for x in (interval.value, interval.low, interval.high)), str(interval.undefined)]


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_text(path, text)
    return text
