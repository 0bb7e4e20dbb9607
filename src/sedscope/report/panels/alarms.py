"""Alarms: how soon references get one, and at which times of long recordings false ones come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...counting.clip_reader import thread_count
from ...criteria import Criterion
from ...criteria.alarm_latency import raises_alarms
from ...data.arrays import FloatArray
from ...data.times import TICKS_PER_SECOND, Ticks
from ...diagnosis.alarm_latencies import ClassLatencies, aligned_latencies
from ...diagnosis.judging import NOT_FALSE, TYPES, ClassThresholds, judged_clips
from ...engines.run import Run
from ..packing import visible_vertices
from ..schema import PanelData
from ..source import Panel, PanelContent, ReportSource

_HOUR = 3600 * TICKS_PER_SECOND
_LONG = 2  # hours of a recording whose false alarms are drawn over time
_FALSE = [i for i, (_, name) in enumerate(TYPES) if name not in (None, *NOT_FALSE)]


@dataclass(frozen=True)
class LatencyCurve:
    """The share of references that have an alarm so many seconds after their onset."""

    seconds: Sequence[float]
    shares: Sequence[float]


@dataclass(frozen=True)
class SystemAlarms:
    """The alarms of one system, at its operating points, or else at the best F1 of each class."""

    overall: LatencyCurve | None
    classes: Sequence[LatencyCurve | None]
    """One for each detailed class; None without references that are found."""
    false_alarms: Sequence[Sequence[float]]
    """For each detailed class, by hour since the beginning of a recording, the false alarms per hour."""


@dataclass(frozen=True)
class AlarmsData(PanelData):
    """The alarms of each system."""

    criterion: str
    has_latencies: bool
    hours: Sequence[int]
    """The hours since the beginning of a recording, and their end; none without long recordings."""
    systems: Sequence[SystemAlarms]


def build(source: ReportSource) -> PanelContent | None:
    """Build the curves; nothing without alarms and long recordings, or without a criterion that judges."""
    if source.systems[0].alignment is None or not source.judging_criteria:
        return None
    alarms = [criterion for criterion in source.judging_criteria if raises_alarms(criterion)]
    criterion = (alarms or source.judging_criteria)[0]
    parts = [_false_alarms(source, s, criterion) for s in range(len(source.systems))]
    recorded, _ = parts[0]
    if not alarms and not len(recorded):
        return None
    systems = []
    for s, (_, rates) in enumerate(parts):
        overall, classes = _latencies(source, s, criterion) if alarms else (None, [])
        systems.append(SystemAlarms(overall, classes, rates.tolist()))
    hours = [*range(len(recorded) + 1)] if len(recorded) else []
    return PanelContent(AlarmsData(repr(criterion), bool(alarms), hours, systems))


def _thresholds(source: ReportSource, s: int, criterion: Criterion) -> Mapping[str, float]:
    """Return the thresholds at which the sliders of a system start."""
    of_points = source.systems[s].thresholds
    if of_points:
        return {label: of_points.get(label, np.inf) for label in source.detailed}
    counts = source.at_positions[s][criterion]
    return {
        label: float(source.thresholds[label][int(np.argmax(np.nan_to_num(table.tally().fscore())))])
        for label, table in counts.items()
    }


def _latencies(
    source: ReportSource, s: int, criterion: Criterion
) -> tuple[LatencyCurve | None, list[LatencyCurve | None]]:
    """Return the curve of all classes together, and those of the detailed ones."""
    alignment = source.systems[s].alignment
    assert alignment is not None
    thresholds = _thresholds(source, s, criterion)
    latencies = aligned_latencies(alignment, criterion, thresholds, Run(source.threads))
    return _curve(latencies.overall), [_curve(latencies[label]) for label in source.detailed]


def _curve(latencies: ClassLatencies) -> LatencyCurve | None:
    """Return the visible vertices of a curve, which rises by each reference that is found."""
    seconds = latencies.latencies
    if not len(seconds):
        return None
    shares = np.arange(1, len(seconds) + 1) / latencies.references
    width = max(float(seconds[-1] - seconds[0]), 1e-9)
    rows = visible_vertices((seconds - seconds[0]) / width, shares)
    return LatencyCurve(seconds[rows].tolist(), shares[rows].tolist())


def _false_alarms(source: ReportSource, s: int, criterion: Criterion) -> tuple[FloatArray, FloatArray]:
    """Return how many hours were recorded in each hour since the beginning of a recording, and the false
    alarms per hour then, as (classes × hours); nothing without long recordings."""
    alignment = source.systems[s].alignment
    assert alignment is not None
    durations = source.systems[s].deltas[criterion].durations
    longest = int(durations.max(initial=0))
    if longest < _LONG * _HOUR:
        return np.empty(0), np.empty((len(source.detailed), 0))
    workers = thread_count(source.threads)
    points = ClassThresholds.of(
        criterion, alignment.classes, _thresholds(source, s, criterion), single=True
    )
    columns = {alignment.classes.index(label): k for k, label in enumerate(source.detailed)}
    onsets: list[list[Ticks]] = [[] for _ in columns]
    for checked in judged_clips(alignment, [criterion], workers, None):
        judge = points.judge(checked.batch, workers)
        for clip in range(len(checked.batch.durations)):
            for c, k in columns.items():
                judged = judge(clip, c)
                onsets[k].append(judged.detections[np.isin(judged.detection_types, _FALSE), 0])
    edges = np.arange(-(-longest // _HOUR) + 1, dtype=np.int64) * _HOUR
    recorded = np.clip(durations[:, None] - edges[:-1], 0, _HOUR).sum(axis=0) / _HOUR
    numbers = [
        np.histogram(np.concatenate([*times, np.empty(0, np.int64)]), edges)[0] for times in onsets
    ]
    return recorded, np.array(numbers) / recorded


PANEL = Panel("alarms", "Alarms over time", build)
