"""Tuning: per class the post-processing and the threshold that are best for a metric."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import Progress
from ..counting.counts import Counts
from ..counting.deltas import Deltas, combine
from ..counting.one_pass import Wanted
from ..counting.tally import Tally
from ..counting.threads import thread_count
from ..data.alignment import Alignment, ClipChoice, Missing, align
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..engines.floor_search import collect
from ..errors import SedscopeError, counted, listing
from ..evaluation.request import deltas_for
from ..metrics import PSDS, ClassValue, ClasswiseMetric, ClasswiseResult, Metric, MetricResult
from ..postprocessing import Chain, PostProcessing, as_postprocessings
from ..resampling.intervals import Resampling
from ..resampling.measuring import measure_resampled
from .operating_points import OperatingPoints

AS_THEY_ARE = Chain()
"""The scores without any post-processing."""


@dataclass(frozen=True, eq=False)
class ClassTuning:
    """What is best for a class."""

    value: float
    """Of the metric on the set that it was tuned on."""
    postprocessing: PostProcessing | None
    """None for a class without references: nothing can be said."""
    threshold: float | None
    """Active is ``score > threshold``; None if the metric has none."""
    values: Mapping[PostProcessing, float]
    """Of each post-processing, with its own best threshold."""
    cross_validated: float | None
    """On clips that were not tuned on, if there were folds."""


@dataclass(frozen=True, eq=False)
class Tuning:
    """What is best for each class, and what it gives."""

    metric: Metric
    value: float
    """Over all classes, on the set that they were tuned on: too good for any other."""
    cross_validated: float | None
    """Over all classes, each clip with what is best on the other folds; None without folds."""
    per_class: Mapping[str, ClassTuning]
    points: OperatingPoints
    """Post-processing and threshold of each class, to be saved and used."""
    notes: tuple[str, ...]
    """What to know of the values."""

    def __call__(self, scores: Scores) -> Scores:
        """The scores as post-processed for each class."""
        return self.points.process(scores)


def tune(
    scores: Scores,
    truth: GroundTruth,
    metric: Metric,
    postprocessing: PostProcessing | Iterable[PostProcessing] | str = (),
    *,
    folds: int | None = None,
    seed: int = 0,
    groups: Mapping[str, Hashable] | None = None,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Choose per class the post-processing, and the threshold where the metric has one.

    ``postprocessing``: what to choose from, a list or the text of a sweep; of equally good ones the
    first is taken. Without any, only thresholds are chosen. ``folds``: also judge the choice on clips
    that it was not made on: clips are dealt into so many folds (by ``seed``; ``groups`` keeps the clips
    of a group, e.g. a recording site, in one fold), and each fold is judged with what is best on the
    others.

    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> best = sed.BestFScore(sed.Collar())
    >>> tuned = tune(sed.simulate.scores(truth), truth, best, "MedianFilter(0|0.2|0.5)", folds=5)
    >>> tuned.per_class["Speech"].postprocessing
    MedianFilter(seconds=0.2)
    >>> tuned.cross_validated < tuned.value
    True
    """
    _check_metric(metric)
    candidates = _candidates(postprocessing, metric)
    if groups is not None and folds is None:
        raise SedscopeError("groups keep clips together in a fold: say how many folds (--folds)")
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    held_out = _held_out(alignment.clips, folds, seed, groups)
    options: dict[str, Any] = {"threads": threads, "progress": progress}
    if folds is None:
        once = (~held_out).astype(np.int32)
        every = deltas_for(alignment, [metric], once, variants=candidates, **options)
    else:  # folds with a candidate each reach further down than all clips with one of them
        every = collect(alignment, {metric.criterion: Wanted(variants=candidates)}, **options)
    found = every[metric.criterion]
    if not len(found.tables.references.labels):
        raise SedscopeError("no class has reference events: nothing can be tuned")
    return _Grid(metric, candidates, found, held_out, thread_count(threads)).tuning(alignment)


