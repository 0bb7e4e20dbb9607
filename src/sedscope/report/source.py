"""What the panels of a report are built from, and what a panel is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..counting.counts import Counts
from ..counting.tally import most_false_positives
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..ranking.comparison_result import Comparison
from .clip_selection import ClipSelection, select_clips
from .slider_positions import RATES, class_thresholds, reaches, shared_thresholds
from .systems import System

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
