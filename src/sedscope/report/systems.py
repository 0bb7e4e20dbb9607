"""What a report tells of: evaluations of one or more systems with the same metrics on the same clips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import whole_clips
from ..counting.counts import ClassCounts, Counts
from ..counting.deltas import Deltas
from ..counting.tally import Tally
from ..counting.threads import thread_count
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.cached_scores import cached
from ..data.scores import ScoreArray
from ..errors import SedscopeError
from ..evaluation.result import Evaluation

_FEW = 1_000_000  # clips × classes of which counts at every threshold are kept


@dataclass(frozen=True, eq=False)
class System:
    """A system's evaluation, and its counts as far down as there is room for."""

    name: str
    evaluation: Evaluation
    alignment: Alignment | None
    counts: Mapping[Criterion, Counts]
    deltas: Mapping[Criterion, Deltas]
    best: bool = False
    """Whether the counts go so far down that no better F-score lies below."""


def as_systems(evaluations: Mapping[str, Evaluation], threads: int | None) -> list[System]:
    """The systems of a report, which must have been evaluated alike."""
    first_name, first = next(iter(evaluations.items()))
    for name, other in evaluations.items():
        same = {
            "metrics": tuple(other) == tuple(first),
            "classes": other.classes == first.classes,
            "clips": (other.clips, other.references) == (first.clips, first.references)
            and _clips(other) == _clips(first),
        }
        different = [what for what, equal in same.items() if not equal]
        if different:
            raise SedscopeError(
                f"{name} and {first_name} were evaluated with other {' and '.join(different)}: a report "
                "needs the same for all systems"
            )
    systems = [_system(name, evaluation) for name, evaluation in evaluations.items()]
    if first.clips * len(first.classes) > _FEW or any(one.alignment is None for one in systems):
        return systems
    workers = thread_count(threads)
    reaches = [_reach(system, workers) for system in systems]
    lowest = {label: min(reach[label] for reach in reaches) for label in first.classes}
    systems = [_down_to(system, lowest, workers) for system in systems]
    enough = [
        {label: max(lowest[label], _enough(table, first.hours)) for label, table in counts.items()}
        for system in systems
        for counts in system.counts.values()
    ]
    ends = {label: min(of[label] for of in enough) for label in first.classes}
    return [_cut(system, ends) for system in systems]


def _clips(evaluation: Evaluation) -> tuple[str, ...]:
    return () if evaluation.alignment is None else evaluation.alignment.clips


def _system(name: str, evaluation: Evaluation) -> System:
    alignment = evaluation.alignment
    if alignment is not None:
        alignment = replace(alignment, scores=cached(alignment.scores))
    return System(name, evaluation, alignment, evaluation.counts, evaluation.deltas)


def _reach(system: System, threads: int) -> dict[str, float]:
    """Per class the score down to which a report goes, so that no better F-score lies below, whatever
    the criterion.

    Where the counts are complete, that is where false alarms are as many as ten times the references
    and a hundred per hour, or below the best F-score if that is lower. Where they end at a floor, more
    is known: n clips without references whose largest score lies above a threshold hold n false
    positives there, so that F1 is at most 2R/(2R + n), R being the number of references.
    """
    assert system.alignment is not None
    ends = dict.fromkeys(system.evaluation.classes, np.inf)
    quiet: dict[str, NDArray[np.float64]] = {}
    for counts in system.counts.values():
        for label, table in counts.items():
            best = float(np.max(table.tally().fscore())) if table.references else 1.0
            if np.isfinite(table.floor):
                quiet = quiet or _maxima_without_references(system.alignment, threads)
                allowed = (
                    int(2 * table.references * (1 / best - 1)) + 2 if best > 0 else len(quiet[label])
                )
                end = float(quiet[label][allowed]) if allowed < len(quiet[label]) else -np.inf
                end = min(end, table.floor)
            else:
                end = _enough(table, system.evaluation.hours)
            ends[label] = min(ends[label], end)
    return ends


def _enough(table: ClassCounts, hours: float) -> float:
    """The score down to which a report goes where counts are complete."""
    beyond = table.fp > 10 * table.references + 100 * hours
    row = max(1, int(np.argmax(beyond))) if beyond.any() else len(beyond)
    if table.references and len(table.scores):
        row = max(row, _after_best(table))
    return float(table.scores[row]) if row < len(beyond) else table.floor


