"""Evaluation: scores and ground truth in, metrics with their curves out."""

from __future__ import annotations

import math
import warnings as python_warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..counting.checked_clips import Progress
from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment, ClipChoice, Missing, align
from ..data.detections import Events
from ..data.ground_truth import GroundTruth, Overlaps
from ..data.scores import Scores
from ..engines import EngineChoice, chosen_engine
from ..engines.floor_search import collect
from ..errors import SedscopeError, SedscopeWarning, listing
from ..io.atomic_write import write_text
from ..metrics import Metric, MetricResult
from ..resampling.intervals import Bootstrap, Draws, Interval, Resampling
from .class_blocks import as_bytes, counts_within
from .detection_sets import counts_of_sets
from .request import (
    as_metrics,
    as_resampling,
    deltas_for,
    empty_note,
    late_note,
    vanishing_note,
    wanted_by,
)
from .table_text import aligned


@dataclass(frozen=True, eq=False)
class Evaluation(Mapping[Metric, Any]):
    """The results of an evaluation, by metric; a metric's definition as text finds it, too."""

    results: Mapping[Metric, MetricResult]
    counts: Mapping[Criterion, Counts]
    """What was counted, by criterion; for metrics with a limit on false positives up to there."""
    classes: tuple[str, ...]
    references: Mapping[str, int]
    """Number of reference events of each class."""
    clips: int
    hours: float
    warnings: tuple[str, ...]
    intervals: Mapping[Metric, Bootstrap] = field(default_factory=dict)
    """Of each metric, if they were asked for."""
    alignment: Alignment | None = None
    """What was evaluated, for looking closer; None for sets of detections."""
    deltas: Mapping[Criterion, Deltas] = field(default_factory=dict)
    """What the counts were added up from, by criterion; empty for sets of detections."""

    def __getitem__(self, metric: Metric | str) -> Any:
        if isinstance(metric, str):
            return {repr(known): result for known, result in self.results.items()}[metric]
        return self.results[metric]

    def __iter__(self) -> Iterator[Metric]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def scalars(self) -> dict[str, float]:
        """All values flat: ``{metric: value, "metric/class": value}``, for loggers."""
        values: dict[str, float] = {}
        for metric, result in self.results.items():
            values[repr(metric)] = result.value
            for label, of_class in result.per_class.items():
                values[f"{metric!r}/{label}"] = of_class.value
        return values

    def table(self) -> str:
        """A readable table: a row per class, a column per metric."""
        header = ["class", "references", *(f"[{i}]" for i, _ in enumerate(self.results, 1))]
        rows = [
            [
                label,
                str(self.references[label]),
                *(
                    _number(result.per_class[label].value, intervals and intervals.per_class[label])
                    for result, intervals in self._with_intervals()
                ),
            ]
            for label in self.classes
        ]
        overall = [
            "overall",
            str(sum(self.references.values())),
            *(_number(result.value, interval) for result, interval in self._with_intervals()),
        ]
        lines = aligned([header, *rows, overall])
        rule = "─" * max(map(len, lines))
        legend = [f"[{i}] {metric!r}" for i, metric in enumerate(self.results, 1)]
        if self.intervals:
            legend.append(next(iter(self.intervals.values())).resampling.about())
        return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1], "", *legend])

    def _with_intervals(self) -> list[tuple[MetricResult, Bootstrap | None]]:
        return [(result, self.intervals.get(metric)) for metric, result in self.results.items()]

    def to_dict(self) -> dict[str, Any]:
        """What :meth:`to_json` writes; values that are not defined are None."""
        from .. import __version__

        return {
            "sedscope": __version__,
            "clips": self.clips,
            "hours": self.hours,
            "classes": list(self.classes),
            "references": dict(self.references),
            "metrics": [
                _as_dict(metric, result, self.intervals.get(metric))
                for metric, result in self.results.items()
            ],
            "warnings": list(self.warnings),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """The results as JSON text; written to ``path`` as well, if given."""
        import json

        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            write_text(path, text)
        return text

    def report(
        self,
        path: str | Path,
        *,
        name: str = "system",
        others: Mapping[str, Evaluation] | None = None,
        clips_shown: int | Iterable[str] = 60,
        audio: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        """Write an HTML page with curves, a threshold slider, error analysis and a clip browser.

        The page needs nothing but a browser. ``name``: of the system; ``others``: evaluations of other
        systems with the same metrics on the same clips. ``clips_shown``: how many clips can be browsed,
        one in six of them good ones and the rest the most costly, or which ones. ``audio``: a folder
        with the clips' audio files, of which those shown go into the page as far as there is room.
        """
        from ..report import write_report

        systems = {name: self, **(others or {})}
        write_report(systems, path, clips_shown=clips_shown, audio=audio, threads=threads)


def evaluate(
    scores: Scores,
    truth: GroundTruth,
    metrics: Iterable[Metric] | Metric,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    bootstrap: Resampling | int | None = None,
    engine: EngineChoice = "threads",
    scheduler: Any = None,
    checkpoint: str | Path | None = None,
    memory: str | float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a system with one or more metrics; metrics of one criterion share the counting.

    ``classes``, ``clips`` (ids, or ``"scored"``) and ``missing`` (``"empty"``: clips that the ground
    truth does not list have no events) choose what is evaluated. ``bootstrap``: a number of resamples of
    the clips, or a :class:`Resampling`, from which intervals are found. ``threads``: one per core unless
    given. ``progress`` is called with clips done and clips in all.

    ``engine="dask"``: on a Dask cluster, that of the address or client ``scheduler``, or one on this
    machine. ``checkpoint``: a folder in which parts of the work are kept, so that an interrupted
    evaluation goes on where it was. ``memory``: a limit, e.g. ``"4GB"``, within which classes are
    counted in blocks, reading the clips once for each. The values have the same bits whatever of
    these is chosen.

    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> psds = sed.PSDS(sed.Intersection(dtc=0.7, gtc=0.7))
    >>> evaluate(scores, truth, psds)[psds].value
    1.0
    """
    chosen = as_metrics(metrics)
    limit = None if memory is None else as_bytes(memory)
    if limit is not None and bootstrap is not None:
        raise SedscopeError("resampling needs all deltas at once: memory= cannot limit it")
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    draws = None if bootstrap is None else Draws(as_resampling(bootstrap), alignment.clips)
    counts: Mapping[Criterion, Counts] | None = None
    with chosen_engine(engine, scheduler, checkpoint, threads) as go:
        options: dict[str, Any] = {"engine": go, "threads": threads, "progress": progress}
        if limit is not None:
            counts, deltas = counts_within(limit, alignment, chosen, wanted_by(chosen), **options)
        elif draws is not None:
            deltas = deltas_for(alignment, chosen, draws.weights, **options)
        else:
            deltas = collect(alignment, wanted_by(chosen), **options)
    intervals: dict[Metric, Bootstrap] = {}
    if draws is not None:
        for metric in chosen:
            drawn = draws.measure(deltas[metric.criterion], metric, threads)
            intervals[metric] = draws.summary(alignment.classes, drawn)
    if counts is None:
        counts = {criterion: found.counts(threads=threads) for criterion, found in deltas.items()}
    notes = [*alignment.warnings, *late_note(alignment, deltas), *vanishing_note(intervals.values())]
    return _warned(as_evaluation(chosen, counts, notes, intervals, alignment, deltas))


def evaluate_sets(
    sets: Mapping[float, Events],
    truth: GroundTruth,
    metrics: Iterable[Metric] | Metric,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    overlaps: Overlaps = "error",
    threads: int | None = None,
) -> Evaluation:
    """Evaluate detections at a few operating points, ``{threshold: {clip: [event, …]}}``, and only
    there, as psds_eval does; :func:`~sedscope.approximate` makes such sets from scores.

    The ground truth needs durations. Clips that a set does not list have no detections in it. Metrics
    at a threshold are defined at those that are given.
    """
    chosen = as_metrics(metrics)
    processing = [repr(metric) for metric in chosen if metric.variants]
    if processing:
        raise SedscopeError(f"sets of detections cannot be post-processed: {listing(processing)}")
    counts = counts_of_sets(
        sets,
        truth,
        wanted_by(chosen),
        classes=classes,
        clips=clips,
        missing=missing,
        overlaps=overlaps,
        threads=threads,
    )
    return _warned(as_evaluation(chosen, counts, list(truth.warnings), {}))


def evaluate_deltas(
    deltas: Deltas | Iterable[Deltas],
    metrics: Iterable[Metric] | Metric,
    *,
    bootstrap: Resampling | int | None = None,
    threads: int | None = None,
) -> Evaluation:
    """Evaluate deltas that were found before, one for each criterion of the metrics: see
    :func:`~sedscope.deltas`, :func:`~sedscope.load_deltas` and :meth:`Deltas.merge`."""
    chosen = as_metrics(metrics)
    given = [deltas] if isinstance(deltas, Deltas) else [*deltas]
    known = {found.criterion: found for found in given}
    lacking = [repr(metric) for metric in chosen if metric.criterion not in known]
    if lacking:
        there = listing([repr(criterion) for criterion in known])
        raise SedscopeError(f"no deltas for {listing(lacking)}; there are deltas of {there}")
    intervals: dict[Metric, Bootstrap] = {}
    if bootstrap is not None:
        for metric in chosen:
            found = known[metric.criterion]
            draws = Draws(as_resampling(bootstrap), found.clips)
            intervals[metric] = draws.summary(found.classes, draws.measure(found, metric, threads))
    counts = {metric.criterion: known[metric.criterion].counts(threads=threads) for metric in chosen}
    return _warned(as_evaluation(chosen, counts, vanishing_note(intervals.values()), intervals))


def as_evaluation(
    metrics: tuple[Metric, ...],
    counts: Mapping[Criterion, Counts],
    notes: list[str],
    intervals: Mapping[Metric, Bootstrap],
    alignment: Alignment | None = None,
    deltas: Mapping[Criterion, Deltas] | None = None,
) -> Evaluation:
    """The evaluation that counts give."""
    some = next(iter(counts.values()))
    notes = [*notes, *empty_note(some.references)]
    return Evaluation(
        results={metric: metric.measure(counts[metric.criterion]) for metric in metrics},
        counts=counts,
        classes=tuple(some),
        references=some.references,
        clips=some.clips,
        hours=some.duration / 3600,
        warnings=tuple(notes),
        intervals=intervals,
        alignment=alignment,
        deltas=deltas or {},
    )


def _warned(evaluation: Evaluation) -> Evaluation:
    for note in evaluation.warnings:
        python_warnings.warn(note, SedscopeWarning, stacklevel=3)
    return evaluation


def _number(value: float, interval: Interval | None = None) -> str:
    if interval is None:
        return f"{value:.4f}"
    return f"{value:.4f} ({interval.low:.4f}–{interval.high:.4f})"


def _as_dict(metric: Metric, result: MetricResult, interval: Bootstrap | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "metric": repr(metric),
        "value": _finite(result.value),
        "per_class": {label: _finite(of_class.value) for label, of_class in result.per_class.items()},
    }
    thresholds = getattr(result, "thresholds", None)
    if thresholds:
        entry["thresholds"] = {label: _finite(value) for label, value in thresholds.items()}
    if interval:
        entry["interval"] = {
            **_limits(interval),
            "per_class": {label: _limits(of_class) for label, of_class in interval.per_class.items()},
            "resampling": interval.resampling.about(),
        }
    return entry


def _limits(interval: Interval) -> dict[str, Any]:
    return {
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "undefined_resamples": interval.undefined,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