class _Grid:
    """The values of all candidates, for all clips and for those outside each fold."""

    def __init__(
        self,
        metric: Metric,
        candidates: Sequence[PostProcessing],
        found: Deltas,
        held_out: NDArray[np.bool_],
        threads: int,
    ) -> None:
        """``held_out``: ((1 + folds) × clips) nothing in the first row, then the clips of each fold."""
        self.metric = metric
        self.candidates = candidates
        self.deltas = [found.variants[candidate] for candidate in candidates]
        self.classes, self.clips = found.classes, found.clips
        self.threads = threads
        self.folds = len(held_out) - 1
        self.held_out = held_out.astype(np.int32)
        self.tuned_on = (~held_out).astype(np.int32)
        values = [measure_resampled(deltas, metric, self.tuned_on, threads)[1] for deltas in self.deltas]
        self.values = np.stack(values)  # (candidates × (1 + folds) × classes)
        goodness = self.values if metric.higher_is_better else -self.values
        self.best = np.argmax(np.where(np.isnan(goodness), -np.inf, goodness), axis=0)

    def tuning(self, alignment: Alignment) -> Tuning:
        """The best choice, and what it gives."""
        result = self.metric.measure(self._chosen(0).counts(threads=self.threads))
        validated = self._cross_validated() if self.folds else None
        thresholds = getattr(result, "thresholds", {})
        per_class = {}
        for c, label in enumerate(self.classes):
            defined = not np.isnan(self.values[:, 0, c]).all()
            per_class[label] = ClassTuning(
                value=result.per_class[label].value,
                postprocessing=self.candidates[self.best[0, c]] if defined else None,
                threshold=thresholds.get(label),
                values=dict(zip(self.candidates, self.values[:, 0, c].tolist(), strict=True)),
                cross_validated=None if validated is None else validated.per_class[label].value,
            )
        return Tuning(
            metric=self.metric,
            value=result.value,
            cross_validated=None if validated is None else validated.value,
            per_class=per_class,
            points=self._points(per_class, alignment),
            notes=tuple(self._notes(per_class)),
        )

    def _chosen(self, row: int) -> Deltas:
        """The deltas of each class with the candidate that is best for a row of the values."""
        choice = np.broadcast_to(self.best[row][:, None], (len(self.classes), len(self.clips)))
        return combine(self.deltas, choice)

    def _cross_validated(self) -> MetricResult:
        if not _has_thresholds(self.metric):
            fold_of_clip = self.held_out.argmax(axis=0)
            of_clips = combine(self.deltas, self.best[fold_of_clip].T)
            return self.metric.measure(of_clips.counts(threads=self.threads))
        assert isinstance(self.metric, ClasswiseMetric)
        tallies: dict[str, list[Tally]] = {label: [] for label in self.classes}
        everything: Counts | None = None
        # for a class without references in the other folds no threshold is best: it is not detected
        otherwise = np.inf if isinstance(self.metric.looks_at, str) else self.metric.looks_at
        for row in range(1, 1 + self.folds):
            chosen = self._chosen(row)
            tuned = self.metric.measure(self._counts(chosen, self.tuned_on[row]))
            judged = self._counts(chosen, self.held_out[row])
            everything = everything or chosen.counts(threads=self.threads)
            for label in self.classes:
                threshold = tuned.thresholds.get(label, otherwise)
                tallies[label].append(judged[label].tally_at(threshold))
        assert everything is not None
        per_class = {}
        for label, of_folds in tallies.items():
            tally = reduce(operator.add, of_folds)
            value = self.metric.of_tally(tally) if tally.references else np.nan
            per_class[label] = ClassValue(value, tally=tally)
        return ClasswiseResult(self.metric, everything, per_class)

    def _counts(self, deltas: Deltas, weights: NDArray[np.int32]) -> Counts:
        return deltas.counts(weights=weights, threads=self.threads)

    def _points(self, per_class: Mapping[str, ClassTuning], alignment: Alignment) -> OperatingPoints:
        from .. import __version__

        durations = self.deltas[0].durations
        return OperatingPoints(
            thresholds={
                label: found.threshold
                for label, found in per_class.items()
                if found.threshold is not None
            },
            postprocessing={
                label: found.postprocessing
                for label, found in per_class.items()
                if found.postprocessing not in (None, AS_THEY_ARE)
            },
            provenance={
                "sedscope": __version__,
                "metric": repr(self.metric),
                "chosen_from": counted(len(self.candidates), "post-processing"),
                "clips": str(len(alignment.clips)),
                "hours": f"{int(durations.sum()) / 3.6e9:.4f}",
            },
        )

    def _notes(self, per_class: Mapping[str, ClassTuning]) -> Iterable[str]:
        nothing = [label for label, found in per_class.items() if found.postprocessing is None]
        if nothing:
            yield f"without reference events, so not tuned: {listing(nothing)}"
        unmet = [
            label
            for label, found in per_class.items()
            if found.postprocessing is not None and found.threshold is None
        ]
        if unmet and _has_thresholds(self.metric):
            yield f"no threshold meets what is asked for, so never detected: {listing(unmet)}"
        if isinstance(self.metric, PSDS) and self.metric.alpha_st > 0:
            yield (
                "each class is tuned for its own PSDS; the overall PSDS subtracts the deviation between "
                "classes and need not be the largest possible"
            )
        gone = [
            label
            for c, label in enumerate(self.classes)
            if per_class[label].postprocessing is not None
            and np.isnan(self.values[:, 1:, c]).all(axis=0).any()
        ]
        if gone:
            yield f"without reference events outside some fold, so not tuned there: {listing(gone)}"


