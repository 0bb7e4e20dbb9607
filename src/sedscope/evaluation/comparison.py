"""Systems compared on the same clips: differences, and whether they are more than chance."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import Progress
from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment, ClipChoice, Missing, align
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..errors import SedscopeError, SedscopeWarning, counted, listing
from ..metrics import Metric
from ..resampling.intervals import Bootstrap, Draws, Interval, Resampling
from .comparison_result import Comparison, Difference, PairDifference, SystemValue
from .evaluate import Evaluation, as_evaluation
from .request import as_metrics, deltas_for, empty_note, late_note, vanishing_note

FloatArray: TypeAlias = NDArray[np.float64]
Runs: TypeAlias = Scores | Sequence[Scores]


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
            some = next(iter(deltas.values()))
            number_of = np.bincount(some.tables.references.labels, minlength=len(some.classes))
            references = dict(zip(some.classes, number_of.tolist(), strict=True))
            said = [*alignment.warnings, *late_note(alignment, deltas)]
            notes |= dict.fromkeys([*said, *empty_note(references)])
            if name not in first_runs:
                counts = {criterion: of.counts(threads=threads) for criterion, of in deltas.items()}
                first_runs[name] = _FirstRun(alignment, deltas, counts, said)
            hours = int(some.durations.sum()) / 3.6e9
            done += 1
    values = {
        metric: {name: _system_value(draws, first.classes, found) for name, found in of_metric.items()}
        for metric, of_metric in measured.items()
    }
    everything = [value for of_metric in values.values() for value in of_metric.values()]
    notes |= dict.fromkeys(vanishing_note(everything))
    for note in notes:
        python_warnings.warn(note, SedscopeWarning, stacklevel=2)
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
    nameless = [repr(name) for name in systems if not (isinstance(name, str) and name)]
    if nameless:
        raise SedscopeError(f"systems need names, not {listing(nameless)}")
    runs: dict[str, list[Scores]] = {}
    given: Any
    for name, given in systems.items():
        several = isinstance(given, Iterable) and not isinstance(given, Scores)
        runs[name] = [*given] if several else [given]
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
    if isinstance(classes, str) or (isinstance(clips, str) and clips != "scored"):
        align(first, truth, classes=classes, clips=clips, missing=missing)  # says what is wrong with it
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
    draws: Draws, metric: Metric, classes: Sequence[str], measured: Mapping[str, Sequence[FloatArray]]
) -> dict[tuple[str, str], PairDifference]:
    means = {name: _mean(runs) for name, runs in measured.items()}
    pairs = list(combinations(means, 2))
    found = {
        (one, other): draws.summary(classes, _less(means[one], means[other])) for one, other in pairs
    }
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


def _mean(runs: Sequence[FloatArray]) -> FloatArray:
    with np.errstate(invalid="ignore"):  # of opposite infinities there is none
        mean: FloatArray = np.mean(runs, axis=0)
    return mean


def _less(ones: FloatArray, others: FloatArray) -> FloatArray:
    """The differences; of equal infinities there is none."""
    with np.errstate(invalid="ignore"):
        return np.where(ones == others, 0.0, ones - others)


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
