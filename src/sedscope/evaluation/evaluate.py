"""Evaluation in one call: scores and ground truth in, metrics with their curves out.

The path of the data is :func:`evaluate`, read from top to bottom: align, find deltas, add them up to
counts, measure the metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..counting.counts import Counts
from ..counting.deltas import Deltas, refuse_different_scores
from ..criteria import Criterion
from ..data.alignment import Alignment, align
from ..data.choices import ClipChoice, Coverage, Missing, Overlaps
from ..data.detections import Detections
from ..data.ground_truth import GroundTruth
from ..data.progress import Progress
from ..data.scores import Scores
from ..data.time_sample import TimeSample
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.floor_search import find_deltas
from ..engines.options import EngineName, RunOptions
from ..errors import SedscopeError, listing, readable
from ..metrics import Metric
from ..metrics.metric import as_metrics
from ..metrics.requests import delta_requests
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws
from ..resampling.intervals import Bootstrap
from ..resampling.resampling import Resampling
from .class_blocks import CountsInBlocks, counts_in_blocks
from .detection_sets import counts_of_sets
from .notes import (
    coverage_note,
    empty_classes_note,
    late_events,
    late_events_note,
    never_detected_note,
    score_ranges,
    threshold_notes,
    undefined_resamples_note,
    undetected_classes_note,
)
from .result import Evaluation


def evaluate(
    scores: Scores,
    truth: GroundTruth,
    metrics: Iterable[Metric[Any]] | Metric[Any],
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    bootstrap: Resampling | int | None = None,
    engine: EngineName = "threads",
    scheduler: object = None,
    checkpoint: str | Path | None = None,
    memory: str | float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a system with one or more metrics.

    Metrics of the same criterion share the counting. The values have the same bits whatever the engine,
    the memory limit and the number of threads.

    Parameters
    ----------
    scores : Scores
        The scores of the system.
    truth : GroundTruth
        The reference events.
    metrics : Metric or iterable of Metric
        What to measure.
    classes : iterable of str, optional
        The classes to evaluate; all classes of the scores unless given.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for all clips that have scores. Without it, scores and
        ground truth must have the same clips.
    missing : {"error", "empty"}, default "error"
        What to do with clips that the ground truth does not list: refuse them, or take them as clips
        without events.
    coverage : {"error", "any"}, default "error"
        What to do with scores that cover less than half of their clips or go on for more than twice as
        long, in most clips or in total: refuse them, or evaluate them as they are. A warning names clips
        that differ by more than a tenth.
    bootstrap : int or Resampling, optional
        Resample the clips this many times, and add intervals.
    engine : {"threads", "dask"}, default "threads"
        Where the pass over the clips runs: on threads of this process, or on a Dask cluster.
    scheduler : str or distributed.Client, optional
        The address or client of the Dask cluster. Without it, one is started on this machine.
    checkpoint : path, optional
        A folder that keeps finished parts, so that an interrupted evaluation continues where it stopped.
        Several systems and evaluations may share it: parts are used only where everything is the same.
    memory : str or float, optional
        A limit, e.g. ``"4GB"``. The classes are counted in blocks that stay within it, and the clips are
        read once per block. With several blocks, values and thresholds are the same, but the result keeps
        only the counts that the metrics read, and no deltas: curves, other averages and reports that need
        more are refused.
    threads : int, optional
        The number of threads; one per core unless given.
    progress : callable, optional
        Called with the number of clips done and of all clips.

    Returns
    -------
    Evaluation
        The results, by metric.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> psds = sed.PSDS(sed.Intersection(dtc=0.7, gtc=0.7))
    >>> evaluate(scores, truth, psds)[psds].value
    1.0
    """
    chosen = as_metrics(metrics)
    options = RunOptions(threads, engine, scheduler, checkpoint, memory, progress)
    limited = options.memory_limit() is not None
    if limited and bootstrap is not None:
        raise SedscopeError("Resampling needs all deltas at once, so memory= cannot limit it.")
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    sample = TimeSample(alignment)
    draws = None if bootstrap is None else Draws(Resampling.of(bootstrap), alignment.clips)
    intervals: dict[Metric[Any], Bootstrap] = {}
    with options.open_engine() as opened:
        if limited:
            in_blocks = counts_in_blocks(sample.alignment, chosen, opened, options)
        elif draws is not None:
            deltas = find_deltas_for_weights(sample.alignment, chosen, draws.weights, opened, progress)
            intervals = _intervals(draws, chosen, deltas, opened)
        else:
            deltas = find_deltas(sample.alignment, delta_requests(chosen), opened, progress)
    if not limited:
        counts = {criterion: part.counts(threads=threads) for criterion, part in deltas.items()}
        about_scores = [
            *coverage_note(alignment, deltas),
            *never_detected_note(alignment, deltas),
            *threshold_notes(chosen, score_ranges(chosen, deltas)),
        ]
        durations = next(iter(deltas.values())).durations
        in_blocks = CountsInBlocks(counts, deltas, durations, 1, about_scores)
    notes = [
        *alignment.warnings,
        *late_events_note(alignment, in_blocks.durations),
        *in_blocks.notes,
        *sample.notes(),
        *undefined_resamples_note(intervals.values()),
        *([] if draws is None else draws.cautions()),
    ]
    result = measure(
        chosen, in_blocks.counts, notes, intervals, alignment, in_blocks.deltas, in_blocks.durations
    )
    return replace(result, blocks=in_blocks.blocks).warn(stacklevel=2)


