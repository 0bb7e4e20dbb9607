"""Measuring the runs of systems that are compared, on the same resamples of the clips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.arrays import FloatArray
from ..data.progress import StagedProgress
from ..data.time_sample import TimeSample
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.options import RunOptions
from ..errors import SedscopeError
from ..metrics import Metric
from ..metrics.at_false_alarms import AtFalseAlarms
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws
from ..resampling.intervals import Bootstrap
from .compared_runs import ComparedRun
from .matched_points import FalseAlarmLimit, MatchedPoints
from .measured_counts import measure
from .notes import (
    coverage_note,
    empty_classes_note,
    late_events_note,
    never_detected_note,
    score_ranges,
    threshold_notes,
)
from .operating_point import points_notes
from .result import Evaluation

if TYPE_CHECKING:
    from ..tuning.operating_points import OperatingPoints


@dataclass(frozen=True, eq=False)
class MeasuredRuns:
    """What was measured for the runs of all systems."""

    metrics: Mapping[str, Metric[Any]]
    """By name."""
    values: Mapping[Metric[Any], Mapping[str, list[FloatArray]]]
    """By metric and system, for each run ((1 + resamples) × (1 + classes)) values."""
    first_runs: Mapping[str, FirstRun]
    """By system."""
    notes: Sequence[str]
    """What a user should know about the runs."""


@dataclass(frozen=True, eq=False)
class FirstRun:
    """What a report needs of the first run of a system."""

    alignment: Alignment
    deltas: Mapping[Criterion, Deltas]
    counts: Mapping[Criterion, Counts]
    notes: Sequence[str]
    points: OperatingPoints | None

    def hours(self) -> float:
        """Return the duration of all clips."""
        return int(_durations(self.deltas).sum()) / 3.6e9

    def evaluation(
        self, metrics: Mapping[str, Metric[Any]], intervals: Mapping[Metric[Any], Bootstrap]
    ) -> Evaluation:
        """Return the evaluation of the run, with intervals that were made elsewhere."""
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


def measure_runs(
    runs: Sequence[ComparedRun],
    metrics: Mapping[str, Metric[Any]],
    draws: Draws,
    engine: Engine,
    options: RunOptions,
    limit: FalseAlarmLimit | None,
) -> MeasuredRuns:
    """Measure the metrics on all runs and draws.

    ``limit``: of false alarms, if all systems are measured at the same ones.
    """
    clips, resamples = len(runs[0].alignment.clips), len(draws.weights)
    steps = StagedProgress(options.progress, len(runs) * (clips + len(metrics) * resamples))
    chosen: tuple[Metric[Any], ...] = tuple(metrics.values())
    passes = _passes(runs, chosen, draws, engine, steps)
    matched: MatchedPoints | None = None
    notes: list[str] = []
    if limit is not None:
        every_pass = [*passes]  # the limit comes from one of the systems
        matched = MatchedPoints(
            limit, chosen, draws, [(run, deltas) for run, _, deltas, _ in every_pass]
        )
        chosen, passes = matched.metrics, iter(every_pass)
        notes += matched.notes
    values: dict[Metric[Any], dict[str, list[FloatArray]]] = {
        metric: {run.system: [] for run in runs} for metric in chosen
    }
    first_runs: dict[str, FirstRun] = {}
    for run, engine_of_run, deltas, sample in passes:
        for metric in chosen:
            stage = steps.stage(resamples)
            try:
                if matched is not None and isinstance(metric, AtFalseAlarms):
                    of_run = matched.measure(deltas[metric.criterion], metric, engine_of_run, stage)
                else:
                    of_run = draws.measure(deltas, metric, engine_of_run, stage)
            except SedscopeError as error:
                raise SedscopeError(f"{run.system}: {error}") from None
            values[metric][run.system].append(of_run)
        run_notes = [*_run_notes(run, chosen, deltas, sample), *draws.cautions(chosen)]
        notes += [*run_notes, *empty_classes_note(_references(deltas), chosen)]
        if run.number == 1:
            counts = {
                criterion: part.counts(threads=options.threads) for criterion, part in deltas.items()
            }
            aligned = replace(run.alignment, scores=run.scores)
            first_runs[run.system] = FirstRun(aligned, deltas, counts, run_notes, run.points)
    return MeasuredRuns(dict(zip(metrics, chosen, strict=True)), values, first_runs, notes)


class _Pass(NamedTuple):
    """The deltas of a run, and the engine that works for it."""

    run: ComparedRun
    engine: Engine
    deltas: Mapping[Criterion, Deltas]
    sample: TimeSample


def _passes(
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


def _run_notes(
    run: ComparedRun,
    metrics: Sequence[Metric[Any]],
    deltas: Mapping[Criterion, Deltas],
    sample: TimeSample,
) -> list[str]:
    """Note what a user should know about the input of a run. Notes on its scores name the system."""
    about_scores = [
        *points_notes(run.points, run.scores),
        *coverage_note(run.alignment, deltas),
        *never_detected_note(run.alignment, deltas),
        *threshold_notes(metrics, score_ranges(metrics, deltas)),
        *sample.notes(),
    ]
    return [
        *run.alignment.warnings,
        *late_events_note(run.alignment, _durations(deltas)),
        *(f"{run.system}: {note}" for note in about_scores),
    ]


def _references(deltas: Mapping[Criterion, Deltas]) -> dict[str, int]:
    """Return the number of references of each class."""
    of_criterion = next(iter(deltas.values()))
    numbers = np.bincount(of_criterion.tables.references.labels, minlength=len(of_criterion.classes))
    return dict(zip(of_criterion.classes, numbers.tolist(), strict=True))


def _durations(deltas: Mapping[Criterion, Deltas]) -> Ticks:
    """Return the duration of each clip."""
    return next(iter(deltas.values())).durations
