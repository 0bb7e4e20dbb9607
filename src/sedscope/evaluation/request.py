"""What metrics want to know, together: which deltas to find, and how far down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..counting.checked_clips import Progress
from ..counting.deltas import Deltas
from ..counting.one_pass import Wanted
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment
from ..engines.floor_search import Engine, collect
from ..errors import SedscopeError, counted, listing
from ..metrics import Metric
from ..postprocessing import PostProcessing
from ..resampling.intervals import Bootstrap, Resampling
from ..resampling.measuring import Weights, reach

_MARGIN = 2.0  # resamples rarely reach twice as far down as the clips as they are


def as_metrics(metrics: Any) -> tuple[Metric, ...]:
    if isinstance(metrics, Iterable) and not isinstance(metrics, (str, Metric)):
        chosen = tuple(metrics)
    else:
        chosen = (metrics,)
    wrong = [repr(metric) for metric in chosen if not isinstance(metric, Metric)]
    if wrong or not chosen:
        raise SedscopeError(f"not a metric: {listing(wrong)}" if wrong else "no metric is given")
    return chosen


def wanted_by(metrics: Iterable[Metric]) -> dict[Criterion, Wanted]:
    """What the metrics of each criterion want to know of it, together."""
    wanted: dict[Criterion, Wanted] = {}
    for metric in metrics:
        limit, any_label = metric.false_positive_limit, metric.any_label
        variants = metric.variants
        if metric.criterion in wanted:
            known = wanted[metric.criterion]
            other = known.false_positive_limit
            limit = None if limit is None or other is None else max(limit, other)
            any_label |= known.any_label
            variants = tuple(dict.fromkeys((*known.variants, *variants)))
        wanted[metric.criterion] = Wanted(limit, any_label, variants)
    return wanted


def as_resampling(bootstrap: Resampling | int) -> Resampling:
    """A number of resamples, or more."""
    return bootstrap if isinstance(bootstrap, Resampling) else Resampling(bootstrap)


def deltas_for(
    alignment: Alignment,
    metrics: Sequence[Metric],
    weights: Weights,
    *,
    variants: Sequence[PostProcessing] = (),
    engine: Engine | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """Deltas that go as far down as the metrics look, whichever of the weights the clips have;
    ``variants``: also of these, beside what the metrics want."""
    wanted = {}
    for criterion, want in wanted_by(metrics).items():
        limit = want.false_positive_limit
        wanted[criterion] = replace(
            want,
            false_positive_limit=None if limit is None else _MARGIN * limit,
            variants=tuple(dict.fromkeys((*want.variants, *variants))),
        )
    options: dict[str, Any] = {"engine": engine, "threads": threads, "progress": progress}
    deltas = collect(alignment, wanted, **options)
    short = {
        metric.criterion for metric in metrics if not reach(deltas[metric.criterion], metric, weights)
    }
    if short:
        all_the_way = {
            criterion: replace(wanted[criterion], false_positive_limit=None) for criterion in short
        }
        deltas |= collect(alignment, all_the_way, **options)
    return deltas


def late_note(alignment: Alignment, deltas: Mapping[Criterion, Deltas]) -> list[str]:
    """Whether references were left out because they begin after the end of their clip."""
    durations = next(iter(deltas.values())).durations
    clips = np.repeat(np.arange(len(durations)), np.diff(alignment.starts))
    late = int(np.count_nonzero(alignment.events[:, 0] >= durations[clips]))
    said = "beginning at or after the last boundary of the scores"
    return [f"left out {counted(late, 'reference event')} {said}"] if late else []


def empty_note(references: Mapping[str, int]) -> list[str]:
    """Whether classes have no references, of which there are so many in each class."""
    empty = [label for label, number in references.items() if not number]
    if not empty:
        return []
    return [
        f"without reference events, so not defined (NaN) and left out of means: "
        f"{counted(len(empty), 'class')}: {listing(empty)}"
    ]


def vanishing_note(intervals: Collection[Bootstrap]) -> list[str]:
    """Whether classes have no value in some resamples."""
    counts: dict[str, int] = {}
    for interval in intervals:
        for label, of_class in interval.per_class.items():
            if not np.isnan(of_class.value) and of_class.undefined:
                counts[label] = max(counts.get(label, 0), of_class.undefined)
    if not counts:
        return []
    number = max(len(interval.values) for interval in intervals)
    found = [f"{label} in {times} of {number}" for label, times in counts.items()]
    return [f"not defined in some resamples, so left out of means and intervals there: {listing(found)}"]
