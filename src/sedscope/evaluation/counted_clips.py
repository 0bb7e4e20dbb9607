"""Counting the clips of an evaluation, and measuring its metrics on the counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..alignment.alignment import Alignment
from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.floor_search import cut_at_floors, find_deltas
from ..engines.run import Run
from ..errors import readable
from ..metrics import Metric, MetricResult
from ..metrics.metric import delta_requests
from ..progress import Progress, StagedProgress
from .notes import empty_classes_note, late_events, score_notes, undetected_classes_note
from .result import Evaluation

if TYPE_CHECKING:
    from ..resampling.intervals import Bootstrap
    from ..tuning.operating_points import OperatingPoints
    from .groups import GroupPlan


@dataclass(frozen=True, eq=False)
class CountedClips:
    """The counts of all clips, and what they were added up from."""

    counts: Mapping[Criterion, Counts]
    """With several blocks of classes, only the rows that the metrics read."""
    deltas: Mapping[Criterion, Deltas]
    """With several blocks of classes, they refuse to be read."""
    durations: Ticks
    """The duration of each clip."""
    notes: Sequence[str]
    """What a user should know about the scores."""
    blocks: int = 1
    """How many blocks of classes were counted one after the other."""
    of_pass: Mapping[Criterion, Deltas] = field(default_factory=dict)
    """All deltas that the pass found: groups may read more than the counts do, and further down."""
    digest: int | None = None
    """Of the scores, if the pass took it."""


def count_clips(
    alignment: Alignment,
    metrics: Mapping[str, Metric[Any]],
    engine: Engine,
    run: Run,
    plan: GroupPlan | None,
) -> CountedClips:
    """Count all classes in one pass over the clips. The deltas also serve the groups of the plan."""
    clips = len(alignment.clips)
    stage = StagedProgress(run._steps, clips).stage(clips)
    of_pass = [*metrics.values(), *([] if plan is None else plan.of_bins(metrics))]
    deltas = find_deltas_for_groups(alignment, of_pass, engine, stage, plan)
    return add_up(alignment, [*metrics.values()], deltas, run.threads, of_groups=plan is not None)


def find_deltas_for_groups(
    alignment: Alignment,
    metrics: Sequence[Metric[Any]],
    engine: Engine,
    progress: Progress | None,
    plan: GroupPlan | None,
) -> dict[Criterion, Deltas]:
    """Find the deltas that the metrics read, of all clips and of each group of clips alone."""
    if plan is None or plan.clips is None:
        return find_deltas(alignment, delta_requests(metrics), engine, progress)
    from ..resampling.deltas_for_weights import find_deltas_for_weights

    once = np.ones((1, len(alignment.clips)), np.int32)
    return find_deltas_for_weights(alignment, metrics, once, engine, progress, parts=plan.parts())


def add_up(
    alignment: Alignment,
    metrics: Sequence[Metric[Any]],
    of_pass: Mapping[Criterion, Deltas],
    threads: int | None,
    *,
    of_groups: bool = True,
) -> CountedClips:
    """Add up the deltas of all clips that the metrics read.

    ``of_groups``: whether the pass found deltas for groups of clips as well, further down.
    """
    deltas = {
        criterion: cut_at_floors(of_pass[criterion], request) if of_groups else of_pass[criterion]
        for criterion, request in delta_requests(metrics).items()
    }
    notes = score_notes(alignment, deltas, metrics)
    counts = {criterion: part.counts(threads=threads) for criterion, part in deltas.items()}
    first = next(iter(of_pass.values()))
    digest = first.provenance.scores
    return CountedClips(counts, deltas, first.durations, notes, of_pass=of_pass, digest=digest)


def measure(
    metrics: Mapping[str, Metric[Any]],
    counts: Mapping[Criterion, Counts],
    notes: Iterable[str],
    intervals: Mapping[Metric[Any], Bootstrap],
    alignment: Alignment | None = None,
    deltas: Mapping[Criterion, Deltas] | None = None,
    durations: Ticks | None = None,
    points: OperatingPoints | None = None,
) -> Evaluation:
    """Measure the metrics on counts, and return the evaluation.

    ``metrics``: by name. ``durations``: of each clip of the alignment, as evaluated. ``points``: where the
    system was counted, if not at every threshold.
    """
    if points is not None:
        from .operating_point import counts_at_points

        counts = counts_at_points(counts, points)
    first = next(iter(counts.values()))
    references = _reference_events(counts, alignment, durations)
    results = {
        metric: _named(
            metric.of_parts([part.measure(counts[part.criterion]) for part in metric.parts]), name
        )
        for name, metric in metrics.items()
    }
    all_notes = [*notes, *empty_classes_note(references, results), *undetected_classes_note(results)]
    return Evaluation(
        results=results,
        names={metric: name for name, metric in metrics.items()},
        counts=counts,
        classes=tuple(first),
        references=references,
        clips=first.clips,
        hours=first.hours,
        warnings=tuple(dict.fromkeys(map(readable, all_notes))),
        intervals=intervals,
        alignment=alignment,
        deltas={} if deltas is None else deltas,
        points=points,
    )


def _named(result: MetricResult, name: str) -> MetricResult:
    """Tell a result the name of its metric. Results of your own metrics may have no room for it."""
    if is_dataclass(result) and any(field.name == "name" for field in fields(result)):
        return replace(result, name=name)
    return result


def _reference_events(
    counts: Mapping[Criterion, Counts], alignment: Alignment | None, durations: Ticks | None
) -> Mapping[str, int]:
    """Return the number of reference events of each class.

    Criteria that count segments or clips, or only some of the references, do not know it. If there is no
    other, it comes from the aligned ground truth, and without that the result is what the first criterion
    counts.
    """
    of_events = [
        part
        for criterion, part in counts.items()
        if criterion.counts_all_references and not criterion.counts_negatives
    ]
    if of_events or alignment is None or durations is None:
        return (of_events or [*counts.values()])[0].reference_events
    references = alignment.counted()
    heard = ~late_events(references, durations)
    numbers = np.bincount(references.labels[heard], minlength=len(alignment.classes))
    return dict(zip(alignment.classes, numbers.tolist(), strict=True))
