"""Counts of a case by timescoring, the library of SzCORE: events of one class at one threshold."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from itertools import groupby
from typing import Any

import numpy as np

from .cases import Arrays

_RATE = 10  # labels per second, as timescoring counts events


def any_overlap(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """True positives, false positives and references of each class at each of ``thresholds``, by the rule
    with ``before``, ``after``, ``merge_gap`` and ``split`` in seconds, or None. ``label``: thresholds × 3."""
    annotations: Any = import_module("timescoring.annotations")
    scoring: Any = import_module("timescoring.scoring")
    parameters = scoring.EventScoring.Parameters(
        toleranceStart=case["before"],
        toleranceEnd=case["after"],
        minDurationBetweenEvents=case["merge_gap"] or 0,
        maxEventDuration=case["split"] or 1e9,
    )
    verdict: Arrays = {}
    for label in case["classes"]:
        counts = np.zeros((len(case["thresholds"]), 3), int)
        for clip, of_clip in case["clips"].items():
            events = [tuple(event[:2]) for event in of_clip["events"] if event[2] == label]
            samples = round(of_clip["duration"] * _RATE)
            reference = annotations.Annotation(events, _RATE, samples)
            for i, threshold in enumerate(case["thresholds"]):
                detected = _detected(scores[clip], label, threshold)
                hypothesis = annotations.Annotation(detected, _RATE, samples)
                judged = scoring.EventScoring(reference, hypothesis, parameters)
                counts[i] += (judged.tp, judged.fp, judged.refTrue)
        verdict[label] = counts
    return verdict


def _detected(table: Any, label: str, threshold: float) -> list[tuple[float, float]]:
    """The runs of frames above the threshold."""
    frames = zip(table["onset"], table["offset"], table[label] > threshold, strict=True)
    runs = [list(run) for active, run in groupby(frames, lambda frame: frame[2]) if active]
    return [(run[0][0], run[-1][1]) for run in runs]
