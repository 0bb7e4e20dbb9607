"""Comparison of systems on the same clips: differences, and whether they are more than chance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .alignment import Alignment, ClipChoice, Missing, align
from .clip_deltas import Deltas
from .collect import Progress
from .counts import Counts
from .criteria import Criterion
from .errors import SedscopeError, counted, listing
from .evaluation import Evaluation, as_evaluation
from .ground_truth import GroundTruth
from .io.files import write_text
from .metrics import Metric
from .scores import Scores
from .tables import aligned, csv, latex, markdown
from .uncertainty import Bootstrap, Draws, Interval, Resampling
from .wanted import as_metrics, deltas_for, late_note, vanishing_note

FloatArray: TypeAlias = NDArray[np.float64]
Runs: TypeAlias = Scores | Sequence[Scores]


@dataclass(frozen=True, eq=False, repr=False)
class SystemValue(Bootstrap):
    """A metric of a system: the mean over its runs, with the interval that resampling clips gives it."""

    runs: tuple[float, ...]
    """The value of each run."""

    @property
    def spread(self) -> float:
        """The deviation between runs; NaN for one run."""
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
    metrics: tuple[Metric, ...]
    classes: tuple[str, ...]
    clips: int
    hours: float
    values: Mapping[Metric, Mapping[str, SystemValue]]
    """By metric and system."""
    differences: Mapping[Metric, Mapping[tuple[str, str], PairDifference]]
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

    def class_table(self, metric: Metric) -> str:
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
        threads: int | None = None,
    ) -> None:
        """Write an HTML page with all systems, see :meth:`Evaluation.report`; curves and clips are those
        of the first run of each system."""
        from .report import write_report

        write_report(
            self.evaluations,
            path,
            comparison=self,
            clips_shown=clips_shown,
            audio=audio,
            threads=threads,
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

    def _class_rows(self, metric: Metric) -> list[list[str]]:
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


def compare(
    systems: Mapping[str, Runs] | Sequence[Runs],
    truth: GroundTruth,
    metrics: Iterable[Metric] | Metric,
    n: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    interval: str = "percentile",
    balanced: bool = False,
    groups: Mapping[str, Hashable] | None = None,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems on the same clips, drawn together in each resample (paired bootstrap).

    ``systems``: scores by name. Several scores for one name are runs of one system, e.g. with other
    seeds: their mean is compared, and their spread is told. ``clips="scored"``: those that all systems
    have scores for. The other options are those of :func:`~sedscope.bootstrap` and
    :func:`~sedscope.evaluate`.

    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(200)
    >>> a, b = (sed.simulate.scores(truth, quality=quality) for quality in (0.8, 0.6))
    >>> comparison = compare({"a": a, "b": b}, truth, sed.presets.PSDS1, n=200)
    >>> comparison.differences[sed.presets.PSDS1]["a", "b"].verdict
    1
    """
    chosen = as_metrics(metrics)
    runs = _as_systems(systems)
    resampling = Resampling(n, confidence, seed, interval, balanced, groups)
    alignments = _aligned(runs, truth, classes, clips, missing)
    first = next(iter(alignments.values()))[0]
    draws = Draws(resampling, first.clips)
    number = sum(map(len, alignments.values()))
    measured: dict[Metric, dict[str, list[FloatArray]]] = {
        metric: {name: [] for name in runs} for metric in chosen
    }
    notes: dict[str, None] = {}
    first_runs: dict[str, _FirstRun] = {}
    done, hours = 0, 0.0
    for name, of_system in alignments.items():
        for alignment in of_system:
            steps = _steps(progress, done, number)
            deltas = deltas_for(alignment, chosen, draws.weights, threads=threads, progress=steps)
            for metric in chosen:
                found = draws.measure(deltas[metric.criterion], metric, threads)
                measured[metric][name].append(found)
            said = [*alignment.warnings, *late_note(alignment, deltas)]
            notes |= dict.fromkeys(said)
            if name not in first_runs:
                counts = {criterion: of.counts(threads=threads) for criterion, of in deltas.items()}
                first_runs[name] = _FirstRun(alignment, deltas, counts, said)
            hours = int(next(iter(deltas.values())).durations.sum()) / 3.6e9
            done += 1
    values = {
        metric: {name: _system_value(draws, first.classes, found) for name, found in of_metric.items()}
        for metric, of_metric in measured.items()
    }
    everything = [value for of_metric in values.values() for value in of_metric.values()]
    notes |= dict.fromkeys(vanishing_note(everything))
    return Comparison(
        systems=tuple(runs),
        metrics=chosen,
        classes=first.classes,
        clips=len(first.clips),
        hours=hours,
        values=values,
        differences={
            metric: _differences(draws, metric, first.classes, of_metric)
            for metric, of_metric in measured.items()
        },
        resampling=resampling,
        warnings=tuple(notes),
        evaluations={
            name: run.evaluation(chosen, {metric: values[metric][name] for metric in chosen})
            for name, run in first_runs.items()
        },
    )


@dataclass(frozen=True, eq=False)
class _FirstRun:
    """What a report needs of a system."""

    alignment: Alignment
    deltas: Mapping[Criterion, Deltas]
    counts: Mapping[Criterion, Counts]
    notes: list[str]

    def evaluation(
        self, metrics: tuple[Metric, ...], intervals: Mapping[Metric, Bootstrap]
    ) -> Evaluation:
        return as_evaluation(metrics, self.counts, self.notes, intervals, self.alignment, self.deltas)


