"""Measuring the runs of systems that are compared, perhaps at the same false alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..alignment.alignment import Alignment
from ..alignment.time_agreement import TimeSample
from ..counting.clip_reader import thread_count
from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..counting.tally import rate_text
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.run import Run
from ..errors import SedscopeError, counted, listing, located, near_names, of_systems
from ..evaluation.counted_clips import measure
from ..evaluation.notes import empty_classes_note, late_events_note, score_notes
from ..evaluation.operating_point import points_notes
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.false_alarms import AtFalseAlarms, require_one_point
from ..progress import Progress, StagedProgress
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws
from ..resampling.held_out import on_new_clips
from ..resampling.intervals import Bootstrap
from ..resampling.matched_metric import false_positives_allowed, false_positives_of, has_one_point
from .compared_runs import ComparedRun

if TYPE_CHECKING:
    from ..tuning.operating_points import OperatingPoints


FalseAlarmLimit: TypeAlias = float | str
"""False alarms per hour and class; a rate such as ``"1/day"``; ``"list"``, the rates of the only event list;
or the name of one."""

DeltasByCriterion: TypeAlias = Mapping[Criterion, Deltas]


def rate_limit(limit: FalseAlarmLimit) -> tuple[float, str] | None:
    """Return the number of a rate and its unit of time; None for the name of a system.

    >>> rate_limit(2), rate_limit("1/day"), rate_limit("list")
    ((2.0, 'hour'), (1.0, 'day'), None)
    """
    if not isinstance(limit, str):
        return float(limit), "hour"
    number, _, unit = limit.partition("/")
    try:
        return (float(number), unit) if unit in ("hour", "day") else None
    except ValueError:
        return None


def check_limit(limit: FalseAlarmLimit, systems: Sequence[str]) -> None:
    """Refuse a limit that is neither a rate nor the name of a system."""
    if isinstance(limit, bool) or not isinstance(limit, (str, int, float, np.number)):
        raise SedscopeError(
            f"at_false_alarms={limit!r} must be a number, 'list' or the name of a system."
        )
    rate = rate_limit(limit)
    if rate is None:
        if limit != "list" and limit not in systems:
            raise SedscopeError(
                f"at_false_alarms={limit!r}: there is no such system. Give a number of false alarms per "
                "hour, 'list' for those of the event list, a rate such as '1/day', or the name of a system"
                f"{_guess(str(limit), systems)}."
            )
    elif not (rate[0] >= 0 and math.isfinite(rate[0])):
        raise SedscopeError(f"at_false_alarms={limit!r} must be at least 0, and finite.")


class MatchedPoints:
    """The metrics of a comparison, measured where each class is within a limit on false positives.

    The limit is counted anew in each resample: the false positives that an event list has there, or what a
    rate allows for the duration of the drawn clips.
    """

    def __init__(
        self,
        limit: FalseAlarmLimit,
        metrics: Sequence[Metric[Any]],
        draws: Draws,
        passes: Sequence[tuple[ComparedRun, DeltasByCriterion]],
    ) -> None:
        self._draws = draws
        self._limits: dict[Criterion, IntArray] = {}
        rate = rate_limit(limit)
        if rate is None:
            run, of_list = _event_list(str(limit), passes)
            where = f"the false alarms of {run.system}"
            for criterion, deltas in of_list.items():
                self._limits[criterion] = false_positives_of(deltas, draws.weights)
        else:
            where = f"{rate_text(*rate)} and class"
            for criterion, deltas in passes[0][1].items():
                self._limits[criterion] = false_positives_allowed(*rate, deltas, draws.weights)
        classes = passes[0][0].alignment.classes
        self.metrics = tuple(
            AtFalseAlarms(
                metric,
                where,
                dict(zip(classes, self._limits[metric.criterion][0].tolist(), strict=True)),
            )
            for metric in require_one_point(metrics)
        )
        self.notes = [note for run, deltas in passes for note in self._excess_note(run, deltas, where)]

    def measure(
        self, deltas: Deltas, metric: AtFalseAlarms, engine: Engine, progress: Progress | None
    ) -> FloatArray:
        """Measure the metric for all draws, as (weights × (1 + classes))."""
        limits = self._limits[metric.criterion]
        return self._draws.measure_matched(deltas, metric, limits, engine, progress)

    def _excess_note(self, run: ComparedRun, by_criterion: DeltasByCriterion, where: str) -> list[str]:
        """Note classes of an event list with more false alarms than allowed: it has no other threshold."""
        beyond: dict[str, None] = {}
        for criterion, deltas in by_criterion.items():
            over = has_one_point(deltas)
            if over.any():
                of_all = false_positives_of(deltas, self._draws.weights[:1])[0]
                over &= of_all > self._limits[criterion][0]
            beyond |= dict.fromkeys(np.array(deltas.classes, object)[over])
        if not beyond:
            return []
        return [
            f"{run.system} has more than {where} in {counted(len(beyond), 'class')}, and no higher threshold "
            f"to choose. These count as never detected: {listing([*beyond])}."
        ]


def _event_list(
    name: str, passes: Sequence[tuple[ComparedRun, DeltasByCriterion]]
) -> tuple[ComparedRun, DeltasByCriterion]:
    """Return the event list that sets the limits."""
    named = [part for part in passes if part[0].system == name]
    lists = [part for part in passes if _is_list(part[1])]
    if not named and len(lists) != 1:
        systems = [*dict.fromkeys(run.system for run, _ in lists)]
        raise SedscopeError(
            f"Several systems have one operating point: {listing(systems)}. Name the one whose false alarms "
            "are the limit (`at_false_alarms=`)."
            if lists
            else "No system is an event list without scores: all have several operating points. Give the "
            "number of false alarms per hour (`at_false_alarms=`)."
        )
    chosen = named or lists
    run, of_list = chosen[0]
    if len(chosen) > 1:
        raise SedscopeError(
            f"{run.system} has {len(chosen)} runs, so there is no single number of "
            "false alarms to match. Give one run."
        )
    if not _is_list(of_list):
        raise SedscopeError(
            f"{run.system} has several operating points, so its false alarms depend on the threshold. Give "
            "an event list without scores, or a number of false alarms per hour."
        )
    return run, of_list


def _is_list(by_criterion: DeltasByCriterion) -> bool:
    """Return whether every class that is detected at all has one operating point."""
    deltas = next(iter(by_criterion.values()))
    detected = np.diff(deltas.tables.detections.class_starts()) > 0
    return bool(detected.any() and has_one_point(deltas)[detected].all())


def _guess(name: str, systems: Sequence[str]) -> str:
    near = near_names(name, systems)
    return f" (did you mean {listing(near)}?)" if near else f": {listing(systems)}"


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
    """What a user should know about all runs."""
    system_notes: Sequence[tuple[str, str]]
    """What a user should know about the scores of a system, after its name."""
    digests: Mapping[str, Sequence[int | None]]
    """The digest of the scores of each run, if it is known, by system."""


@dataclass(frozen=True, eq=False)
class FirstRun:
    """What a report needs of the first run of a system."""

    alignment: Alignment
    deltas: Mapping[Criterion, Deltas]
    counts: Mapping[Criterion, Counts]
    notes: Sequence[str]
    points: OperatingPoints | None
    digest: int | None
    """Of the scores, if the pass took it."""
    on_new_clips: Mapping[Metric[Any], Bootstrap]
    """What to expect of metrics that choose thresholds, if this is the only run of the system."""

    def hours(self) -> float:
        """Return the duration of all clips."""
        return int(_durations(self.deltas).sum()) / 3.6e9

    def evaluation(
        self, metrics: Mapping[str, Metric[Any]], intervals: Mapping[Metric[Any], Bootstrap]
    ) -> Evaluation:
        """Return the evaluation of the run, with intervals that were made elsewhere."""
        result = measure(
            metrics,
            self.counts,
            self.notes,
            intervals,
            self.alignment,
            self.deltas,
            _durations(self.deltas),
            self.points,
        )
        return replace(result, on_new_clips=self.on_new_clips, _scores_digest=self.digest)


def measure_runs(
    runs: Sequence[ComparedRun],
    metrics: Mapping[str, Metric[Any]],
    draws: Draws,
    engine: Engine,
    options: Run,
    limit: FalseAlarmLimit | None,
) -> MeasuredRuns:
    """Measure the metrics on all runs and draws.

    ``limit``: of false alarms, if all systems are measured at the same ones.
    """
    clips, resamples = len(runs[0].alignment.clips), len(draws.weights)
    steps = StagedProgress(options._steps, len(runs) * (clips + len(metrics) * resamples))
    chosen: tuple[Metric[Any], ...] = tuple(metrics.values())
    passes = _passes(runs, chosen, draws, engine, steps)
    matched: MatchedPoints | None = None
    notes: list[str] = []
    system_notes: list[tuple[str, str]] = []
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
    digests: dict[str, list[int | None]] = {}
    for run, engine_of_run, deltas, sample in passes:
        for metric in chosen:
            stage = steps.stage(resamples)
            with located(run.system):
                if matched is not None and isinstance(metric, AtFalseAlarms):
                    of_run = matched.measure(deltas[metric.criterion], metric, engine_of_run, stage)
                else:
                    of_run = draws.measure(deltas, metric, engine_of_run, stage)
            values[metric][run.system].append(of_run)
        about_scores = [(run.system, note) for note in _score_notes(run, chosen, deltas, sample)]
        about_set = [
            *run.alignment.warnings,
            *late_events_note(run.alignment, _durations(deltas)),
            *draws.cautions(chosen),
        ]
        system_notes += about_scores
        notes += [*about_set, *empty_classes_note(_references(deltas), chosen)]
        digest = next(iter(deltas.values())).provenance.scores
        digests.setdefault(run.system, []).append(digest)
        if run.number == 1:
            counts = {
                criterion: part.counts(threads=options.threads) for criterion, part in deltas.items()
            }
            aligned = replace(run.alignment, scores=run.scores)
            run_notes = [*about_set, *of_systems(about_scores)]
            expected: Mapping[Metric[Any], Bootstrap] = {}
            if matched is None and not any(
                other is not run and other.system == run.system for other in runs
            ):
                expected = on_new_clips(chosen, deltas, draws.resampling, thread_count(options.threads))
            first_runs[run.system] = FirstRun(
                aligned, deltas, counts, run_notes, run.points, digest, expected
            )
    of_names = dict(zip(metrics, chosen, strict=True))
    return MeasuredRuns(of_names, values, first_runs, notes, system_notes, digests)


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
        alignment = replace(run.alignment, hashed=run.points is None)
        stage, sample = steps.stage(len(alignment.clips)), TimeSample(alignment)
        with located(run.system):
            deltas = find_deltas_for_weights(
                sample.alignment, metrics, draws.weights, engine_of_run, stage
            )
        yield _Pass(run, engine_of_run, deltas, sample)


def _score_notes(
    run: ComparedRun,
    metrics: Sequence[Metric[Any]],
    deltas: Mapping[Criterion, Deltas],
    sample: TimeSample,
) -> list[str]:
    """Note what a user should know about the scores of a run."""
    return [
        *points_notes(run.points, run.scores),
        *score_notes(run.alignment, deltas, metrics),
        *sample.notes(),
    ]


def _references(deltas: Mapping[Criterion, Deltas]) -> dict[str, int]:
    """Return the number of references of each class."""
    of_criterion = next(iter(deltas.values()))
    numbers = np.bincount(of_criterion.tables.references.labels, minlength=len(of_criterion.classes))
    return dict(zip(of_criterion.classes, numbers.tolist(), strict=True))


def _durations(deltas: Mapping[Criterion, Deltas]) -> Ticks:
    """Return the duration of each clip."""
    return next(iter(deltas.values())).durations