def _has_thresholds(metric: Metric) -> bool:
    """Whether the metric belongs to one threshold per class."""
    return isinstance(metric, ClasswiseMetric) and metric.at_one_threshold


def _check_metric(metric: Metric) -> None:
    if not isinstance(metric, Metric):
        raise SedscopeError(f"not a metric: {metric!r}")
    if metric.variants:
        raise SedscopeError(f"{metric!r} takes the best of its post-processings: nothing is to be tuned")
    if isinstance(metric, ClasswiseMetric) and metric.average == "micro":
        tuned = " or ".join(repr(name) for name in metric.averages if name != "micro")
        raise SedscopeError(
            f"{metric!r} takes all classes together at one threshold, so that no class can be tuned by "
            f"itself: use an average of {tuned}"
        )


def _candidates(postprocessing: Any, metric: Metric) -> tuple[PostProcessing, ...]:
    given = as_postprocessings(postprocessing)
    if not given and not _has_thresholds(metric):
        raise SedscopeError(
            f"{metric!r} is over all thresholds: give post-processings to choose from (--sweep)"
        )
    return given or (AS_THEY_ARE,)


def _held_out(
    clips: Sequence[str], folds: int | None, seed: int, groups: Mapping[str, Hashable] | None
) -> NDArray[np.bool_]:
    """((1 + folds) × clips) nothing in the first row, then the clips of each fold."""
    everything = np.zeros((1, len(clips)), bool)
    if folds is None:
        return everything
    units = Resampling(seed=seed, groups=groups).units(clips)
    number = int(units.max(initial=-1)) + 1
    try:
        wanted = operator.index(folds)
    except TypeError:
        raise SedscopeError(f"folds={folds!r} must be a whole number") from None
    if not 2 <= wanted <= number:
        what = counted(number, "clip" if groups is None else "group")
        raise SedscopeError(f"folds={folds} must be at least 2 and at most as many as there are: {what}")
    dealt = np.empty(number, np.intp)
    dealt[np.random.default_rng(seed).permutation(number)] = np.arange(number) % wanted
    return np.concatenate([everything, dealt[units] == np.arange(wanted)[:, None]])
