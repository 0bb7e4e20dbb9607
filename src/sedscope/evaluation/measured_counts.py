"""Measuring the metrics of an evaluation on its counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.times import Ticks
from ..errors import readable
from ..metrics import ClasswiseResult, MeanResult, Metric, MetricResult, PSDSResult
from .notes import empty_classes_note, late_events, undetected_classes_note
from .operating_point import counts_at_points
from .result import Evaluation

if TYPE_CHECKING:
    from ..resampling.intervals import Bootstrap
    from ..tuning.operating_points import OperatingPoints


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
    named = (ClasswiseResult, MeanResult, PSDSResult)
    return replace(result, name=name) if isinstance(result, named) else result


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