def evaluate_sets(
    sets: Mapping[float, Detections],
    truth: GroundTruth,
    metrics: Iterable[Metric[Any]] | Metric[Any],
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    overlaps: Overlaps = "error",
    threads: int | None = None,
) -> Evaluation:
    """Evaluate detections at a few operating points, and only there, as psds_eval does.

    Parameters
    ----------
    sets : mapping of float to events
        The detections at each threshold, ``{threshold: {clip: [event, …]}}``. Clips that a set does not
        list have no detections in it. :func:`~sedscope.approximate` makes such sets from scores.
    truth : GroundTruth
        The reference events, with the durations of the clips.
    metrics : Metric or iterable of Metric
        What to measure. Metrics at a threshold are defined only at the thresholds of the sets.
    classes, clips, missing, coverage
        What to evaluate; see :func:`evaluate`.
    overlaps : {"error", "merge"}, default "error"
        What to do with overlapping detections of one class: refuse or merge them.
    threads : int, optional
        The number of threads; one per core unless given.

    Returns
    -------
    Evaluation
        The results, by metric.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> sets = {0.5: {"a": [(1, 2, "Dog")]}, 0.8: {"a": []}}
    >>> best = sed.BestFScore(sed.Collar())
    >>> result = sed.evaluate_sets(sets, truth, best)[best]
    >>> result.value, result.thresholds
    (1.0, {'Dog': 0.5})
    """
    chosen = as_metrics(metrics)
    processing = [repr(metric) for metric in chosen if metric.variants]
    if processing:
        raise SedscopeError(
            f"Sets of detections cannot be post-processed, but these metrics need it: {listing(processing)}."
        )
    counts, notes = counts_of_sets(
        sets,
        truth,
        delta_requests(chosen),
        classes=classes,
        clips=clips,
        missing=missing,
        coverage=coverage,
        overlaps=overlaps,
        threads=threads,
    )
    return measure(chosen, counts, notes, {}).warn(stacklevel=2)


