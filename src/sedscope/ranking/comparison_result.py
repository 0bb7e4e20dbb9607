"""The result of a comparison: values, differences, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines.run import Run
from ..errors import counted, listing
from ..evaluation.result import Evaluation
from ..evaluation.result_tables import about_new_clips, signature_line
from ..metrics import Metric
from ..metrics.names import metric_called
from ..resampling.intervals import Interval, interval_text
from ..resampling.resampling import Resampling
from ..results.text import Form, Line, Part, Records, Table, definition, mark_best
from ..tabular import TabularResult
from .differences import Difference, PairDifference, SystemValue
from .significance import level_of, resamples_needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..evaluation.signature import Signature

COLUMNS: dict[str, type] = {
    **{"metric": str, "class": str, "system": str, "less": str, "value": float, "low": float},
    **{"high": float, "undefined_resamples": int, "deviation_of_runs": float, "p": float},
    **{"p_corrected": float, "verdict": int, "definition": str},
}
PAIRS_BESIDE_CLASSES = 3
"""How many differences a row of a class has at most, to be readable."""
_SIGNS = {1: ">", 0: "≈", -1: "<"}


@dataclass(frozen=True, eq=False)
class ComparedMetric:
    """One metric of a comparison.

    Attributes
    ----------
    metric : Metric
        What was measured.
    name : str
        Its name in tables.
    values : mapping of str to SystemValue
        The value of each system.
    differences : mapping of pair to PairDifference
        The value of the later system minus that of the earlier one, by pair.
    """

    metric: Metric[Any]
    name: str
    values: Mapping[str, SystemValue]
    differences: Mapping[tuple[str, str], PairDifference]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(TabularResult):
    """Values of several systems on the same clips, and their differences: ``comparison["psds1"]``.

    A difference is the value of the later system minus that of the earlier one, so an improvement of a
    metric of which more is better is positive. In tables, ≈ marks differences inside the noise, > and < mark
    better and worse.

    CSV and data frames have a row for each metric, class and system, then for each pair of systems
    (``system`` less ``less``). Rows over all classes have no class. ``verdict`` is 1 if the first system of a
    pair is better, −1 if it is worse, and 0 if the difference is inside the noise.

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
        The first run of each system, with the intervals of the mean over its runs. Systems of which only
        a published value is known have none.

    signatures : mapping of str to Signature
        What the values of each system were computed by, and from what; with the scores of all its runs.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(200)
    >>> a, b = (sed.simulate.scores(truth, quality=quality) for quality in (0.8, 0.6))
    >>> comparison = sed.compare({"a": a, "b": b}, truth, sed.presets.PSDS1, resampling=200)
    >>> comparison["psds1"].differences["b", "a"].losses
    7
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
    signatures: Mapping[str, Signature]

    def __repr__(self) -> str:
        return (
            f"<Comparison of {listing(self.systems)}: {counted(len(self.metrics), 'metric')}, "
            f"{counted(self.clips, 'clip')}, {counted(len(self.classes), 'class')}>"
        )

    def __getitem__(self, metric: Metric[Any] | str) -> ComparedMetric:
        found = metric_called(metric, self.names)
        return ComparedMetric(found, self.names[found], self.values[found], self.differences[found])

    def __iter__(self) -> Iterator[Metric[Any]]:
        return iter(self.metrics)

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        overview = [self._system_table(digits), self._pair_table(digits)]
        definitions = [definition(name, repr(metric)) for metric, name in self.names.items()]
        if form == "text":
            return [*overview, [*definitions, self.about(), *self._signature_lines()]]
        if form == "html":
            return [*overview, [self.about(), *definitions, *self._signature_lines()]]
        titles = zip(self.metrics, definitions, strict=True)
        classes = [replace(self._class_table(metric, digits), title=title) for metric, title in titles]
        return [*overview, *classes, [self.about(), *self._signature_lines()]]

    def _signature_lines(self) -> list[Line]:
        return [signature_line(signature, name) for name, signature in self.signatures.items()]

    def _values(self) -> dict[str, Any]:
        signatures = {name: signature.as_json() for name, signature in self.signatures.items()}
        return {"signatures": signatures, **super()._values()}

    def _records(self) -> Records:
        return COLUMNS, self._rows()

    @property
    def pairs(self) -> int:
        """The number of pairs of systems. Published values are not compared with each other."""
        return len(self.differences[self.metrics[0]])

    @property
    def published(self) -> tuple[str, ...]:
        """The systems of which only a published value is known."""
        return tuple(name for name in self.systems if name not in self.evaluations)

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
        return self._class_table(metric_called(metric, self.names), 4).text()

    def plot(
        self,
        metric: Metric[Any] | str | None = None,
        *,
        differences: bool = False,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the values of all systems with matplotlib, or their differences: dots with intervals.

        Parameters
        ----------
        metric : Metric or str, optional
            What to draw: a metric that was compared, or its name. By default, the first.
        differences : bool, default False
            Whether to draw the differences instead of the values.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure as wide as a column of a paper.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> systems = {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}
        >>> comparison = sed.compare(systems, truth, "psds1", resampling=50)
        >>> comparison.plot(differences=True).get_xlabel()
        'difference in PSDS1'
        """
        from ..plots.values import plot_values, rows_of

        compared = self[self.metrics[0] if metric is None else metric]
        intervals: Mapping[str, Interval] = compared.values
        if differences:
            intervals = {f"{a} − {b}": pair for (a, b), pair in compared.differences.items()}
        series = {name: rows_of(interval, self.classes) for name, interval in intervals.items()}
        title = f"difference in {compared.name}" if differences else compared.name
        return plot_values(series, title, ax, zero=differences)

    def show(self, *, height: int = 800, **options: Any) -> None:
        """Show the report; see :meth:`Evaluation.show`.

        Parameters
        ----------
        height : int, default 800
            The height of the report in a notebook, in pixels.
        **options
            Those of :meth:`report`.
        """
        from ..report import show_report

        show_report(self.report, height, options)

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
            self.evaluations, path, comparison=self, clips_shown=clips_shown, audio=audio, run=run
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
        if self.resampling.test == "randomisation":
            parts.append(
                f"p values from {counted(self.resampling.number, 'random swap')} of the systems in "
                f"{'groups of clips' if self.resampling.groups else 'single clips'}"
            )
        if self.published:
            parts.append(f"published values are taken as exact: {listing(self.published)}")
        if pairs > 1:
            parts.append(
                f"overall p values are corrected for {pairs} pairs of systems (Westfall and Young)"
            )
        parts += about_new_clips(self.evaluations)
        needed = resamples_needed(self.resampling.confidence)
        if needed > self.resampling.number:
            parts.append(
                f"no p value of {counted(self.resampling.number, 'resample')} can be significant: that needs "
                f"at least {needed}"
            )
        return "; ".join(parts)

    def _system_table(self, digits: int) -> Table:
        columns = []
        for metric in self.metrics:
            values = [*self.values[metric].values()]
            cells = [_system_cell(value, digits) for value in values]
            columns.append(_with_best(cells, values, metric))
        rows = [[*row] for row in zip(self.systems, *columns, strict=True)]
        return Table(["system", *self.names.values()], rows, noun="system", ruled=False)

    def _pair_table(self, digits: int) -> Table:
        rows = [
            [
                f"{later} − {earlier}",
                self.names[metric],
                f"{pair.value:+.{digits}f}",
                interval_text(pair, digits, signed=True),
                _SIGNS[pair.verdict],
                pair.p_text,
                *(
                    [str(pair.wins), str(pair.losses), str(len(pair.per_class))]
                    if pair.per_class
                    else [""] * 3
                ),
            ]
            for metric in self.metrics
            for (later, earlier), pair in self.differences[metric].items()
        ]
        header = ["difference", "metric", "value", "interval", "", "p", "wins", "losses", "classes"]
        return Table(header, rows, noun="difference", ruled=False)

    def _class_table(self, metric: Metric[Any], digits: int) -> Table:
        """Return a row per class, with a column per system and per pair, and a last row for all classes."""
        values = {name: self.values[metric][name] for name in self.evaluations}
        few = self.pairs <= PAIRS_BESIDE_CLASSES
        pairs = {
            pair: difference
            for pair, difference in self.differences[metric].items()
            if few and values.keys() >= {*pair}
        }

        def cells(of_systems: Sequence[Interval], differences: Sequence[Difference]) -> list[str]:
            numbers = [f"{interval.value:.{digits}f}" for interval in of_systems]
            return [
                *_with_best(numbers, of_systems, metric),
                *(_difference_cell(difference, digits) for difference in differences),
            ]

        rows = [
            [
                label,
                *cells(
                    [value.per_class[label] for value in values.values()],
                    [pair.per_class[label] for pair in pairs.values()],
                ),
            ]
            for label in self.classes
        ]
        overall = ["overall", *cells([*values.values()], [*pairs.values()])]
        header = ["class", *values, *(f"{later} − {earlier}" for later, earlier in pairs)]
        return Table(header, rows, overall, ruled=False, by_class=True)

    def _rows(self) -> Iterator[tuple[str | float | None, ...]]:
        for metric in self.metrics:
            name, defined = self.names[metric], repr(metric)
            for system, value in self.values[metric].items():
                for label, interval in ((None, value), *value.per_class.items()):
                    spread = value.spread if interval is value else np.nan
                    numbers = (*_numbers(interval), spread, None, None, None)
                    yield (name, label, system, None, *numbers, defined)
            for (later, earlier), pair in self.differences[metric].items():
                for label, difference in ((None, pair), *pair.per_class.items()):
                    corrected = pair.p_corrected if difference is pair else None
                    judged = (None, difference.p, corrected, difference.verdict)
                    yield (name, label, later, earlier, *_numbers(difference), *judged, defined)


def _system_cell(value: SystemValue, digits: int) -> str:
    if not value.runs:
        return f"{value.value:.{digits}f} (published)"
    spread = "" if np.isnan(value.spread) else f" ± {value.spread:.{digits}f}"
    return f"{value.value:.{digits}f}{spread} {interval_text(value, digits)}"


def _difference_cell(difference: Difference, digits: int) -> str:
    if np.isnan(difference.value):
        return "nan"
    interval = interval_text(difference, digits, signed=True)
    return f"{difference.value:+.{digits}f} {interval} {_SIGNS[difference.verdict]}"


def _with_best(cells: list[str], intervals: Sequence[Interval], metric: Metric[Any]) -> list[str]:
    return mark_best(cells, [interval.value for interval in intervals], metric.higher_is_better)


def _numbers(interval: Interval) -> list[float]:
    return [interval.value, interval.low, interval.high, interval.undefined]
