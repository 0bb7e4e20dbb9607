"""What a report tells of: evaluations of one or more systems with the same metrics on the same clips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..alignment import Alignment
from ..clip_deltas import Deltas
from ..collect import Wanted, collect
from ..counts import Counts
from ..criteria import Criterion
from ..errors import SedscopeError
from ..evaluation import Evaluation
from .reading import remembered

_FEW = 1_000_000  # clips × classes of which counts at every threshold are kept


@dataclass(frozen=True, eq=False)
class System:
    """A system's evaluation, and its counts as far down as there is room for."""

    name: str
    evaluation: Evaluation
    alignment: Alignment | None
    counts: Mapping[Criterion, Counts]
    deltas: Mapping[Criterion, Deltas]


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
    return [_system(name, evaluation, threads) for name, evaluation in evaluations.items()]


def _clips(evaluation: Evaluation) -> tuple[str, ...]:
    return () if evaluation.alignment is None else evaluation.alignment.clips


def _system(name: str, evaluation: Evaluation, threads: int | None) -> System:
    """With counts beyond where the metrics stop looking, as far down as a user may want to look."""
    if evaluation.alignment is None:
        return System(name, evaluation, None, evaluation.counts, {})
    alignment = replace(evaluation.alignment, scores=remembered(evaluation.alignment.scores))
    counts, deltas = dict(evaluation.counts), dict(evaluation.deltas)
    if len(alignment.clips) * len(alignment.classes) <= _FEW:
        short = {c: Wanted() for c, found in deltas.items() if np.isfinite(found.floors).any()}
        if short:
            complete = collect(alignment, short, threads=threads)
            counts |= {c: found.counts(threads=threads) for c, found in complete.items()}
            deltas |= complete
    ends = _ends(counts, evaluation.hours)
    return System(
        name,
        evaluation,
        alignment,
        {criterion: _above(found, ends) for criterion, found in counts.items()},
        {
            criterion: found.above(np.array([ends[c] for c in found.classes], found.floors.dtype))
            for criterion, found in deltas.items()
        },
    )


def _ends(counts: Mapping[Criterion, Counts], hours: float) -> dict[str, float]:
    """Per class the score down to which a report goes: false alarms are as many as ten times the
    references and a hundred per hour by then, whatever the criterion, and the best F-score lies
    above."""
    ends: dict[str, float] = {}
    for found in counts.values():
        for label, table in found.items():
            beyond = table.fp > 10 * table.references + 100 * hours
            row = int(np.argmax(beyond)) if beyond.any() else len(beyond)
            if table.references and len(table.scores):
                row = max(row, int(np.argmax(table.tally().fscore())))
            end = float(table.scores[row]) if row < len(beyond) else table.floor
            ends[label] = min(ends.get(label, np.inf), end)
    return ends


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