def _after_best(table: ClassCounts) -> int:
    """The row after the one with the best F-score; where that is 0 the first.

    F1 is at most 2R/(2R + FP), R being the number of references: with the best of some rows most others
    need not be looked at.
    """

    def scores(rows: NDArray[np.intp]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = Tally(table.tp[rows], table.fp[rows], table.references).fscore()
        return found

    known = float(scores(np.arange(0, len(table.tp), 50)).max())
    allowed = 2 * table.references * (1 / known - 1) + 1 if known > 0 else np.inf
    rows = np.flatnonzero(table.fp <= allowed)
    of_rows = scores(rows)
    best = int(np.argmax(of_rows))
    return int(rows[best]) + 1 if of_rows[best] > 0 else 0


def _maxima_without_references(alignment: Alignment, threads: int) -> dict[str, NDArray[np.float64]]:
    """Per class the largest scores of the clips without references of it, decreasing."""
    batches = whole_clips(alignment, threads, None)
    maxima = np.concatenate([found.batch.maxima for found in batches]).astype(np.float64)
    there = np.zeros(maxima.shape, bool)
    there[np.repeat(np.arange(len(maxima)), np.diff(alignment.starts)), alignment.labels] = True
    return {label: np.sort(maxima[~there[:, c], c])[::-1] for c, label in enumerate(alignment.classes)}


def _down_to(system: System, ends: Mapping[str, float], threads: int) -> System:
    """The counts of a system down to a score for each class, or further."""
    assert system.alignment is not None
    floors = np.array([ends[label] for label in system.evaluation.classes])
    lower = {
        criterion: np.minimum(found.floors, floors.astype(found.floors.dtype))
        for criterion, found in system.deltas.items()
        if (found.floors > floors).any()
    }
    deltas = {**system.deltas, **_collected(system.alignment, lower, threads)}
    counts = {criterion: deltas[criterion].counts(threads=threads) for criterion in lower}
    return replace(system, counts={**system.counts, **counts}, deltas=deltas)


def _cut(system: System, ends: Mapping[str, float]) -> System:
    """The counts of a system down to a score for each class, and no further."""
    floors = np.array([ends[label] for label in system.evaluation.classes])
    return replace(
        system,
        counts={criterion: _above(found, ends) for criterion, found in system.counts.items()},
        deltas={c: found.above(floors.astype(found.floors.dtype)) for c, found in system.deltas.items()},
        best=True,
    )


def _collected(
    alignment: Alignment, wanted: Mapping[Criterion, ScoreArray], threads: int
) -> dict[Criterion, Deltas]:
    """By criterion the deltas above given floors."""
    parts: dict[Criterion, list[Deltas]] = {criterion: [] for criterion in wanted}
    for found in whole_clips(alignment, threads, None) if wanted else ():
        last = found.first + len(found.batch.durations)
        for criterion, floors in wanted.items():
            parts[criterion].append(
                Deltas(
                    criterion=criterion,
                    classes=alignment.classes,
                    clips=alignment.clips[found.first : last],
                    durations=found.batch.durations,
                    floors=floors,
                    tables=criterion.find_deltas(found.batch, floors, threads, any_label=False),
                )
            )
    return {criterion: first.merge(*others) for criterion, (first, *others) in parts.items()}


def _above(counts: Counts, ends: Mapping[str, float]) -> Counts:
    """The counts above a score for each class."""
    tables = {}
    for label, table in counts.items():
        floor = max(ends[label], table.floor)
        rows = int(np.count_nonzero(table.scores > floor))
        kept = table.cross_rows < rows
        tables[label] = replace(
            table,
            scores=table.scores[:rows],
            tp=table.tp[:rows],
            fp=table.fp[:rows],
            floor=floor,
            cross_rows=table.cross_rows[kept],
            cross_labels=table.cross_labels[kept],
            cross_changes=table.cross_changes[kept],
            errors=None if table.errors is None else table.errors[:rows],
            pairs=None if table.pairs is None else table.pairs[:rows],
        )
    return replace(counts, per_class=tables, any_label=None, variants={})
