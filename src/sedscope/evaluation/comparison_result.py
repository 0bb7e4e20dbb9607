"""The result of a comparison: values, differences, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..engines.options import EngineName, RunOptions
from ..io.atomic_write import write_text
from ..metrics import Metric
from ..resampling.draws import Resampling
from ..resampling.intervals import Bootstrap, Interval
from .result import Evaluation
from .table_text import aligned, csv, latex, markdown


@dataclass(frozen=True, eq=False, repr=False)
class SystemValue(Bootstrap):
    """A metric of a system: the mean over its runs, with the interval that resampling clips gives it."""

    runs: tuple[float, ...]
    """The value of each run."""

    @property
    def spread(self) -> float:
        """The deviation between runs; NaN for one run."""
        with np.errstate(invalid="ignore"):  # of infinite values there is none
            return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Interval):
    """How much larger a value is for one system than for another, in the same resamples."""

    p: float
    """How often a difference as far from 0 comes by chance (two-sided): twice the share of resamples in
    which the difference is not on the side where it is."""
    higher_is_better: bool

    @property
    def verdict(self) -> int:
        """1: the first system is better, −1: it is worse, 0: inside the noise (0 is in the interval)."""
        if np.isnan(self.low) or self.low <= 0 <= self.high:
            return 0
        return 1 if (self.low > 0) == self.higher_is_better else -1


@dataclass(frozen=True, eq=False, repr=False)
class PairDifference(Difference):
    """The same over all classes, and for each class."""

    p_corrected: float
    """For the number of pairs that are compared with the metric (Holm, 1979)."""
    per_class: Mapping[str, Difference]

    @property
    def wins(self) -> int:
        """In how many classes the first system is better by more than the noise."""
        return sum(of_class.verdict > 0 for of_class in self.per_class.values())

    @property
    def losses(self) -> int:
        """In how many classes it is worse by more than the noise."""
        return sum(of_class.verdict < 0 for of_class in self.per_class.values())


@dataclass(frozen=True, eq=False)
class Comparison:
    """Values of several systems on the same clips, and their differences."""

    systems: tuple[str, ...]
    metrics: tuple[Metric[Any], ...]
    classes: tuple[str, ...]
    clips: int
    hours: float
    values: Mapping[Metric[Any], Mapping[str, SystemValue]]
    """By metric and system."""
    differences: Mapping[Metric[Any], Mapping[tuple[str, str], PairDifference]]
    """By metric and pair of systems: the first one's value less the second one's."""
    resampling: Resampling
    warnings: tuple[str, ...]
    evaluations: Mapping[str, Evaluation]
    """Of the first run of each system, with the intervals of the mean over its runs."""

    def table(self) -> str:
        """A readable table: systems by metric, then each pair; differences inside the noise are marked
        with ≈, others with > or <: better or worse."""
        legend = [f"[{i}] {metric!r}" for i, metric in enumerate(self.metrics, 1)]
        return "\n".join(
            [
                *aligned(self._systems_table()),
                "",
                *aligned(self._pairs_table()),
                "",
                *legend,
                self._about(),
            ]
        )

    def class_table(self, metric: Metric[Any]) -> str:
        """A readable table of one metric: a row per class, a column per system, then each pair."""
        return "\n".join(aligned(self._class_rows(metric)))

    def to_markdown(self, path: str | Path | None = None) -> str:
        """All tables as Markdown; written to ``path`` as well, if given."""
        parts = [markdown(self._systems_table()), markdown(self._pairs_table())]
        for i, metric in enumerate(self.metrics, 1):
            parts.append(f"**[{i}]** `{metric!r}`\n\n{markdown(self._class_rows(metric))}")
        return _written("\n\n".join([*parts, self._about()]) + "\n", path)

    def to_latex(self, path: str | Path | None = None) -> str:
        """All tables as LaTeX ``tabular`` environments; written to ``path`` as well, if given."""
        parts = [latex(self._systems_table()), latex(self._pairs_table())]
        for i, metric in enumerate(self.metrics, 1):
            parts.append(f"% [{i}] {metric!r}\n{latex(self._class_rows(metric))}")
        return _written("\n\n".join([*parts, f"% {self._about()}"]) + "\n", path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Every number, one row each: metric, class, system or pair, value, low, high, and more."""
        return _written(csv([_CSV_HEADER, *self._long_rows()]), path)

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
        said = "≈ inside the noise: the interval of the difference has 0 in it"
        return f"{self.resampling.about()}, the same for all systems; {said}"

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
                f"{one} − {other}",
                f"[{i}]",
                f"{found.value:+.4f}",
                f"({found.low:+.4f} … {found.high:+.4f})",
                _SIGNS[found.verdict],
                _p_value(found.p_corrected),
                str(found.wins),
                str(found.losses),
                str(len(found.per_class)),
            ]
            for i, metric in enumerate(self.metrics, 1)
            for (one, other), found in self.differences[metric].items()
        ]
        return [header, *rows]

    def _class_rows(self, metric: Metric[Any]) -> list[list[str]]:
        values, pairs = self.values[metric], self.differences[metric]
        header = ["class", *self.systems, *(f"{one} − {other}" for one, other in pairs)]
        rows = [
            [
                label,
                *(f"{values[name].per_class[label].value:.4f}" for name in self.systems),
                *(_difference(found.per_class[label]) for found in pairs.values()),
            ]
            for label in self.classes
        ]
        overall = [
            "overall",
            *(f"{values[name].value:.4f}" for name in self.systems),
            *(_difference(found) for found in pairs.values()),
        ]
        return [header, *rows, overall]

    def _long_rows(self) -> Iterable[list[str]]:
        for metric in self.metrics:
            for name, value in self.values[metric].items():
                for label, one in (("", value), *value.per_class.items()):
                    spread = value.spread if one is value else np.nan
                    yield [repr(metric), label, name, "", *_numbers(one), f"{spread!r}", "", "", ""]
            for (name, other), pair in self.differences[metric].items():
                for label, found in (("", pair), *pair.per_class.items()):
                    corrected = f"{pair.p_corrected!r}" if found is pair else ""
                    yield [
                        *(repr(metric), label, name, other, *_numbers(found), ""),
                        *(f"{found.p!r}", corrected, str(found.verdict)),
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


def _p_value(p: float) -> str:
    return "nan" if np.isnan(p) else f"{p:.3f}" if p >= 0.001 else "< 0.001"


def _numbers(interval: Interval) -> list[str]:
    return [*(f"{x!r}" for x in (interval.value, interval.low, interval.high)), str(interval.undefined)]


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_text(path, text)
    return text
