"""Comparison in one call: several systems on the same clips, and which differences exceed chance."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment, align, choose_classes
from ..data.arrays import FloatArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.ground_truth import GroundTruth
from ..data.labels import refuse_disjoint
from ..data.progress import Progress
from ..data.scores import Scores
from ..data.time_sample import TimeSample
from ..data.times import Ticks
from ..engines.options import EngineName, RunOptions
from ..errors import SedscopeError, SedscopeWarning, counted, listing, readable
from ..metrics import Metric
from ..metrics.metric import as_metrics
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampling import Resampling
from .comparison_result import Comparison, Difference, PairDifference, SystemValue
from .evaluate import measure
from .notes import (
    coverage_note,
    empty_classes_note,
    late_events_note,
    never_detected_note,
    score_ranges,
    threshold_notes,
    undefined_resamples_note,
    undetected_classes_note,
)
from .result import Evaluation

Runs: TypeAlias = Scores | Sequence[Scores]


def compare(
    systems: Mapping[str, Runs] | Sequence[Runs],
    truth: GroundTruth,
    metrics: Iterable[Metric[Any]] | Metric[Any],
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
    coverage: Coverage = "error",
    engine: EngineName = "threads",
    scheduler: object = None,
    checkpoint: str | Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems on the same clips, which are drawn together in each resample (paired bootstrap).

    Parameters
    ----------
    systems : mapping of str to Scores, or sequence of Scores
        The scores of each system. Several scores under one name are runs of one system, e.g. with other
        seeds: their mean is compared, and their spread is reported.
    truth : GroundTruth
        The reference events.
    metrics : Metric or iterable of Metric
        What to measure.
    n, confidence, seed, interval, balanced, groups
        How clips are drawn, and which interval is made; see :class:`~sedscope.Resampling`.
    classes, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for the clips that all systems have scores for.
    engine, scheduler, checkpoint, threads, progress
        How the passes run; see :func:`~sedscope.evaluate`. Each run keeps its parts in a folder of its
        own inside ``checkpoint``.

    Returns
    -------
    Comparison
        Values, differences and their intervals.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(200)
    >>> a, b = (sed.simulate.scores(truth, quality=quality) for quality in (0.8, 0.6))
    >>> comparison = compare({"a": a, "b": b}, truth, sed.presets.PSDS1, n=200)
    >>> comparison.differences[sed.presets.PSDS1]["a", "b"].verdict
    1
    """
    chosen = as_metrics(metrics)
    options = RunOptions(threads, engine, scheduler, checkpoint, progress=progress)
    resampling = Resampling(n, confidence, seed, interval, balanced, groups)
    runs = _align_runs(_as_systems(systems), truth, classes, clips, missing, coverage)
    first = runs[0].alignment
    draws = Draws(resampling, first.clips)
    measured: dict[Metric[Any], dict[str, list[FloatArray]]] = {
        metric: {run.system: [] for run in runs} for metric in chosen
    }
    notes: list[str] = []
    first_runs: dict[str, _FirstRun] = {}
    with options.open_engine() as opened:
        for number, run in enumerate(runs):
            engine_of_run = opened.for_system(f"{run.system}-{run.number}")
            share = _share(progress, number, len(runs))
            sample = TimeSample(run.alignment)
            try:
                deltas = find_deltas_for_weights(
                    sample.alignment, chosen, draws.weights, engine_of_run, share
                )
            except SedscopeError as error:
                raise SedscopeError(f"{run.system}: {error}") from None
            for metric in chosen:
                of_run = draws.measure(deltas[metric.criterion], metric, engine_of_run)
                measured[metric][run.system].append(of_run)
            run_notes = [
                *run.alignment.warnings,
                *late_events_note(run.alignment, _durations(deltas)),
                *coverage_note(run.alignment, deltas),
                *never_detected_note(run.alignment, deltas),
                *threshold_notes(chosen, score_ranges(chosen, deltas)),
                *sample.notes(),
                *draws.cautions(),
            ]
            notes += [*run_notes, *empty_classes_note(_references(next(iter(deltas.values()))))]
            if run.number == 1:
                counts = {criterion: part.counts(threads=threads) for criterion, part in deltas.items()}
                first_runs[run.system] = _FirstRun(run.alignment, deltas, counts, run_notes)
    values = {
        metric: {
            name: _system_value(draws, first.classes, of_runs) for name, of_runs in by_system.items()
        }
        for metric, by_system in measured.items()
    }
    intervals = [value for by_system in values.values() for value in by_system.values()]
    evaluations = {
        name: run.evaluation(chosen, {metric: values[metric][name] for metric in chosen})
        for name, run in first_runs.items()
    }
    for evaluation in evaluations.values():
        notes += undetected_classes_note(evaluation.results)
    notes += undefined_resamples_note(intervals)
    warnings = tuple(dict.fromkeys(map(readable, notes)))
    for warning in warnings:
        python_warnings.warn(warning, SedscopeWarning, stacklevel=2)
    return Comparison(
        systems=tuple(first_runs),
        metrics=chosen,
        classes=first.classes,
        clips=len(first.clips),
        hours=next(iter(first_runs.values())).hours(),
        values=values,
        differences={
            metric: _differences(draws, metric, first.classes, by_system)
            for metric, by_system in measured.items()
        },
        resampling=resampling,
        warnings=warnings,
        evaluations=evaluations,
    )