def evaluate_deltas(
    deltas: Deltas | Iterable[Deltas],
    metrics: Iterable[Metric[Any]] | Metric[Any],
    *,
    bootstrap: Resampling | int | None = None,
    threads: int | None = None,
) -> Evaluation:
    """Evaluate deltas that were found before.

    Parameters
    ----------
    deltas : Deltas or iterable of Deltas
        One for each criterion of the metrics; see :func:`~sedscope.deltas`,
        :func:`~sedscope.load_deltas` and :meth:`Deltas.merge`.
    metrics : Metric or iterable of Metric
        What to measure.
    bootstrap : int or Resampling, optional
        Resample the clips this many times, and add intervals.
    threads : int, optional
        The number of threads; one per core unless given.

    Returns
    -------
    Evaluation
        The results, by metric.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> deltas = sed.deltas(scores, truth, sed.Collar())
    >>> best = sed.BestFScore(sed.Collar())
    >>> sed.evaluate_deltas(deltas, best)[best].value
    1.0
    """
    chosen = as_metrics(metrics)
    parts = [deltas] if isinstance(deltas, Deltas) else [*deltas]
    by_criterion = {part.criterion: part for part in parts}
    if len(by_criterion) < len(parts):
        raise SedscopeError("Some deltas have the same criterion. Merge them with Deltas.merge first.")
    lacking = [repr(metric) for metric in chosen if metric.criterion not in by_criterion]
    if lacking:
        criteria = listing([repr(criterion) for criterion in by_criterion])
        raise SedscopeError(
            f"There are no deltas for {listing(lacking)}. The deltas are of {criteria or 'no criterion'}."
        )
    used = {metric.criterion: by_criterion[metric.criterion] for metric in chosen}
    refuse_different_scores([*used.values()])
    intervals: dict[Metric[Any], Bootstrap] = {}
    cautions: list[str] = []
    if bootstrap is not None:
        with RunOptions(threads).open_engine() as engine:
            for metric in chosen:
                draws = Draws(Resampling.of(bootstrap), used[metric.criterion].clips)
                intervals |= _intervals(draws, [metric], used, engine)
                cautions += draws.cautions()
    counts = {criterion: part.counts(threads=threads) for criterion, part in used.items()}
    notes = [
        *threshold_notes(chosen, score_ranges(chosen, used)),
        *undefined_resamples_note(intervals.values()),
        *cautions,
    ]
    return measure(chosen, counts, notes, intervals).warn(stacklevel=2)


def measure(
    metrics: Iterable[Metric[Any]],
    counts: Mapping[Criterion, Counts],
    notes: Iterable[str],
    intervals: Mapping[Metric[Any], Bootstrap],
    alignment: Alignment | None = None,
    deltas: Mapping[Criterion, Deltas] | None = None,
    durations: Ticks | None = None,
) -> Evaluation:
    """Measure the metrics on counts, and return the evaluation.

    ``durations``: of each clip of the alignment, as evaluated.
    """
    some = next(iter(counts.values()))
    references = _reference_events(counts, alignment, durations)
    results = {metric: metric.measure(counts[metric.criterion]) for metric in metrics}
    all_notes = [*notes, *empty_classes_note(references), *undetected_classes_note(results)]
    return Evaluation(
        results=results,
        counts=counts,
        classes=tuple(some),
        references=references,
        clips=some.clips,
        hours=some.duration / 3600,
        warnings=tuple(dict.fromkeys(map(readable, all_notes))),
        intervals=intervals,
        alignment=alignment,
        deltas={} if deltas is None else deltas,
    )


def _reference_events(
    counts: Mapping[Criterion, Counts], alignment: Alignment | None, durations: Ticks | None
) -> Mapping[str, int]:
    """Return the number of reference events of each class.

    Criteria that count segments or clips do not know it. If there is no other, it comes from the aligned
    ground truth, and without that the result is what the first criterion counts.
    """
    of_events = [part for criterion, part in counts.items() if not criterion.counts_negatives]
    if of_events or alignment is None or durations is None:
        return (of_events or [*counts.values()])[0].references
    heard = ~late_events(alignment, durations)
    numbers = np.bincount(alignment.labels[heard], minlength=len(alignment.classes))
    return dict(zip(alignment.classes, numbers.tolist(), strict=True))


def _intervals(
    draws: Draws,
    metrics: Iterable[Metric[Any]],
    deltas: Mapping[Criterion, Deltas],
    engine: Engine,
) -> dict[Metric[Any], Bootstrap]:
    """Return the interval of each metric."""
    intervals = {}
    for metric in metrics:
        of_criterion = deltas[metric.criterion]
        values = draws.measure(of_criterion, metric, engine)
        intervals[metric] = draws.summary(of_criterion.classes, values)
    return intervals