def _as_systems(systems: Mapping[str, Runs] | Sequence[Runs]) -> dict[str, list[Scores]]:
    if isinstance(systems, Scores) or not isinstance(systems, (Mapping, Sequence)):
        raise SedscopeError("give several systems: a mapping from names to scores, or a list of scores")
    if not isinstance(systems, Mapping):
        systems = {f"system {i}": runs for i, runs in enumerate(systems, 1)}
    if len(systems) < 2:
        raise SedscopeError(f"{counted(len(systems), 'system')}: at least 2 are needed to compare")
    runs = {name: [of] if isinstance(of, Scores) else [*of] for name, of in systems.items()}
    wrong = [
        name for name, of in runs.items() if not of or not all(isinstance(one, Scores) for one in of)
    ]
    if wrong:
        raise SedscopeError(f"without scores: {listing(wrong)}: see read_scores")
    return runs


def _aligned(
    runs: Mapping[str, Sequence[Scores]],
    truth: GroundTruth,
    classes: Iterable[str] | None,
    clips: ClipChoice,
    missing: Missing,
) -> dict[str, list[Alignment]]:
    """The same clips and classes of all systems, in the same order."""
    everything = [scores for of_system in runs.values() for scores in of_system]
    first = everything[0]
    chosen = tuple(first.classes if classes is None else classes)
    if classes is None and any(set(scores.classes) != set(chosen) for scores in everything):
        labels: list[set[str]] = [set(scores.classes) for scores in everything]
        differing = sorted(set[str]().union(*labels) - labels[0].intersection(*labels))
        raise SedscopeError(
            f"not all systems score the same classes: {listing(differing)}. Choose the classes to "
            "compare with classes= (--classes)"
        )
    same: ClipChoice
    if clips is None or clips == "scored":
        common = [clip for clip in first if all(clip in scores for scores in everything)]
        lacking = sorted({clip for scores in everything for clip in scores}.difference(common))
        if lacking and clips is None:
            raise SedscopeError(
                f"not scored by all systems: {counted(len(lacking), 'clip')}: {listing(lacking)}. "
                "Compare the others with clips='scored' (--clips scored)"
            )
        if not common:
            raise SedscopeError("there is no clip that all systems have scores for")
        same = None if clips is None else common
    else:
        same = [*clips]
    order = None
    found: dict[str, list[Alignment]] = {}
    for name, of_system in runs.items():
        try:
            for scores in of_system:
                aligned_once = align(scores, truth, classes=chosen, clips=same, missing=missing)
                order = order or aligned_once.clips
                if aligned_once.clips != order:
                    aligned_once = align(scores, truth, classes=chosen, clips=order, missing=missing)
                found.setdefault(name, []).append(aligned_once)
        except SedscopeError as error:
            raise SedscopeError(f"{name}: {error}") from None
    return found


def _steps(progress: Progress | None, done: int, number: int) -> Progress | None:
    """Progress over all systems."""
    if progress is None:
        return None
    return lambda items, total: progress(done * total + items, number * total)


def _system_value(draws: Draws, classes: Sequence[str], runs: Sequence[FloatArray]) -> SystemValue:
    mean = draws.summary(classes, np.mean(runs, axis=0))
    return SystemValue(
        value=mean.value,
        low=mean.low,
        high=mean.high,
        values=mean.values,
        per_class=mean.per_class,
        resampling=mean.resampling,
        runs=tuple(float(run[0, 0]) for run in runs),
    )


def _differences(
    draws: Draws, metric: Metric, classes: Sequence[str], measured: Mapping[str, Sequence[FloatArray]]
) -> dict[tuple[str, str], PairDifference]:
    means = {name: np.mean(runs, axis=0) for name, runs in measured.items()}
    pairs = list(combinations(means, 2))
    found = {(one, other): draws.summary(classes, means[one] - means[other]) for one, other in pairs}
    corrected = _holm([_p_of(found[pair]) for pair in pairs])
    better = metric.higher_is_better

    def difference(interval: Interval) -> dict[str, Any]:
        return {
            "value": interval.value,
            "low": interval.low,
            "high": interval.high,
            "values": interval.values,
            "p": _p_of(interval),
            "higher_is_better": better,
        }

    return {
        pair: PairDifference(
            **difference(found[pair]),
            p_corrected=p,
            per_class={
                label: Difference(**difference(of_class))
                for label, of_class in found[pair].per_class.items()
            },
        )
        for pair, p in zip(pairs, corrected, strict=True)
    }


def _p_of(difference: Interval) -> float:
    """Twice the smaller share of resamples on either side of 0, one counted for the set itself."""
    defined = difference.values[np.isfinite(difference.values)]
    if not len(defined) or np.isnan(difference.value):
        return np.nan
    fewer = min(np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0))
    return min(1.0, 2 * (1 + int(fewer)) / (1 + len(defined)))


def _holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for the number of values: the smallest times all, the next times one less, …

    >>> _holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    order = np.argsort(p_values)  # NaN last
    corrected = np.full(len(p_values), np.nan)
    known = int(np.count_nonzero(~np.isnan(p_values)))
    largest = 0.0
    for rank, i in enumerate(order[:known]):
        largest = max(largest, min(1.0, (known - rank) * p_values[i]))
        corrected[i] = largest
    return [float(p) for p in corrected]


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
