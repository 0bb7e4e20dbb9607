"""Comparison in one call: several systems on the same clips, and which differences exceed chance."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.ground_truth import GroundTruth
from ..data.progress import ProgressChoice, StagedProgress, as_progress
from ..data.time_sample import TimeSample
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.options import EngineName, RunOptions
from ..errors import SedscopeError, SedscopeWarning, readable
from ..io.size_limits import machine_memory
from ..metrics import Metric
from ..metrics.at_false_alarms import AtFalseAlarms, require_one_point
from ..metrics.names import MetricsLike, name_metrics
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws
from ..resampling.intervals import Bootstrap
from ..resampling.resampling import MOST_RESAMPLES, Resampling
from .compared_runs import ComparedRun, Runs, align_runs, as_systems
from .comparison_result import Comparison
from .evaluate import measure
from .matched_points import FalseAlarmLimit, MatchedPoints, check_limit
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
from .operating_point import metrics_at_points, points_notes, processed_systems, systems_at_points
from .p_values import FEWEST_RESAMPLES, automatic_resamples
from .paired_differences import paired_differences, system_value
from .result import Evaluation

if TYPE_CHECKING:
    from ..tuning.operating_points import OperatingPoints

_PART_OF_MEMORY = 4  # more resamples than asked for may take a quarter of it


def compare(
    systems: Mapping[str, Runs] | Sequence[Runs],
    truth: GroundTruth,
    metrics: MetricsLike,
    n: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    points: Mapping[str, OperatingPoints] | None = None,
    at_false_alarms: FalseAlarmLimit | None = None,
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
    progress: ProgressChoice = None,
) -> Comparison:
    """Compare systems on the same clips, which are drawn together in each resample (paired bootstrap).

    Parameters
    ----------
    systems : mapping of str to Scores, or sequence of Scores
        The scores of each system. Several scores under one name are runs of one system, e.g. with other
        seeds: their mean is compared, and their spread is reported.
    truth : GroundTruth
        The reference events.
    metrics : Metric, str, iterable of these, or mapping of str to these
        What to measure; see :func:`~sedscope.evaluate`.
    n : int, optional
        The number of resamples. By default 1000, or as many thousands as the pairs of systems need:
        p values are corrected for the number of pairs, and cannot be smaller than the resamples allow.
        With a confidence of 0.95, 24 systems (276 pairs) need 12000.
    points : mapping of str to OperatingPoints, optional
        The operating points of systems, by name; see :func:`~sedscope.evaluate`. If some have thresholds,
        the others must have one operating point, as lists of events do.
    confidence, seed, interval, balanced, groups
        How clips are drawn, and which interval is made; see :class:`~sedscope.Resampling`.
    at_false_alarms : float or str, optional
        Compare the systems at the same false alarms, instead of at the thresholds of the metrics. Each
        class of each system is measured at the threshold that finds the most references with at most so
        many false alarms: a number per hour and class, or those of an event list without scores, whose
        name is given, or ``"list"`` if there is only one. The thresholds are chosen anew in each resample.
        The metrics must be of one threshold, e.g. :class:`~sedscope.Recall` and :class:`~sedscope.FScore`.
        ``comparison.metrics`` says where they are measured.
    classes, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for the clips that all systems have scores for.
    engine, scheduler, checkpoint, threads, progress
        How the passes run; see :func:`~sedscope.evaluate`. Each run keeps its parts in a folder of its
        own inside ``checkpoint``. One progress covers the clips and resamples of all runs.

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
    >>> comparison.differences[sed.presets.PSDS1]["b", "a"].verdict
    -1

    An event list, which has one operating point, and a system with scores at the same false alarms:

    >>> events = sed.Scores.from_events(sed.detect(b, 0.6), classes=b.classes)
    >>> at_list = compare(
    ...     {"list": events, "a": a}, truth, sed.Recall(sed.Collar()), n=200, at_false_alarms="list"
    ... )
    >>> at_list.differences[at_list.metrics[0]]["a", "list"].verdict
    1
    """
    named = name_metrics(metrics)
    points = points or {}
    if any(of_system.thresholds for of_system in points.values()):
        if at_false_alarms is not None:
            raise SedscopeError(
                "at_false_alarms (--at-false-alarms) chooses the thresholds, so the operating points must "
                "not have any."
            )
        named = metrics_at_points(named)
    chosen = tuple(named.values())
    progress = as_progress(progress, "Comparing")
    if at_false_alarms is not None:
        require_one_point(chosen)
    options = RunOptions(threads, engine, scheduler, checkpoint, progress=progress)
    resampling = Resampling(
        FEWEST_RESAMPLES if n is None else n, confidence, seed, interval, balanced, groups
    )
    processed = processed_systems(as_systems(systems), points)
    if at_false_alarms is not None:
        check_limit(at_false_alarms, [*processed])
    at_points = systems_at_points(processed, points)
    runs = align_runs(at_points, truth, classes, clips, missing, coverage)
    first = runs[0].alignment
    if n is None:
        resampling = replace(resampling, n=_enough_resamples(runs, len(chosen), confidence))
    draws = Draws(resampling, first.clips)
    clip_steps, resample_steps = len(first.clips), len(draws.weights)
    steps = StagedProgress(progress, len(runs) * (clip_steps + len(chosen) * resample_steps))
    notes: list[str] = []
    first_runs: dict[str, _FirstRun] = {}
    with options.open_engine() as opened:
        passes = _find_deltas(runs, chosen, draws, opened, steps)
        matched: MatchedPoints | None = None
        if at_false_alarms is not None:
            every_pass = [*passes]  # the limit comes from one of the systems
            matched = MatchedPoints(
                at_false_alarms, chosen, draws, [(part.run, part.deltas) for part in every_pass]
            )
            chosen, passes = matched.metrics, iter(every_pass)
            named = dict(zip(named, chosen, strict=True))
            notes += matched.notes
        measured: dict[Metric[Any], dict[str, list[FloatArray]]] = {
            metric: {run.system: [] for run in runs} for metric in chosen
        }
        for run, engine_of_run, deltas, sample in passes:
            for metric in chosen:
                of_criterion, stage = deltas[metric.criterion], steps.stage(resample_steps)
                try:
                    if matched is not None and isinstance(metric, AtFalseAlarms):
                        of_run = matched.measure(of_criterion, metric, engine_of_run, stage)
                    else:
                        of_run = draws.measure(of_criterion, metric, engine_of_run, stage)
                except SedscopeError as error:
                    raise SedscopeError(f"{run.system}: {error}") from None
                measured[metric][run.system].append(of_run)
            scores, of_system = processed[run.system][run.number - 1], points.get(run.system)
            scores_notes = [
                *points_notes(of_system, scores),
                *coverage_note(run.alignment, deltas),
                *never_detected_note(run.alignment, deltas),
                *threshold_notes(chosen, score_ranges(chosen, deltas)),
                *sample.notes(),
            ]
            run_notes = [
                *run.alignment.warnings,
                *late_events_note(run.alignment, _durations(deltas)),
                *(f"{run.system}: {note}" for note in scores_notes),
                *draws.cautions(),
            ]
            notes += [*run_notes, *empty_classes_note(_references(next(iter(deltas.values()))), chosen)]
            if run.number == 1:
                counts = {criterion: part.counts(threads=threads) for criterion, part in deltas.items()}
                aligned = replace(run.alignment, scores=scores)
                first_runs[run.system] = _FirstRun(aligned, deltas, counts, run_notes, of_system)
    values = {
        metric: {
            name: system_value(draws, first.classes, of_runs) for name, of_runs in by_system.items()
        }
        for metric, by_system in measured.items()
    }
    intervals = [value for by_system in values.values() for value in by_system.values()]
    evaluations = {
        name: run.evaluation(named, {metric: values[metric][name] for metric in chosen})
        for name, run in first_runs.items()
    }
    for name, evaluation in evaluations.items():
        notes += [f"{name}: {note}" for note in undetected_classes_note(evaluation.results)]
    notes += undefined_resamples_note(intervals)
    warnings = tuple(dict.fromkeys(map(readable, notes)))
    for warning in warnings:
        python_warnings.warn(warning, SedscopeWarning, stacklevel=2)
    return Comparison(
        systems=tuple(first_runs),
        names={metric: name for name, metric in named.items()},
        metrics=chosen,
        classes=first.classes,
        clips=len(first.clips),
        hours=next(iter(first_runs.values())).hours(),
        values=values,
        differences={
            metric: paired_differences(draws, metric, first.classes, by_system)
            for metric, by_system in measured.items()
        },
        resampling=resampling,
        warnings=warnings,
        evaluations=evaluations,
    )


class _Pass(NamedTuple):
    """What was found for a run."""

    run: ComparedRun
    engine: Engine
    deltas: Mapping[Criterion, Deltas]
    sample: TimeSample


def _find_deltas(
    runs: Sequence[ComparedRun],
    metrics: Sequence[Metric[Any]],
    draws: Draws,
    engine: Engine,
    steps: StagedProgress,
) -> Iterator[_Pass]:
    """Find the deltas of one run after the other."""
    for run in runs:
        engine_of_run = engine.for_system(f"{run.system}-{run.number}")
        stage, sample = steps.stage(len(run.alignment.clips)), TimeSample(run.alignment)
        try:
            deltas = find_deltas_for_weights(
                sample.alignment, metrics, draws.weights, engine_of_run, stage
            )
        except SedscopeError as error:
            raise SedscopeError(f"{run.system}: {error}") from None
        yield _Pass(run, engine_of_run, deltas, sample)


@dataclass(frozen=True, eq=False)
class _FirstRun:
    """What a report needs of the first run of a system."""

    alignment: Alignment
    deltas: Mapping[Criterion, Deltas]
    counts: Mapping[Criterion, Counts]
    notes: list[str]
    points: OperatingPoints | None

    def hours(self) -> float:
        return int(_durations(self.deltas).sum()) / 3.6e9

    def evaluation(
        self, metrics: Mapping[str, Metric[Any]], intervals: Mapping[Metric[Any], Bootstrap]
    ) -> Evaluation:
        return measure(
            metrics,
            self.counts,
            self.notes,
            intervals,
            self.alignment,
            self.deltas,
            _durations(self.deltas),
            self.points,
        )


def _enough_resamples(runs: Sequence[ComparedRun], metrics: int, confidence: float) -> int:
    """Return how many resamples all pairs of systems need, or how many fit into a part of the memory."""
    systems = len({run.system for run in runs})
    pairs = systems * (systems - 1) // 2
    alignment = runs[0].alignment
    values = metrics * (len(runs) + systems + pairs) * (1 + len(alignment.classes))
    bytes_of_a_resample = 4 * len(alignment.clips) + 8 * values
    most = min(MOST_RESAMPLES, machine_memory() / _PART_OF_MEMORY / bytes_of_a_resample)
    return automatic_resamples(pairs, confidence, int(most))


def _references(deltas: Deltas) -> dict[str, int]:
    """Return the number of references of each class."""
    numbers = np.bincount(deltas.tables.references.labels, minlength=len(deltas.classes))
    return dict(zip(deltas.classes, numbers.tolist(), strict=True))


def _durations(deltas: Mapping[Criterion, Deltas]) -> Ticks:
    """Return the duration of each clip."""
    return next(iter(deltas.values())).durations