@dataclass(frozen=True, eq=False)
class _Run:
    """One run of a system, with the clips and classes that all systems share."""

    system: str
    number: int
    """Among the runs of the system, from 1."""
    alignment: Alignment


@dataclass(frozen=True, eq=False)
class _FirstRun:
    """What a report needs of the first run of a system."""

    alignment: Alignment
    deltas: Mapping[Criterion, Deltas]
    counts: Mapping[Criterion, Counts]
    notes: list[str]

    def hours(self) -> float:
        return int(_durations(self.deltas).sum()) / 3.6e9

    def evaluation(
        self, metrics: tuple[Metric[Any], ...], intervals: Mapping[Metric[Any], Bootstrap]
    ) -> Evaluation:
        return measure(
            metrics,
            self.counts,
            self.notes,
            intervals,
            self.alignment,
            self.deltas,
            _durations(self.deltas),
        )


def _references(deltas: Deltas) -> dict[str, int]:
    """Return the number of references of each class."""
    numbers = np.bincount(deltas.tables.references.labels, minlength=len(deltas.classes))
    return dict(zip(deltas.classes, numbers.tolist(), strict=True))


def _as_systems(systems: Mapping[str, Runs] | Sequence[Runs]) -> dict[str, list[Scores]]:
    """Return the runs of each system, by name."""
    if isinstance(systems, Scores) or not isinstance(systems, (Mapping, Sequence)):
        raise SedscopeError("Give several systems: a mapping from names to scores, or a list of scores.")
    if not isinstance(systems, Mapping):
        systems = {f"system {i}": runs for i, runs in enumerate(systems, 1)}
    if len(systems) < 2:
        raise SedscopeError(f"A comparison needs at least 2 systems, not {len(systems)}.")
    nameless = [repr(name) for name in systems if not (isinstance(name, str) and name)]
    if nameless:
        raise SedscopeError(f"The name of a system must be a string, not {listing(nameless)}.")
    by_name: dict[str, list[Scores]] = {}
    runs: Any
    for name, runs in systems.items():
        several = isinstance(runs, Iterable) and not isinstance(runs, Scores)
        by_name[name] = [*runs] if several else [runs]
    wrong = [
        name
        for name, of_system in by_name.items()
        if not of_system or not all(isinstance(scores, Scores) for scores in of_system)
    ]
    if wrong:
        raise SedscopeError(f"{listing(wrong)} must be given as Scores. See read_scores.")
    return by_name


def _align_runs(
    systems: Mapping[str, Sequence[Scores]],
    truth: GroundTruth,
    classes: Iterable[str] | None,
    clips: ClipChoice,
    missing: Missing,
    coverage: Coverage,
) -> list[_Run]:
    """Align all runs to the same clips and classes, in the same order."""
    every_run = [scores for of_system in systems.values() for scores in of_system]
    first = every_run[0]
    if isinstance(classes, str) or (isinstance(clips, str) and clips != "scored"):
        align(
            first, truth, classes=classes, clips=clips, missing=missing, coverage=coverage
        )  # raises the error
    if classes is None:
        _refuse_disjoint_labels(systems, truth)
    chosen_classes = _common_classes(every_run) if classes is None else tuple(classes)
    if classes is None:
        choose_classes(first, truth)  # refuses labels without scores, which chosen classes leave out
    chosen_clips: ClipChoice
    if clips is None or clips == "scored":
        common = _common_clips(every_run, only_common=clips == "scored")
        chosen_clips = None if clips is None else common
    else:
        chosen_clips = [*clips]
    order: tuple[str, ...] | None = None
    runs: list[_Run] = []
    for name, of_system in systems.items():
        try:
            for number, scores in enumerate(of_system, 1):
                alignment = align(
                    scores,
                    truth,
                    classes=chosen_classes,
                    clips=chosen_clips,
                    missing=missing,
                    coverage=coverage,
                )
                order = order or alignment.clips
                if alignment.clips != order:
                    alignment = align(
                        scores,
                        truth,
                        classes=chosen_classes,
                        clips=order,
                        missing=missing,
                        coverage=coverage,
                    )
                runs.append(_Run(name, number, alignment))
        except SedscopeError as error:
            raise SedscopeError(f"{name}: {error}") from None
    return runs


