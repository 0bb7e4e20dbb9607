"""Tuning: for each class, the post-processing and the threshold that are best for a metric; and maps of
scores that are fitted to the ground truth.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import align
from ..alignment.time_agreement import TimeSample
from ..counting.clip_reader import EventsRead, RecordingOpened, read_clips, thread_count
from ..counting.deltas import Deltas, combine
from ..counting.request import DeltaRequest
from ..counting.tally import exceed
from ..data.arrays import IntArray, ScoreArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.clip_events import kept_events_error
from ..data.clip_scores import whole_clip_error
from ..data.clips import clip_list_digest
from ..data.ground_truth import GroundTruth
from ..data.scores import ClipScores, Scores, refuse_nans
from ..engines.floor_search import find_deltas
from ..engines.run import Run
from ..errors import SedscopeError, counted, issue_warnings, listing, raise_together
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores
from ..evaluation.notes import input_notes
from ..evaluation.result_tables import value_cell
from ..metrics import Metric
from ..metrics.names import MetricLike, as_metric
from ..postprocessing import Chain, PostProcessing, as_postprocessings
from ..postprocessing.score_maps import ScoreMap
from ..progress import Progress, StagedProgress
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws
from ..resampling.held_out import fold_masks, held_out_interval
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampled_metric import ResampledMetric
from ..resampling.resampling import Resampling
from ..resampling.subsampling import Behaviour
from ..results.text import Form, Name, Part, Records, Table, definition, number_or_blank
from ..tabular import TabularResult
from .operating_points import OperatingPoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

_THRESHOLD_ADVICE = "Choose a metric with a threshold, such as BestFScore(IoU(0.5))."
AS_THEY_ARE = Chain()
"""The scores without any post-processing."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassTuning:
    """What is best for a class.

    Attributes
    ----------
    value : float
        The metric on the set that the class was tuned on.
    postprocessing : post-processing or None
        The best one; None for a class without references, about which nothing is known.
    threshold : float or None
        The best threshold (active: ``score > threshold``); None if the metric has none.
    values : mapping of post-processing to float
        The value of each post-processing, with its own best threshold.
    cross_validated : Interval or None
        The value on clips that the class was not tuned on, if there were folds.
    """

    value: float
    postprocessing: PostProcessing | None
    threshold: float | None
    values: Mapping[PostProcessing, float]
    cross_validated: Interval | None

    def __repr__(self) -> str:
        threshold = "" if self.threshold is None else f", threshold {self.threshold:.4g}"
        return f"<ClassTuning: {self.value:.4f}, {self.postprocessing!r}{threshold}>"


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(TabularResult):
    """What is best for each class, and what it gives.

    Attributes
    ----------
    metric : Metric
        What was tuned for.
    value : float
        The metric over all classes, on the set that they were tuned on. It is too good for other sets.
    cross_validated : Bootstrap or None
        The metric over all classes, with each clip judged by what is best on the other folds, and its
        interval; None without folds.
    per_class : mapping of str to ClassTuning
        What is best for each class.
    points : OperatingPoints
        The post-processing and threshold of each class, to save and use.
    clips : tuple of str
        The clips that the classes were tuned on.
    notes : tuple of str
        What to know about the values.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> best = sed.BestFScore(sed.Collar())
    >>> tuned = sed.tune(sed.simulate.scores(truth), truth, best, "MedianFilter(0|0.2|0.5)")
    >>> tuned.per_class["Speech"].postprocessing
    MedianFilter(seconds=0.2)
    """

    metric: Metric[Any]
    value: float
    cross_validated: Bootstrap | None
    per_class: Mapping[str, ClassTuning]
    points: OperatingPoints
    clips: tuple[str, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        expected = self.cross_validated
        validated = "" if expected is None else f" (cross-validated {expected.value:.4f})"
        number = counted(len(self.per_class), "class")
        return f"<Tuning of {number} for {self.metric!r}: {self.value:.4f}{validated}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the value of each class with matplotlib, as tuned and, if there are folds, cross-validated.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure as wide as a column of a paper.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=2)
        >>> tuned = sed.tune(sed.simulate.scores(truth), truth, "best_collar_f1", folds=3)
        >>> len(tuned.plot().figure.legends)
        1
        """
        from ..metrics.names import metric_name
        from ..plots.values import OVERALL, plot_values

        together: dict[str, Tuning | ClassTuning] = {**self.per_class, OVERALL: self}
        series = {
            "tuned on these clips": {row: (of.value, np.nan, np.nan) for row, of in together.items()}
        }
        if self.cross_validated is not None:
            series["cross-validated"] = {
                row: (expected.value, expected.low, expected.high)
                for row, of in together.items()
                if (expected := of.cross_validated) is not None
            }
        return plot_values(series, metric_name(self.metric), ax)

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        def numbers(tuned: Tuning | ClassTuning) -> list[str]:
            value, expected = number_or_blank(tuned.value, f".{digits}f"), tuned.cross_validated
            return [value] if expected is None else [value, value_cell(expected.value, expected, digits)]

        rows = [
            [
                label,
                "" if tuned.postprocessing is None else repr(tuned.postprocessing),
                number_or_blank(tuned.threshold, ".4g"),
                *numbers(tuned),
            ]
            for label, tuned in self.per_class.items()
        ]
        header = ["class", "post-processing", "threshold", "value", "cross-validated"]
        last = ["overall", "", "", *numbers(self)]
        title = repr(self) if form == "html" else ""
        table = Table(header[: len(last)], rows, last, names=2, title=title, by_class=True)
        lines = [definition("value", repr(self.metric)), *self._about_folds()]
        return [table, [*lines, *((Name(note),) for note in self.notes)]]

    def _about_folds(self) -> list[str]:
        """Say what the cross-validated values are, in a line."""
        if self.cross_validated is None:
            return []
        drawn = self.cross_validated.resampling.about()
        return [f"cross-validated: each fold with what is best on the others; {drawn}"]

    def _records(self) -> Records:
        columns = {"class": str, "postprocessing": str, "threshold": float}
        columns |= {"value": float, "cross_validated": float, "low": float, "high": float}

        def numbers(tuned: Tuning | ClassTuning) -> tuple[float | None, ...]:
            expected = tuned.cross_validated
            if expected is None:
                return tuned.value, None, None, None
            return tuned.value, expected.value, expected.low, expected.high

        rows: list[tuple[str | float | None, ...]] = [(None, None, None, *numbers(self))]
        for label, tuned in self.per_class.items():
            best = None if tuned.postprocessing is None else repr(tuned.postprocessing)
            rows.append((label, best, tuned.threshold, *numbers(tuned)))
        return columns, rows

    def __call__(self, scores: Scores) -> Scores:
        """Post-process the scores of each class by what is best for it."""
        return self.points.process(scores)


@dataclass(frozen=True)
class Folds:
    """How clips are split into folds, to judge a choice on clips that it was not made on.

    Parameters
    ----------
    number : int
        How many folds.
    seed : int, default 0
        The seed of the split.
    groups : mapping of clip to group, optional
        The clips of a group, e.g. of a recording site, stay in one fold.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> best = sed.BestFScore(sed.Collar())
    >>> tuned = sed.tune(sed.simulate.scores(truth), truth, best, folds=sed.Folds(5, seed=1))
    >>> tuned.cross_validated.value < tuned.value
    True
    """

    number: int
    seed: int = 0
    groups: Mapping[str, Hashable] | None = None


def tune(
    scores: SystemLike,
    truth: TruthLike,
    metric: MetricLike,
    postprocessing: PostProcessing | Iterable[PostProcessing] | str = (),
    *,
    folds: Folds | int | None = None,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Tuning:
    """Choose the post-processing of each class, and its threshold if the metric has one.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`.
    metric : Metric or str
        What should be best.
    postprocessing : post-processing, iterable of them, or str
        What to choose from: a list, or a sweep as text. Of equally good ones, the first is taken.
        Without any, only thresholds are chosen.
    folds : int or Folds, optional
        Also judge the choice on clips that it was not made on: split the clips into this many folds, and
        judge each fold with what is best on the others. :class:`~sedscope.Folds` has a seed, and keeps
        groups of clips together. The interval is the default of :class:`~sedscope.Resampling`.
    classes, clips, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    run : Run, optional
        How the pass runs. The progress covers the clips, then the
        post-processings with each fold left out.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Tuning
        What is best for each class.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> best = sed.BestFScore(sed.Collar())
    >>> tuned = tune(sed.simulate.scores(truth), truth, best, "MedianFilter(0|0.2|0.5)", folds=5)
    >>> tuned.per_class["Speech"].postprocessing
    MedianFilter(seconds=0.2)
    >>> tuned.cross_validated
    <Bootstrap: 0.5561 (0.4673–0.6443)>
    """
    metric = as_metric(metric)
    candidates = as_postprocessings(postprocessing)
    scores, truth = as_scores(scores, truth, classes, coverage, reading)
    _check_metric(metric, scores, candidates)
    run = Run._of(run, "Tuning", "engine", "scheduler", "checkpoint")
    candidates = _checked_candidates(candidates, metric)
    split = folds if folds is None or isinstance(folds, Folds) else Folds(folds)
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    sample = TimeSample(alignment)
    held_out = fold_clips(alignment.clips, split)
    passes, settings = len(alignment.clips), len(candidates) * len(held_out)
    steps = StagedProgress(run._steps, passes + settings)
    of_passes = steps.stage(passes)
    with run._open_engine() as opened:
        if folds is None:
            every_clip = (~held_out).astype(np.int32)
            by_criterion = find_deltas_for_weights(
                sample.alignment, [metric], every_clip, opened, of_passes, variants=candidates
            )
        else:  # a fold with its own candidate reads further down than all clips with one candidate
            request = DeltaRequest(variants=candidates)
            by_criterion = find_deltas(sample.alignment, {metric.criterion: request}, opened, of_passes)
    issue_warnings(input_notes(alignment, by_criterion, sample), 2)
    deltas = by_criterion[metric.criterion]
    if not len(deltas.tables.references.labels):
        raise SedscopeError("No class has reference events, so nothing can be tuned.")
    threads, stage = thread_count(run.threads), steps.stage(settings)
    grid = _Grid(metric, candidates, deltas, held_out, split, threads, stage)
    return grid.tuning()


class _Grid:
    """The values of all candidates, for all clips and for the clips outside each fold."""

    def __init__(
        self,
        metric: Metric[Any],
        candidates: Sequence[PostProcessing],
        deltas: Deltas,
        held_out: NDArray[np.bool_],
        split: Folds | None,
        threads: int,
        progress: Progress | None,
    ) -> None:
        """``held_out``: ((1 + folds) × clips) nothing in the first row, then the clips of each fold."""
        self.metric = metric
        self.candidates = candidates
        self.deltas = [deltas.variants[candidate] for candidate in candidates]
        self.classes, self.clips = deltas.classes, deltas.clips
        self.threads = threads
        self.split = split
        self.held_out = held_out.astype(np.int32)
        self.tuned_on = (~held_out).astype(np.int32)
        values = []
        for of_candidate in self.deltas:
            values.append(ResampledMetric(of_candidate, metric, self.tuned_on, threads)(self.tuned_on))
            if progress:
                progress(len(values), len(candidates))
        self.values = np.stack(values)[:, :, 1:]  # (candidates × (1 + folds) × classes)
        goodness = self.values if metric.higher_is_better else -self.values
        goodness = np.where(np.isnan(goodness), -np.inf, goodness)
        self.best = np.argmin(
            exceed(goodness.max(axis=0), goodness), axis=0
        )  # the first that none exceeds

    def tuning(self) -> Tuning:
        """Return the best choice, and what it gives."""
        result = self.metric.measure(self._chosen(0).counts(threads=self.threads))
        validated = None if self.split is None else self._cross_validated(self.split)
        per_class = {}
        for c, label in enumerate(self.classes):
            defined = not np.isnan(self.values[:, 0, c]).all()
            per_class[label] = ClassTuning(
                value=result.per_class[label].value,
                postprocessing=self.candidates[self.best[0, c]] if defined else None,
                threshold=result.thresholds.get(label),
                values=dict(zip(self.candidates, self.values[:, 0, c].tolist(), strict=True)),
                cross_validated=None if validated is None else validated.per_class[label],
            )
        judged = {"value": f"{result.value:.6g}"}
        if self.split is not None and validated is not None:
            judged |= {
                "folds": f"{self.split.number} (seed {self.split.seed})",
                "cross_validated": f"{validated.value:.6g}",
            }
        return Tuning(
            metric=self.metric,
            value=result.value,
            cross_validated=validated,
            per_class=per_class,
            points=self._points(per_class, judged),
            clips=self.clips,
            notes=tuple(self._notes(per_class)),
        )

    def _chosen(self, row: int) -> Deltas:
        """Return the deltas of each class with the candidate that is best for a row of the values."""
        choice = np.broadcast_to(self.best[row][:, None], (len(self.classes), len(self.clips)))
        return combine(self.deltas, choice)

    def _cross_validated(self, split: Folds) -> Bootstrap:
        """Measure the metric on clips that the classes were not tuned on: each fold with what is best on
        the others."""
        draws = Draws(Resampling(seed=split.seed, groups=split.groups), self.clips)
        if not self.metric.has_thresholds:
            fold_of_clip = self.held_out.argmax(axis=0)
            of_clips = combine(self.deltas, self.best[fold_of_clip].T)
            values = ResampledMetric(of_clips, self.metric, draws.weights, self.threads)(draws.weights)
            return draws.summary(self.classes, values, Behaviour.of(self.metric))
        of_folds = (self._chosen(row) for row in range(1, len(self.held_out)))
        held_out = self.held_out[1:] > 0
        return held_out_interval(self.metric, of_folds, held_out, draws, self.threads)

    def _points(
        self, per_class: Mapping[str, ClassTuning], judgement: Mapping[str, str]
    ) -> OperatingPoints:
        from .. import __version__

        durations = self.deltas[0].durations
        return OperatingPoints(
            thresholds={
                label: tuned.threshold
                for label, tuned in per_class.items()
                if tuned.threshold is not None
            },
            postprocessing={
                label: tuned.postprocessing
                for label, tuned in per_class.items()
                if tuned.postprocessing not in (None, AS_THEY_ARE)
            },
            provenance={
                "sedscope": __version__,
                "metric": repr(self.metric),
                "chosen_from": counted(len(self.candidates), "post-processing"),
                **judgement,
                "clips": str(len(self.clips)),
                "clips_sha256": clip_list_digest(self.clips),
                "hours": f"{int(durations.sum()) / 3.6e9:.4f}",
            },
        )

    def _notes(self, per_class: Mapping[str, ClassTuning]) -> Iterable[str]:
        empty = [label for label, tuned in per_class.items() if tuned.postprocessing is None]
        if empty:
            yield f"Classes without reference events were not tuned: {listing(empty)}."
        unmet = [
            label
            for label, tuned in per_class.items()
            if tuned.postprocessing is not None and tuned.threshold is None
        ]
        if unmet and self.metric.has_thresholds:
            yield f"No threshold meets the constraint, so these are never detected: {listing(unmet)}."
        note = self.metric.tuning_note()
        if note is not None:
            yield note
        partly_empty = [
            label
            for c, label in enumerate(self.classes)
            if per_class[label].postprocessing is not None
            and np.isnan(self.values[:, 1:, c]).all(axis=0).any()
        ]
        if partly_empty:
            yield (
                "Classes without reference events outside some fold were not tuned there: "
                f"{listing(partly_empty)}."
            )


def _check_metric(metric: Metric[Any], scores: Scores, candidates: Sequence[PostProcessing]) -> None:
    if metric.criterion.values_queries and not any(candidate.makes_events for candidate in candidates):
        timed = metric.criterion.latency_threshold is not None
        has = "states its threshold" if timed else "is a metric of queries, which has no threshold"
        raise SedscopeError(f"{metric!r} {has}, so there is nothing to tune. {_THRESHOLD_ADVICE}")
    if scores.holds_events and not (metric.has_thresholds or candidates):
        raise SedscopeError(
            f"{metric!r} is measured over all thresholds, and scored events are kept as they are, so there "
            f"is nothing to tune. {_THRESHOLD_ADVICE}"
        )
    if metric.variants:
        raise SedscopeError(
            f"{metric!r} takes the best of its post-processings already, so there is nothing to tune."
        )
    if metric.pools_classes:
        raise SedscopeError(
            f"{metric!r} judges all classes together at one threshold, so no class can be tuned by itself. "
            f"Use {metric.per_class_metric()!r}, for example."
        )


def _checked_candidates(
    candidates: tuple[PostProcessing, ...], metric: Metric[Any]
) -> tuple[PostProcessing, ...]:
    if not candidates and not metric.has_thresholds:
        raise SedscopeError(
            f"{metric!r} is measured over all thresholds: give post-processings to choose from "
            "(`postprocessing=`)."
        )
    making = [candidate for candidate in candidates if candidate.makes_events]
    if making and len(making) < len(candidates):
        raise SedscopeError(
            f"{making[0]} turns scores into points in time, but other post-processings do not. All classes "
            "must be of one kind, so tune each kind by itself."
        )
    return candidates or (AS_THEY_ARE,)


def fold_clips(clips: Sequence[str], folds: Folds | None) -> NDArray[np.bool_]:
    """Return ((1 + folds) × clips): nothing in the first row, then the clips of each fold."""
    nothing = np.zeros((1, len(clips)), bool)
    if folds is None:
        return nothing
    units = Resampling(seed=folds.seed, groups=folds.groups).units(clips)
    number = int(units.max(initial=-1)) + 1
    try:
        fold_count = operator.index(folds.number)
    except TypeError:
        raise SedscopeError(f"folds={folds.number!r} must be a whole number.") from None
    if not 2 <= fold_count <= number:
        unit = "clips" if folds.groups is None else "groups"
        raise SedscopeError(
            f"folds={folds.number} must be at least 2 and at most the number of {unit}: {number}."
        )
    return np.concatenate([nothing, fold_masks(units, fold_count, folds.seed)])


def fit_score_maps(
    scores: Scores, truth: GroundTruth, *, clips: ClipChoice, missing: Missing
) -> dict[str, ScoreMap]:
    """Fit one map per class, which makes the scores during its reference events uniform on [0, 1].

    The map of a class without reference events has no knots.
    """
    alignment = align(scores, truth, clips=clips, missing=missing).counted()
    values: list[ScoreArray] = []
    weights: list[IntArray] = []
    failures: list[SedscopeError] = []
    for loaded in read_clips(scores, alignment.clips, thread_count(None)):
        if isinstance(loaded, RecordingOpened):
            raise whole_clip_error(alignment.clips[loaded.number])
        if isinstance(loaded, EventsRead):
            raise kept_events_error(alignment.clips[loaded.first])
        failures += loaded.failures
        for number, clip in enumerate(loaded.scores, loaded.first):
            refuse_nans(alignment.clips[number], clip, scores.classes)
            events = slice(*alignment.starts[number : number + 2])
            values.append(clip.values)
            weights.append(_reference_time(clip, alignment.events[events], alignment.labels[events]))
    raise_together(failures)
    maps: dict[str, ScoreMap] = {}
    for column, label in enumerate(scores.classes):
        class_scores = np.concatenate([array[:, column].astype(np.float64) for array in values])
        maps[label] = ScoreMap.fit(class_scores, np.concatenate([array[:, column] for array in weights]))
    return maps


def _reference_time(clip: ClipScores, events: IntArray, labels: NDArray[np.int32]) -> IntArray:
    """Return (frames × classes) the time that each frame shares with reference events."""
    shared = np.zeros(clip.values.shape, np.int64)
    for (onset, offset), label in zip(events.tolist(), labels.tolist(), strict=True):
        ends = np.clip(clip.ticks, onset, offset)
        shared[:, label] += ends[1:] - ends[:-1]
    return shared
