"""The systems of a report: their evaluations, and counts down to where the report looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..counting.counts import ClassCounts, Counts
from ..counting.deltas import Deltas
from ..counting.request import DeltaRequest
from ..counting.tally import Tally
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..data.score_cache import cached
from ..data.times import TICKS_PER_SECOND
from ..engines.engine import Engine
from ..engines.run import Run
from ..errors import SedscopeError, listing
from ..evaluation.result import Evaluation

Value = TypeVar("Value")

_MAX_PAIRS = 1_000_000  # of clips and classes for which a report counts further down than the metrics


@dataclass(frozen=True, eq=False)
class System:
    """A system with its evaluation and with counts as far down as the report shows them."""

    name: str
    evaluation: Evaluation
    alignment: Alignment | None
    """None for sets of detections."""
    counts: Mapping[Criterion, Counts]
    deltas: Mapping[Criterion, Deltas]
    measured_counts: Mapping[Criterion, Counts]
    """As far down as they were counted, which is at least as far as the metrics read."""
    reaches_best_fscore: bool = False
    """Whether no threshold below the counts has a better F-score."""

    @property
    def thresholds(self) -> dict[str, float]:
        """The thresholds of its operating points, if it was evaluated there."""
        points = self.evaluation.points
        return {} if points is None else dict(points.thresholds)


def as_systems(evaluations: Mapping[str, Evaluation], run: Run) -> list[System]:
    """Count each system as far down as the report shows. All must share metrics, classes and clips."""
    _require_same_setup(evaluations)
    systems = [_system(name, evaluation) for name, evaluation in evaluations.items()]
    first = systems[0].evaluation
    large = first.clips * len(first.classes) > _MAX_PAIRS
    with run._open_engine() as engine:
        engines = [engine.for_system(system.name) if len(systems) > 1 else engine for system in systems]
        systems = [
            _count_answers(_around_points(system, of_system, large), of_system)
            for system, of_system in zip(systems, engines, strict=True)
        ]
        if large or any(system.alignment is None for system in systems):
            return systems
        ends = [*map(_lowest_scores, systems, engines)]
        lowest = {label: min(scores[label] for scores in ends) for label in first.classes}
        systems = [
            _count_down_to(system, lowest, of_system)
            for system, of_system in zip(systems, engines, strict=True)
        ]
    shown = [
        {label: max(lowest[label], _end_of_range(table, first.hours)) for label, table in counts.items()}
        for system in systems
        for counts in system.counts.values()
    ]
    shown += [system.thresholds for system in systems]
    lowest = {label: min(scores.get(label, np.inf) for scores in shown) for label in first.classes}
    return [_cut_at(system, lowest) for system in systems]


def _require_same_setup(evaluations: Mapping[str, Evaluation]) -> None:
    first_name, first = next(iter(evaluations.items()))
    for name, evaluation in evaluations.items():
        same = {
            "metrics": tuple(evaluation) == tuple(first),
            "classes": evaluation.classes == first.classes,
            "clips": (evaluation.clips, evaluation.references) == (first.clips, first.references)
            and _clip_names(evaluation) == _clip_names(first),
        }
        different = [subject for subject, equal in same.items() if not equal]
        if different:
            raise SedscopeError(
                f"{name} and {first_name} were evaluated with different {' and '.join(different)}. "
                "Evaluate all systems of a report in the same way."
            )


def _clip_names(evaluation: Evaluation) -> tuple[str, ...]:
    return () if evaluation.alignment is None else evaluation.alignment.clips


def _system(name: str, evaluation: Evaluation) -> System:
    if evaluation.blocks > 1:
        raise SedscopeError(
            f"A report needs the counts of all classes at once, but the memory limit split the evaluation of "
            f"{name} into {evaluation.blocks} blocks of classes. Raise the limit (`memory=`), or "
            "report on fewer classes."
        )
    alignment = evaluation.alignment
    if alignment is not None:
        alignment = replace(alignment, scores=cached(alignment.scores))
    counts = _without_queries(evaluation.counts)
    return System(name, evaluation, alignment, counts, _without_queries(evaluation.deltas), counts)


def _without_queries(by_criterion: Mapping[Criterion, Value]) -> dict[Criterion, Value]:
    """Leave out the criteria that value queries: they have no operating points."""
    return {criterion: part for criterion, part in by_criterion.items() if not criterion.values_queries}


def _count_answers(system: System, engine: Engine) -> System:
    """Return the system with counts of the answers to queries, for metrics that only value these."""
    metrics = system.evaluation.names
    uncounted = [metric for metric in metrics if metric.operating_criterion not in system.counts]
    if not uncounted:
        return system
    if system.alignment is None:
        names = [metrics[metric] for metric in uncounted]
        raise SedscopeError(
            f"A report shows counts at thresholds, which deltas do not have for {listing(names)}. Report on "
            "an evaluation of the scored events themselves."
        )
    requests = {metric.operating_criterion: DeltaRequest() for metric in uncounted}
    return _counted(system, requests, engine)


def _around_points(system: System, engine: Engine, large: bool) -> System:
    """Return a system that was evaluated at operating points with counts at other thresholds, too.

    In a large set, they go down to the operating points.
    """
    if not system.thresholds or not system.counts:
        return system
    lowest = [system.thresholds.get(label, np.inf) for label in system.evaluation.classes]
    request = DeltaRequest(floors={None: np.array(lowest)} if large else {})
    return _counted(system, dict.fromkeys(system.counts, request), engine)


def _counted(system: System, requests: Mapping[Criterion, DeltaRequest], engine: Engine) -> System:
    """Return the system with new counts of some criteria."""
    deltas = engine.run_pass(_alignment_for(engine, system), requests, None)
    counts = {criterion: part.counts(threads=engine.threads) for criterion, part in deltas.items()}
    every = {**system.counts, **counts}
    return replace(system, counts=every, deltas={**system.deltas, **deltas}, measured_counts=every)


def _alignment_for(engine: Engine, system: System) -> Alignment:
    """Return the clips for a pass.

    An engine that splits them may run in other processes, which cannot share the cache of scores.
    """
    alignment = system.evaluation.alignment if engine.splits_clips else system.alignment
    assert alignment is not None
    return alignment


def _lowest_scores(system: System, engine: Engine) -> dict[str, float]:
    """Return, for each class, the score down to which to count, so that no better F-score lies below it.

    Where the counts are complete, they also tell where the range of the report ends. Where they end at
    a floor, the clips without references bound the F-score: n of them whose largest score lies above a
    threshold hold n false positives there, so F1 is at most 2R/(2R + n) with R references.
    """
    ends = dict.fromkeys(system.evaluation.classes, np.inf)
    maxima: dict[str, FloatArray] = {}
    for counts in system.counts.values():
        for label, table in counts.items():
            if np.isfinite(table.floor):
                maxima = maxima or _false_alarm_maxima(system, engine)
                end = min(_bound_of_fscore(table, maxima[label]), table.floor)
            else:
                end = _end_of_range(table, system.evaluation.hours)
            ends[label] = min(ends[label], end)
    return ends


def _false_alarm_maxima(system: System, engine: Engine) -> dict[str, FloatArray]:
    """Return, for each class, the largest scores of the clips without references, decreasing.

    ``-inf`` stands for clips with references. It comes last and bounds nothing.
    """
    classes = system.evaluation.classes
    maxima = engine.largest_false_alarms(_alignment_for(engine, system), None)
    if maxima is None:  # a clip cannot be read: the pass over all clips reports it
        maxima = np.empty((0, len(classes)))
    falling = np.sort(maxima, axis=0)[::-1]
    return {label: falling[:, c] for c, label in enumerate(classes)}


def _bound_of_fscore(table: ClassCounts, maxima: FloatArray) -> float:
    """Return a score below which no F-score is better than the best of the table.

    ``maxima``: the largest scores of clips without references, decreasing.
    """
    best = float(np.max(table.tally().fscore())) if table.references else 1.0
    if best <= 0:
        return -np.inf
    allowed = int(2 * table.references * (1 / best - 1)) + 2
    return float(maxima[allowed]) if allowed < len(maxima) else -np.inf


def _end_of_range(table: ClassCounts, hours: float) -> float:
    """Return the score down to which a report shows complete counts.

    There, false positives exceed ten times the references plus a hundred, or a hundred seconds, per hour.
    The best F-score is always in the range.
    """
    per_hour = 100 * (TICKS_PER_SECOND if table.measures_time else 1)
    beyond = table.fp > 10 * table.references + per_hour * hours
    row = max(1, int(np.argmax(beyond))) if beyond.any() else len(beyond)
    if table.references and len(table.scores):
        row = max(row, _row_after_best_fscore(table))
    return float(table.scores[row]) if row < len(beyond) else table.floor


def _row_after_best_fscore(table: ClassCounts) -> int:
    """Return the row after the one with the best F-score; 0 if no F-score is above 0.

    The best of every fiftieth row bounds the false positives of the best row, because F1 is at most
    2R/(2R + FP) with R references. So the F-score of most rows is never computed.
    """

    def fscores(rows: NDArray[np.intp]) -> FloatArray:
        return Tally(table.tp[rows], table.fp[rows], table.references).fscore()

    sample = float(fscores(np.arange(0, len(table.tp), 50)).max())
    allowed = 2 * table.references * (1 / sample - 1) + 1 if sample > 0 else np.inf
    rows = np.flatnonzero(table.fp <= allowed)
    values = fscores(rows)
    best = int(np.argmax(values))
    return int(rows[best]) + 1 if values[best] > 0 else 0


def _count_down_to(system: System, lowest: Mapping[str, float], engine: Engine) -> System:
    """Return the system with counts at least down to a score for each class."""
    floors = np.array([lowest[label] for label in system.evaluation.classes])
    requests = {
        criterion: DeltaRequest(floors={None: np.minimum(deltas.floors.astype(np.float64), floors)})
        for criterion, deltas in system.deltas.items()
        if (deltas.floors > floors).any()
    }
    return _counted(system, requests, engine) if requests else system


def _cut_at(system: System, lowest: Mapping[str, float]) -> System:
    """Return the system with counts down to a score for each class and no further."""
    floors = np.array([lowest[label] for label in system.evaluation.classes])
    return replace(
        system,
        counts={criterion: _counts_above(counts, lowest) for criterion, counts in system.counts.items()},
        deltas={
            criterion: deltas.above(floors.astype(deltas.floors.dtype))
            for criterion, deltas in system.deltas.items()
        },
        reaches_best_fscore=True,
    )


def _counts_above(counts: Counts, lowest: Mapping[str, float]) -> Counts:
    """Return the counts above a score for each class."""
    tables = {}
    for label, table in counts.items():
        floor = max(lowest[label], table.floor)
        rows = int(np.count_nonzero(table.scores > floor))
        kept = table.cross_rows < rows
        tables[label] = replace(
            table,
            scores=table.scores[:rows],
            tp=table.tp[:rows],
            fp=table.fp[:rows],
            floor=floor,
            fp_below_floor=table.fp_below_floor if floor == table.floor else 0,
            cross_rows=table.cross_rows[kept],
            cross_labels=table.cross_labels[kept],
            cross_changes=table.cross_changes[kept],
            errors=None if table.errors is None else table.errors[:rows],
            pairs=None if table.pairs is None else table.pairs[:rows],
            right=None if table.right is None else table.right[:rows],
        )
    return replace(counts, per_class=tables, any_label=None, variants={})
