"""The data of a report: what Python hands to the template and to the script of the page.

The classes here hold what several parts of the page read. What only one panel reads is defined in the
module of that panel (`sedscope.report.panels`). :func:`as_json` turns all of them into JSON.

*Detailed classes* are those that have curves and sliders: all classes, or the ones with the most
references.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias

from ..criteria.criterion import MatchingRule

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"

Packed: TypeAlias = str
"""Whole numbers as text, see `sedscope.report.packing`."""

Limits: TypeAlias = tuple[float, float]
"""The lower and the upper end of an interval; NaN without one."""


@dataclass(frozen=True)
class PanelData:
    """The data of one panel; each panel derives a frozen dataclass from it, unless it has no data."""


@dataclass(frozen=True)
class Header:
    """The facts at the top of the page."""

    clips: int
    references: str
    """How many reference events there are, or positive segments where no events are known."""
    browsable_clips: int
    versions: Sequence[tuple[str, str]]
    """Names and versions of the software."""
    signatures: Sequence[tuple[str, str]]
    """The signature of each system, after its name."""
    warnings: Sequence[str]
    resampling: str | None
    """How the intervals were computed, if there are any."""


@dataclass(frozen=True)
class MetricEntry:
    """A metric of the report."""

    name: str
    """The short name that cards, columns and pictures carry."""
    definition: str
    thresholds: str
    """At which thresholds it was measured."""
    higher_is_better: bool
    criterion: int
    """Its criterion, as an index into :attr:`Page.criteria`."""


@dataclass(frozen=True)
class MetricValues:
    """The values of one metric for one system."""

    value: float
    interval: Limits | None
    per_class: Sequence[float]
    """One value for each class of the evaluation; NaN where it is not defined."""
    intervals: Sequence[Limits] | None


@dataclass(frozen=True)
class CriterionEntry:
    """A criterion of the report."""

    definition: str
    judges_events: bool
    """Whether it decides for each single event if it is right."""
    thresholds_frames: bool
    """Whether thresholds act on frames, so that `sedscope detect` can apply them."""
    has_cross_triggers: bool
    trials: Sequence[int | None] | None
    """For each detailed class, how many segments it judges, or how much time; None for a criterion on
    events."""
    measures_time: bool
    """Whether all its counts are microseconds."""
    references: Sequence[int]
    """For each class of the evaluation, how many events or positive segments there are to find, or their
    time."""
    distinct_scores: Sequence[Sequence[int]]
    """By system and detailed class, at how many scores the counts change."""
    one_point: Sequence[Sequence[bool]]
    """By system and detailed class, whether all detections that were counted have one score, as in an
    event list without confidences."""
    rule: MatchingRule | None
    """The rule by which ``static/judge.js`` judges the events of a clip."""


@dataclass(frozen=True)
class CountsAtPositions:
    """The counts of a class at each position of its slider."""

    tp: Packed
    fp: Packed
    ct: Packed | None
    """Cross-triggers on any class; None if there are none at any position."""


@dataclass(frozen=True)
class PointsEntry:
    """The operating points of a system, where its sliders start."""

    positions: Sequence[int]
    """Of the slider of each detailed class."""
    thresholds: Mapping[str, float]
    """As the file has them, by class. The others are never detected."""
    text: str
    """The file, as long as no slider was moved."""
    postprocessing: Mapping[str, str]
    """The definition for each class that has one."""


@dataclass(frozen=True)
class PanelEntry:
    """A panel that is on the page."""

    name: str
    heading: str
    data: PanelData


@dataclass(frozen=True)
class Page:
    """Everything that a report shows."""

    header: Header
    systems: Sequence[str]
    classes: Sequence[str]
    detailed: Sequence[int]
    """The detailed classes, as indices into ``classes``."""
    hours: float
    metrics: Sequence[MetricEntry]
    criteria: Sequence[CriterionEntry]
    values: Sequence[Sequence[MetricValues]]
    """By system and metric."""
    thresholds: Sequence[Sequence[float]]
    """For each detailed class the thresholds of its slider positions, decreasing: frames with
    ``score > thresholds[i]`` are active."""
    shared_thresholds: Sequence[float]
    """Those that every detailed class has, decreasing."""
    counts: Sequence[Sequence[Sequence[CountsAtPositions]]]
    """By system, criterion and detailed class."""
    points: Sequence[PointsEntry | None]
    """By system; None for systems that were evaluated at every threshold."""
    false_alarm_rates: Sequence[tuple[float, int]]
    """False alarms per hour that the sliders reach, and how many false alarms they are."""
    resolution: int
    """The length of an axis in the units of packed positions along it."""
    panels: Sequence[PanelEntry]
    notes: Sequence[str]
    """What the page leaves out."""


def as_json(value: object) -> JSON:
    """Convert a value to JSON: a dataclass becomes an object, NaN null, an infinity text.

    >>> as_json(MetricValues(0.5, None, [float("nan"), float("inf")], None))
    {'value': 0.5, 'interval': None, 'per_class': [None, 'inf'], 'intervals': None}
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [as_json(item) for item in value]
    raise TypeError(f"a report cannot hold a {type(value).__name__}")
