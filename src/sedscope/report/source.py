"""What the panels of a report are built from, the clips that a reader can browse, and what a panel is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..alignment.alignment import Alignment
from ..counting.counts import Counts
from ..counting.deltas import Deltas
from ..counting.tally import most_false_positives
from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray
from ..data.clips import clip_id
from ..errors import SedscopeError, counted, listing
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..ranking.comparison_result import Comparison
from .slider_positions import RATES, class_thresholds, reaches, shared_thresholds
from .systems import System

_GOOD_SHARE = 6  # one clip in six has no errors, if there are any such clips


@dataclass(frozen=True, eq=False)
class ClipSelection:
    """The clips to browse."""

    clips: Sequence[int]
    """Their indices in the alignment, in the order of the page."""
    thresholds: Mapping[str, float]
    """For each detailed class the threshold of the best F-score, the lowest of all systems."""


def select_clips(
    systems: Sequence[System], at_positions: Sequence[Counts], clips_shown: int | Iterable[str]
) -> ClipSelection:
    """Rank the clips by their errors at the best F-score of each class, and select some.

    Of every class, the clip with the most errors is among them if there is room.

    ``at_positions`` holds the counts of each system at the slider positions, by one criterion.
    """
    alignment = systems[0].alignment
    assert alignment is not None
    best = [_best_thresholds(counts) for counts in at_positions]
    errors = np.zeros(len(alignment.clips), np.int64)
    worst = []
    for system, counts, thresholds in zip(systems, at_positions, best, strict=True):
        for of_class in class_errors(system.deltas[counts.criterion], thresholds):
            errors += of_class.sum(axis=1)
            if of_class.any():
                worst.append(int(np.argmax(of_class.sum(axis=1))))
    return ClipSelection(
        clips=choose_clips(alignment, errors, clips_shown, worst),
        thresholds={label: min(thresholds[label] for thresholds in best) for label in best[0]},
    )


def _best_thresholds(counts: Counts) -> dict[str, float]:
    """Return, for each class, the slider position with the best F-score.

    A class without references gets the first position, where nothing is detected.
    """
    thresholds = {}
    for label, table in counts.items():
        fscores = np.nan_to_num(table.tally().fscore()[1:], nan=-1.0)
        thresholds[label] = float(table.scores[int(np.argmax(fscores))]) if len(fscores) else np.inf
    return thresholds


def class_errors(deltas: Deltas, thresholds: Mapping[str, float]) -> Iterator[IntArray]:
    """Return the false positives and the missed references of each class, or their time, as (clips × 2).

    Frames with ``score > thresholds[label]`` are active. Classes without a threshold are left out.
    """
    table, clips = deltas.tables.detections, deltas.tables.detections.clip_of_row()
    starts, references = table.class_starts(), deltas.tables.references
    tp_changes, fp_changes = table.columns
    for c, label in enumerate(deltas.classes):
        if label not in thresholds:
            continue
        false, missed = np.zeros((2, len(deltas.clips)), np.int64)
        rows = slice(starts[c], starts[c + 1])
        active = np.flatnonzero(table.scores[rows].astype(np.float64) > thresholds[label]) + starts[c]
        np.add.at(false, clips[active], fp_changes[active].astype(np.int64))
        np.subtract.at(missed, clips[active], tp_changes[active].astype(np.int64))
        of_class = references.labels == c
        times = references.times[of_class] if deltas.criterion.measures_time else 1
        np.add.at(missed, references.clips[of_class], times)
        yield np.stack([false, missed], axis=1)


def choose_clips(
    alignment: Alignment, errors: IntArray, clips_shown: int | Iterable[str], worst: Iterable[int]
) -> list[int]:
    """Choose the clips to browse, those with the most errors first.

    ``errors`` holds the number of errors of each clip, and ``worst`` the clip with the most errors of
    each class. ``clips_shown`` names clips or says how many to choose. Of a number, up to one in six are
    clips with references and without errors, and the worst ones are chosen before others.
    """
    numbers = np.arange(len(alignment.clips))
    by_errors = np.lexsort((numbers, -errors))
    if not isinstance(clips_shown, int):
        named = _numbers_of(alignment, clips_shown)
        return [int(i) for i in by_errors if i in named]
    if isinstance(clips_shown, bool) or clips_shown < 0:
        raise SedscopeError(
            f"clips_shown={clips_shown!r} must be a number of clips, at least 0, or a list of clips."
        )
    references = np.diff(alignment.counted().starts)
    by_references = np.lexsort((numbers, -references))
    good = [int(i) for i in by_references if errors[i] == 0 and references[i]]
    good = good[: clips_shown // _GOOD_SHARE]
    faulty = [int(i) for i in by_errors if errors[i] > 0]
    chosen = set([*dict.fromkeys([*worst, *faulty])][: clips_shown - len(good)])
    return [*(i for i in faulty if i in chosen), *good]


def _numbers_of(alignment: Alignment, names: Iterable[str]) -> set[int]:
    number = {clip: i for i, clip in enumerate(alignment.clips)}
    clips = [clip_id(name) for name in names]
    unknown = [clip for clip in clips if clip not in number]
    if unknown:
        raise SedscopeError(
            f"The report cannot show {counted(len(unknown), 'clip')} that the evaluation does not "
            f"contain: {listing(unknown)}. Check the names in clips_shown."
        )
    return {number[clip] for clip in clips}


MAX_DETAILED_CLASSES = 40


@dataclass(frozen=True, eq=False)
class ReportSource:
    """The systems of a report with everything that its panels share.

    *Detailed* classes have curves and sliders. With more than 40 classes, they are the ones with the
    most references.
    """

    systems: Sequence[System]
    comparison: Comparison | None = None
    clips_shown: int | Iterable[str] = 60
    audio: str | Path | None = None
    threads: int | None = None

    @property
    def first(self) -> Evaluation:
        """The evaluation of the first system. All share metrics, classes and clips."""
        return self.systems[0].evaluation

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """The metrics, in the order of the page."""
        return tuple(self.first)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria of the metrics, in the order of the page."""
        return tuple(self.systems[0].counts)

    @cached_property
    def judging_criteria(self) -> tuple[Criterion, ...]:
        """The criteria that decide for each single event if it is right, and what is wrong with it."""
        if self.has_overlapping_references:
            return ()
        return tuple(criterion for criterion in self.criteria if criterion.native() is not None)

    @cached_property
    def has_overlapping_references(self) -> bool:
        """Whether references of one class overlap, so that error types are not defined."""
        alignment = self.systems[0].alignment
        return alignment is not None and alignment.has_overlapping_references()

    @cached_property
    def detailed(self) -> tuple[str, ...]:
        """The detailed classes, in the order of the evaluation."""
        by_references = sorted(self.first.classes, key=lambda label: -self.first.references[label])
        chosen = set(by_references[:MAX_DETAILED_CLASSES])
        return tuple(label for label in self.first.classes if label in chosen)

    @cached_property
    def shared_thresholds(self) -> FloatArray:
        """The thresholds of the slider for all classes, decreasing."""
        tables = [
            system.counts[criterion][label]
            for label in self.detailed
            for system in self.systems
            for criterion in self.criteria
        ]
        return shared_thresholds(tables)

    @cached_property
    def thresholds(self) -> Mapping[str, FloatArray]:
        """For each detailed class the thresholds of its slider positions, decreasing.

        At position i, frames with ``score > thresholds[label][i]`` are active.
        """
        return {
            label: class_thresholds(
                [
                    system.counts[criterion][label]
                    for system in self.systems
                    for criterion in self.criteria
                ],
                self.first.hours,
                self._metric_thresholds(label),
                self.shared_thresholds,
            )
            for label in self.detailed
        }

    @cached_property
    def false_alarm_rates(self) -> Mapping[float, int]:
        """The false alarms per hour that sliders reach for every class, and how many false alarms they are;
        none if no criterion counts them.

        At other rates, the largest recall lies below the range of the page, or may lie there.
        """
        tables = [
            (counts[label], system.measured_counts[criterion][label])
            for system in self.systems
            for criterion, counts in system.counts.items()
            if not criterion.measures_time
            for label in self.detailed
        ]
        if not tables:
            return {}
        allowed = {rate: most_false_positives(rate, self.first.hours) for rate in RATES}
        return {
            rate: number
            for rate, number in allowed.items()
            if all(reaches(shown, measured, number) for shown, measured in tables)
        }

    def _metric_thresholds(self, label: str) -> list[float]:
        """Return the thresholds of a class at which metrics were measured."""
        results = (system.evaluation[metric] for system in self.systems for metric in self.metrics)
        thresholds = (result.thresholds.get(label, np.inf) for result in results)
        return [threshold for threshold in thresholds if np.isfinite(threshold)]

    @cached_property
    def at_positions(self) -> Sequence[Mapping[Criterion, Counts]]:
        """For each system, by criterion, the counts of the detailed classes at their slider positions.

        Row i of a class is its position i.
        """
        return [
            {
                criterion: replace(
                    counts,
                    per_class={
                        label: counts[label].at(thresholds)
                        for label, thresholds in self.thresholds.items()
                    },
                )
                for criterion, counts in system.counts.items()
            }
            for system in self.systems
        ]

    @cached_property
    def clip_selection(self) -> ClipSelection | None:
        """The clips to browse; None without scores."""
        if self.systems[0].alignment is None:
            return None
        criterion = (self.judging_criteria or self.criteria)[0]
        counts = [by_criterion[criterion] for by_criterion in self.at_positions]
        return select_clips(self.systems, counts, self.clips_shown)


Data: TypeAlias = dict[str, Any]
"""What the script of the page reads, by name. It becomes JSON (:func:`sedscope.report.html.as_json`)."""

PanelContent: TypeAlias = tuple[Data, Sequence[str]]
"""The data of a panel, and sentences for the list of what the page leaves out."""


@dataclass(frozen=True)
class Panel:
    """A section of the page: Python builds its data, and ``static/panels/<name>.js`` draws it."""

    name: str
    """The name of its JavaScript module, and the id of its section."""
    heading: str
    build: Callable[[ReportSource], PanelContent | None]
    """Build its content; None leaves the panel out of the page."""
