"""Reference events by class, and their number and duration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....data.ground_truth import GroundTruth
from ....errors import SedscopeError, listing, subject

Events = Mapping[str, Sequence[Any]]


def multi_label_to_single_label_ground_truths(
    ground_truth: Events, event_classes: Sequence[str]
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return for each class the (onset, offset) of its events in each clip."""
    _check(ground_truth, event_classes)
    single: dict[str, dict[str, list[tuple[float, float]]]] = {
        label: {clip: [] for clip in ground_truth} for label in event_classes
    }
    for clip, events in ground_truth.items():
        for onset, offset, label in events:
            single[label.strip()][clip].append((onset, offset))
    return single


def event_counts_and_durations(
    ground_truth: Events, event_classes: Collection[str]
) -> tuple[dict[str, int], dict[str, float]]:
    """Return the number of events of each class, and their total duration in seconds."""
    _check(ground_truth, event_classes)
    counts = dict.fromkeys(event_classes, 0)
    durations = dict.fromkeys(event_classes, 0.0)
    for events in ground_truth.values():
        for onset, offset, label in events:
            counts[label.strip()] += 1
            durations[label.strip()] += offset - onset
    return counts, durations


def onset_offset_times_to_indices(
    onset_time: float, offset_time: float, timestamps: ArrayLike
) -> tuple[int, int]:
    """Return the first frame of an event, and the frame after its last one."""
    edges = np.asarray(timestamps, np.float64)
    if not offset_time > onset_time >= edges[0] >= 0:
        raise SedscopeError(
            f"The event from {onset_time:g} to {offset_time:g} s is not in the frames, which begin at "
            f"{edges[0]:g} s."
        )
    first = max(int(np.searchsorted(edges, onset_time, side="right")) - 1, 0)
    last = min(int(np.searchsorted(edges, offset_time, side="left")), len(edges) - 1)
    return first, last


def _check(ground_truth: Events, event_classes: Collection[str]) -> None:
    """Refuse invalid ground truth, and labels that are not among the classes."""
    unknown = [
        label for label in GroundTruth.from_dict(ground_truth).labels if label not in event_classes
    ]
    if unknown:
        labels = subject(len(unknown), "label", "is")
        raise SedscopeError(f"{labels} not in event_classes: {listing(unknown)}.")