def _refuse_disjoint_labels(systems: Mapping[str, Sequence[Scores]], truth: GroundTruth) -> None:
    """Refuse a system none of whose labels is one of the reference events, whatever the others have."""
    for name, of_system in systems.items():
        for scores in of_system:
            own = [label for label in scores.classes if label not in scores.assumed_classes]
            try:
                refuse_disjoint(own, truth.labels)
            except SedscopeError as error:
                raise SedscopeError(f"{name}: {error}") from None


def _common_classes(runs: Sequence[Scores]) -> tuple[str, ...]:
    """Return the classes of the first run, and refuse runs that have others."""
    labels = [set(scores.classes) for scores in runs]
    differing = sorted(set[str]().union(*labels) - labels[0].intersection(*labels))
    if differing:
        raise SedscopeError(
            f"Not all systems score the same classes: {listing(differing)}. Choose the classes to "
            "compare with classes= (--classes)."
        )
    return runs[0].classes


def _common_clips(runs: Sequence[Scores], *, only_common: bool) -> list[str]:
    """Return the clips that all runs have scores for. Unless ``only_common``, refuse any others."""
    common = [clip for clip in runs[0] if all(clip in scores for scores in runs)]
    lacking = sorted({clip for scores in runs for clip in scores}.difference(common))
    if lacking and not only_common:
        raise SedscopeError(
            f"Not all systems have scores for {counted(len(lacking), 'clip')}: {listing(lacking)}. Compare "
            "the others with clips='scored' (--clips scored)."
        )
    if not common:
        raise SedscopeError("There is no clip that all systems have scores for.")
    return common


def _share(progress: Progress | None, number: int, total: int) -> Progress | None:
    """Report the progress of one of several passes of the same size."""
    if progress is None:
        return None
    return lambda done, clips: progress(number * clips + done, total * clips)


def _system_value(draws: Draws, classes: Sequence[str], runs: Sequence[FloatArray]) -> SystemValue:
    mean = draws.summary(classes, _mean(runs))
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
    draws: Draws,
    metric: Metric[Any],
    classes: Sequence[str],
    measured: Mapping[str, Sequence[FloatArray]],
) -> dict[tuple[str, str], PairDifference]:
    means = {name: _mean(runs) for name, runs in measured.items()}
    pairs = list(combinations(means, 2))
    differences = {
        pair: draws.summary(classes, _subtract(means[pair[0]], means[pair[1]])) for pair in pairs
    }
    corrected = _holm([_p_of(differences[pair]) for pair in pairs])
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
            **difference(differences[pair]),
            p_corrected=p,
            per_class={
                label: Difference(**difference(of_class))
                for label, of_class in differences[pair].per_class.items()
            },
        )
        for pair, p in zip(pairs, corrected, strict=True)
    }


def _mean(runs: Sequence[FloatArray]) -> FloatArray:
    with np.errstate(invalid="ignore"):  # opposite infinities have no mean
        mean: FloatArray = np.mean(runs, axis=0)
    return mean


def _subtract(values: FloatArray, others: FloatArray) -> FloatArray:
    """Subtract; the difference of equal infinities is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(values == others, 0.0, values - others)


def _p_of(difference: Interval) -> float:
    """Return twice the smaller share of resamples on either side of 0, counting the set itself as one."""
    defined = difference.values[np.isfinite(difference.values)]
    if not len(defined) or np.isnan(difference.value):
        return np.nan
    fewer = min(np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0))
    return min(1.0, 2 * (1 + int(fewer)) / (1 + len(defined)))


def _holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number (Holm): the smallest times n, the next times n − 1, …

    >>> _holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    order = np.argsort(p_values)  # NaN last
    corrected = np.full(len(p_values), np.nan)
    defined = int(np.count_nonzero(~np.isnan(p_values)))
    largest = 0.0
    for rank, i in enumerate(order[:defined]):
        largest = max(largest, min(1.0, (defined - rank) * p_values[i]))
        corrected[i] = largest
    return [float(p) for p in corrected]


def _durations(deltas: Mapping[Criterion, Deltas]) -> Ticks:
    """Return the duration of each clip."""
    return next(iter(deltas.values())).durations
