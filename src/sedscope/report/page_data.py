"""Everything that a report shows, as one value that JSON can hold."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..counting.counts import ClassCounts, Counts
from ..criteria import Collar, Criterion, Intersection, IoU
from ..data.cached_scores import CachedScores
from ..data.times import to_ticks
from ..diagnosis.diagnose import ClassDiagnosis, diagnose_aligned
from ..diagnosis.error_types import CAUSES
from ..diagnosis.error_types import DETECTION_TYPES as DETECTION_BINS
from ..diagnosis.error_types import REFERENCE_TYPES as REFERENCE_BINS
from ..evaluation.comparison_result import Comparison
from ..evaluation.result import Evaluation
from ..metrics import PSDS, Metric
from ..resampling.intervals import Bootstrap, Interval
from .clips import choose_clips, clip_costs, describe_clip, find_audio
from .crossings import as_json, cells
from .curves import FINE, counts_curve, roc_curves, score_range
from .packing import differences, number, rounded, rows_of_whole_numbers, whole_numbers
from .slider_positions import Thresholds, class_stops, common_stops
from .systems import System, as_systems

DETAILED_CLASSES = 40
AUDIO_ROOM = 30 * 2**20  # bytes
_EVENT_CRITERIA = (Intersection, Collar, IoU)


def gather(
    evaluations: Mapping[str, Evaluation],
    *,
    comparison: Comparison | None = None,
    clips_shown: int | Iterable[str] = 60,
    audio: str | Path | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """What the page is told."""
    systems = as_systems(evaluations, threads)
    first = systems[0].evaluation
    metrics, criteria = tuple(first), tuple(first.counts)
    shown = _detailed(first)
    tables = {
        label: [system.counts[criterion][label] for system in systems for criterion in criteria]
        for label in shown
    }
    common = common_stops([table for of_class in tables.values() for table in of_class])
    given = _given_thresholds(systems, metrics)
    stops = [class_stops(tables[label], first.hours, given[label], common) for label in shown]
    notes = _left_out(systems, shown)
    clips, names, crossings = _clips(systems, criteria, shown, stops, clips_shown)
    if audio is not None:
        found, missing = find_audio(audio, [clip["name"] for clip in clips], AUDIO_ROOM)
        notes += missing
        for clip in clips:
            clip["audio"] = found.get(clip["name"])
    return {
        "header": _header(systems),
        "systems": [system.name for system in systems],
        "classes": list(first.classes),
        "references": [first.references[label] for label in first.classes],
        "shown": [first.classes.index(label) for label in shown],
        "hours": first.hours,
        "fine": FINE,
        "metrics": [_metric(metric, criteria) for metric in metrics],
        "criteria": [_criterion(criterion, systems, shown) for criterion in criteria],
        "values": [[_values(system.evaluation, metric) for metric in metrics] for system in systems],
        "differences": None if comparison is None else _differences(comparison),
        "stops": [[number(stop) for stop in of_class.tolist()] for of_class in stops],
        "common": [number(stop) for stop in common.tolist()],
        "counts": [_at_stops(system, criteria, shown, stops, threads) for system in systems],
        "causes": CAUSES,
        "reference_bins": REFERENCE_BINS,
        "detection_bins": DETECTION_BINS,
        "curves": [
            [_curves(system.counts[criterion], shown) for criterion in criteria] for system in systems
        ],
        "rocs": [
            [
                roc_curves(
                    metric,
                    system.evaluation[metric],
                    system.counts[metric.criterion],
                    shown,
                    stops,
                )
                if isinstance(metric, PSDS)
                else None
                for metric in metrics
            ]
            for system in systems
        ],
        "cells": crossings,
        "clips": clips,
        "clip_names": names,
        "notes": notes,
    }


def _detailed(evaluation: Evaluation) -> list[str]:
    """The classes with curves and sliders: all, or those with the most references."""
    classes = evaluation.classes
    if len(classes) <= DETAILED_CLASSES:
        return list(classes)
    by_size = sorted(classes, key=lambda label: -evaluation.references[label])
    chosen = set(by_size[:DETAILED_CLASSES])
    return [label for label in classes if label in chosen]


def _left_out(systems: Sequence[System], shown: Sequence[str]) -> list[str]:
    notes = []
    classes = systems[0].evaluation.classes
    if len(shown) < len(classes):
        notes.append(
            f"curves, sliders, matrix and errors are of the {len(shown)} classes with most references "
            f"out of {len(classes)}; choose others with classes= (--classes)"
        )
    tables = [
        counts[label] for system in systems for counts in system.counts.values() for label in shown
    ]
    if systems[0].best:
        notes.append(
            "sliders and curves go as far down as a better F-score could be found, and further, to "
            "where false alarms are more than ten times the references and a hundred per hour"
        )
    elif any(np.isfinite(table.floor) for table in tables):
        notes.append(
            "the set is large: counts go only as far down as the metrics look, and so do the sliders, "
            "curves and best F-scores"
        )
    if any(table.given for table in tables):
        notes.append("the system is a set of detections at some thresholds: nothing is known in between")
    if systems[0].alignment is None:
        notes.append("clips and where errors come from are shown for scores, not for sets of detections")
    return notes


def _header(systems: Sequence[System]) -> dict[str, Any]:
    from .. import __version__

    first = systems[0].evaluation
    inputs = []
    for system in systems:
        if system.alignment is not None and isinstance(system.alignment.scores, CachedScores):
            digest = system.alignment.scores.digest(system.alignment.clips)
            inputs.append([f"scores of {system.name}", digest])
    if systems[0].alignment is not None:
        inputs.append(["ground truth", systems[0].alignment.truth_digest()])
    return {
        "clips": first.clips,
        "hours": first.hours,
        "versions": [
            ["sedscope", __version__],
            ["Python", platform.python_version()],
            ["numpy", np.__version__],
        ],
        "inputs": inputs,
        "warnings": list(
            dict.fromkeys(note for system in systems for note in system.evaluation.warnings)
        ),
        "resampling": next((one.resampling.about() for one in first.intervals.values()), None),
    }


def _given_thresholds(
    systems: Sequence[System], metrics: Sequence[Metric[Any]]
) -> dict[str, list[float]]:
    """Thresholds that belong to values of the metrics, by class."""
    given: dict[str, list[float]] = {label: [] for label in systems[0].evaluation.classes}
    for system in systems:
        for metric in metrics:
            for label, threshold in getattr(system.evaluation[metric], "thresholds", {}).items():
                if np.isfinite(threshold):
                    given[label].append(threshold)
    return given


def _metric(metric: Metric[Any], criteria: Sequence[Criterion]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "definition": repr(metric),
        "criterion": criteria.index(metric.criterion),
        "higher_is_better": bool(metric.higher_is_better),
    }
    if isinstance(metric, PSDS):
        described |= {"max_efpr": metric.max_efpr, "unit": metric.unit}
    return described


def _criterion(criterion: Criterion, systems: Sequence[System], shown: Sequence[str]) -> dict[str, Any]:
    counts = systems[0].counts[criterion]
    some = counts[shown[0]]
    described: dict[str, Any] = {
        "definition": repr(criterion),
        "events": isinstance(criterion, _EVENT_CRITERIA),
        "trials": some.trials,
        "references": [counts[label].references for label in shown],
        "frames": getattr(criterion, "aggregation", "max") == "max",
        "crosses": any(len(counts[label].cross_rows) for label in shown),
        "given": some.given,
        "thresholds": [[len(s.counts[criterion][label].scores) for label in shown] for s in systems],
    }
    if isinstance(criterion, Intersection):
        described["rule"] = {
            "kind": "intersection",
            "dtc": criterion.dtc,
            "gtc": criterion.gtc,
            "cttc": criterion.cttc,
        }
    elif isinstance(criterion, Collar):
        described["rule"] = {
            "kind": "collar",
            "cross_triggers": criterion.cross_triggers,
            "onset": None if criterion.onset is None else int(to_ticks(criterion.onset)),
            "offset": None if criterion.offset is None else int(to_ticks(criterion.offset)),
            "offset_rate": criterion.offset_rate,
        }
    elif isinstance(criterion, IoU):
        described["rule"] = {
            "kind": "iou",
            "threshold": criterion.threshold,
            "cross_triggers": criterion.cross_triggers,
        }
    return described


def _values(evaluation: Evaluation, metric: Metric[Any]) -> dict[str, Any]:
    """With intervals, if there are any: then the values are theirs, of all runs of the system."""
    intervals = evaluation.intervals.get(metric)
    result = evaluation[metric] if intervals is None else intervals
    return {
        "value": rounded(result.value, 10),
        "interval": _limits(intervals),
        "per_class": [rounded(result.per_class[label].value, 10) for label in evaluation.classes],
        "intervals": _class_limits(evaluation, intervals),
    }


def _class_limits(evaluation: Evaluation, intervals: Bootstrap | None) -> list[Any] | None:
    if intervals is None:
        return None
    return [_limits(intervals.per_class[label]) for label in evaluation.classes]


def _limits(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [rounded(interval.low), rounded(interval.high)]


def _differences(comparison: Comparison) -> list[Any]:
    """By metric, the differences of each pair of systems."""

    def told(difference: Any) -> list[Any]:
        numbers = (difference.value, difference.low, difference.high, difference.p)
        return [*(rounded(one) for one in numbers), difference.verdict]

    return [
        [
            {
                "pair": [comparison.systems.index(one), comparison.systems.index(other)],
                "overall": told(found),
                "p_corrected": rounded(found.p_corrected),
                "per_class": [told(found.per_class[label]) for label in comparison.classes],
            }
            for (one, other), found in comparison.differences[metric].items()
        ]
        for metric in comparison.metrics
    ]


def _at_stops(
    system: System,
    criteria: Sequence[Criterion],
    shown: Sequence[str],
    stops: Sequence[Thresholds],
    threads: int | None,
) -> list[list[dict[str, Any]]]:
    """By criterion and class the counts at its stops, and where the errors come from if they are of
    events."""
    found = {
        criterion: [
            _class_at_stops(system.counts[criterion][label], of_class, shown)
            for label, of_class in zip(shown, stops, strict=True)
        ]
        for criterion in criteria
    }
    judging = [criterion for criterion in criteria if isinstance(criterion, _EVENT_CRITERIA)]
    if system.alignment is not None and judging:
        thresholds = dict(zip(shown, stops, strict=True))
        diagnoses = diagnose_aligned(system.alignment, judging, thresholds, threads=threads)
        for diagnosis in diagnoses:
            for label, of_class in zip(shown, found[diagnosis.criterion], strict=True):
                of_class["bins"] = _bins(diagnosis[label])
    return list(found.values())


def _bins(diagnosis: ClassDiagnosis) -> list[list[str]]:
    """Per bin of references, and per bin of detections, how many there are at each stop."""
    rows = [
        *(diagnosis.references[name] for name in REFERENCE_BINS),
        *(diagnosis.detections[name] for name in DETECTION_BINS),
    ]
    texts = rows_of_whole_numbers(np.diff(rows, prepend=0))
    return [texts[: len(REFERENCE_BINS)], texts[len(REFERENCE_BINS) :]]


def _class_at_stops(table: ClassCounts, stops: Thresholds, shown: Sequence[str]) -> dict[str, Any]:
    at = table.at(stops)
    found: dict[str, Any] = {"tp": differences(at.tp), "fp": differences(at.fp)}
    if len(at.cross_labels):
        crossed, rows = np.unique(at.cross_labels, return_inverse=True)
        changes = np.zeros((len(crossed), len(stops)), np.int64)
        np.add.at(changes, (rows, at.cross_rows), at.cross_changes)
        position = {label: k for k, label in enumerate(shown)}
        on_others = {
            str(position[at.classes[m]]): text
            for m, text in zip(crossed.tolist(), rows_of_whole_numbers(changes), strict=True)
            if at.classes[m] in position
        }
        found |= {"ct": on_others, "crossed": whole_numbers(changes.sum(axis=0))}
    return found


def _curves(counts: Counts, shown: Sequence[str]) -> dict[str, Any]:
    span = score_range(counts)
    return {"span": list(span), "classes": [counts_curve(counts[label], span) for label in shown]}


def _clips(
    systems: Sequence[System],
    criteria: Sequence[Criterion],
    shown: Sequence[str],
    stops: Sequence[Thresholds],
    clips_shown: int | Iterable[str],
) -> tuple[list[dict[str, Any]], list[str], list[list[dict[str, Any]]]]:
    """Clips to browse, names of clips, and the clips of the matrix's cells by system and criterion."""
    alignment = systems[0].alignment
    if alignment is None:
        return [], [], [[{} for _ in criteria] for _ in systems]
    judged = next((c for c in criteria if isinstance(c, _EVENT_CRITERIA)), criteria[0])
    best = [_best_thresholds(system.counts[judged], shown, stops) for system in systems]
    costs = [
        clip_costs(system.deltas[judged], thresholds)
        for system, thresholds in zip(systems, best, strict=True)
    ]
    chosen = choose_clips(alignment, np.sum(costs, axis=0), clips_shown)
    lowest = [min(thresholds[label] for thresholds in best) for label in shown]
    clips = [describe_clip(i, systems, stops, shown, costs, lowest) for i in chosen]
    classes = np.array([alignment.classes.index(label) for label in shown], np.intp)
    found = [[cells(system.deltas[criterion], classes) for criterion in criteria] for system in systems]
    listed = {i for row in found for one in row for cell in one.values() for i, *_ in cell}
    numbers = {i: k for k, i in enumerate(dict.fromkeys([*chosen, *sorted(listed)]))}
    names = [alignment.clips[i] for i in numbers]
    return clips, names, [[as_json(one, numbers, stops) for one in row] for row in found]


def _best_thresholds(
    counts: Counts, shown: Sequence[str], stops: Sequence[Thresholds]
) -> dict[str, float]:
    """Per class the stop with the best F-score; without references the first, where nothing is
    detected."""
    found = {}
    for label, of_class in zip(shown, stops, strict=True):
        tally = counts[label].at(of_class).tally()
        scores = np.nan_to_num(tally.fscore()[1:], nan=-1.0)
        found[label] = float(of_class[int(np.argmax(scores))]) if len(scores) else np.inf
    return found
