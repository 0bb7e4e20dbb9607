"""Alarms: how soon references get one, and at which times of long recordings false ones come."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...counting.clip_reader import thread_count
from ...criteria import Criterion
from ...criteria.alarm import raises_alarms
from ...data.arrays import FloatArray
from ...data.times import TICKS_PER_SECOND, Ticks
from ...diagnosis.alarm_latencies import ClassLatencies, aligned_latencies
from ...diagnosis.judging import NOT_FALSE, TYPES, ClassThresholds, judged_clips
from ...engines.run import Run
from ..packing import visible_vertices
from ..source import Data, Panel, PanelContent, ReportSource

_HOUR = 3600 * TICKS_PER_SECOND
_LONG = 2  # hours of a recording whose false alarms are drawn over time
_FALSE = [i for i, (_, name) in enumerate(TYPES) if name not in (None, *NOT_FALSE)]


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
        overall, classes = None, []
        alignment = source.systems[s].alignment
        if alarms and alignment is not None:
            thresholds = _thresholds(source, s, criterion)
            latencies = aligned_latencies(alignment, criterion, thresholds, Run(source.threads))
            overall = _curve(latencies.overall)
            classes = [_curve(latencies[label]) for label in source.detailed]
        systems.append({"overall": overall, "classes": classes, "false_alarms": rates.tolist()})
    return {
        "criterion": repr(criterion),
        "has_latencies": bool(alarms),
        "hours": [*range(len(recorded) + 1)] if len(recorded) else [],
        "systems": systems,
    }, ()


def _thresholds(source: ReportSource, s: int, criterion: Criterion) -> Mapping[str, float]:
    """Return the thresholds at which the sliders of a system start: its points, or the best F1."""
    of_points = source.systems[s].thresholds
    if of_points:
        return {label: of_points.get(label, np.inf) for label in source.detailed}
    counts = source.at_positions[s][criterion]
    return {
        label: float(source.thresholds[label][int(np.argmax(np.nan_to_num(table.tally().fscore())))])
        for label, table in counts.items()
    }


def _curve(latencies: ClassLatencies) -> Data | None:
    """Return the visible vertices of a curve, which rises by each reference that is found."""
    seconds = latencies.latencies
    if not len(seconds):
        return None
    shares = np.arange(1, len(seconds) + 1) / latencies.references
    width = max(float(seconds[-1] - seconds[0]), 1e-9)
    rows = visible_vertices((seconds - seconds[0]) / width, shares)
    return {"seconds": seconds[rows].tolist(), "shares": shares[rows].tolist()}


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
