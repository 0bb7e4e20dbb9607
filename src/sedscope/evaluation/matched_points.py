"""Comparison at the same false alarms: each class of each system at its best threshold within a limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..data.progress import Progress
from ..engines.engine import Engine
from ..errors import SedscopeError, counted, listing, near_names
from ..metrics import Metric
from ..metrics.at_false_alarms import AtFalseAlarms, require_one_point
from ..resampling.draws import Draws
from ..resampling.matched_metric import false_positives_allowed, false_positives_of, has_one_point
from .compared_runs import ComparedRun

FalseAlarmLimit: TypeAlias = float | str
"""False alarms per hour and class; ``"list"``, the rates of the only event list; or the name of one."""

DeltasByCriterion: TypeAlias = Mapping[Criterion, Deltas]


def check_limit(limit: FalseAlarmLimit, systems: Sequence[str]) -> None:
    """Refuse a limit that is neither a rate nor the name of a system."""
    if isinstance(limit, str):
        if limit != "list" and limit not in systems:
            raise SedscopeError(
                f"at_false_alarms={limit!r}: there is no such system. Give a number of false alarms per "
                f"hour, 'list' for those of the event list, or the name of a system"
                f"{_guess(limit, systems)}."
            )
    elif isinstance(limit, bool) or not isinstance(limit, (int, float, np.number)):
        raise SedscopeError(
            f"at_false_alarms={limit!r} must be a number, 'list' or the name of a system."
        )
    elif not (limit >= 0 and math.isfinite(limit)):
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
        if isinstance(limit, str):
            run, of_list = _event_list(limit, passes)
            where = f"the false alarms of {run.system}"
            for criterion, deltas in of_list.items():
                self._limits[criterion] = false_positives_of(deltas, draws.weights)
        else:
            where = f"{limit:g} false alarms per hour and class"
            for criterion, deltas in passes[0][1].items():
                self._limits[criterion] = false_positives_allowed(float(limit), deltas, draws.weights)
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
            false_positives = false_positives_of(deltas, self._draws.weights[:1])[0]
            over = has_one_point(deltas) & (false_positives > self._limits[criterion][0])
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
            "are the limit (at_false_alarms=, --at-false-alarms)."
            if lists
            else "No system is an event list without scores: all have several operating points. Give the "
            "number of false alarms per hour (at_false_alarms=, --at-false-alarms)."
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
