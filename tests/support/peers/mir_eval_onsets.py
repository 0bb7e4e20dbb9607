"""Values of a case by mir_eval, which compares the onsets of one recording."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from .cases import Arrays


def onset_f_measures(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """F-measure, precision and recall of the points above each of ``thresholds``, by clip and class.

    ``points``: by clip a list of ``(time, label, score)``, in order of time. ``tolerance``: in seconds.
    ``clip/label``: thresholds × 3; only where there are references.
    """
    onset: Any = import_module("mir_eval.onset")
    verdict: Arrays = {}
    for clip, of_clip in case["clips"].items():
        for label in case["classes"]:
            reference = np.array([event[0] for event in of_clip["events"] if event[2] == label])
            if not len(reference):
                continue
            own = [(time, score) for time, other, score in case["points"][clip] if other == label]
            rows = [
                onset.f_measure(
                    reference,
                    np.array([time for time, score in own if score > threshold]),
                    window=case["tolerance"],
                )
                for threshold in case["thresholds"]
            ]
            verdict[f"{clip}/{label}"] = np.array(rows)
    return verdict
