"""Post-processings by their definition: at each microsecond, at each threshold, slowly.

Scores of one class are a list of numbers with the list of their integer boundaries, frames of no length
possible. `Runs` are the detections at one threshold, as (onset, offset).
"""

from __future__ import annotations

from collections.abc import Sequence

Runs = list[tuple[int, int]]
INF = float("inf")


def runs(scores: Sequence[float], edges: Sequence[int], threshold: float) -> Runs:
    """The detections where ``score > threshold``."""
    found: Runs = []
    active = False
    for frame, score in enumerate(scores):
        if score > threshold:
            onset = found.pop()[0] if active else edges[frame]
            found.append((onset, edges[frame + 1]))
        active = score > threshold
    return found


def thresholds(*scores: Sequence[float]) -> list[float]:
    """All scores, and one below all."""
    return [-INF, *sorted({score for of_one in scores for score in of_one})]


def median(scores: Sequence[float], edges: Sequence[int], window: int, threshold: float) -> Runs:
    """The detections at one threshold after a median filter: in twofold time each moment is whole."""
    active = runs(scores, edges, threshold)

    def is_active(middle: int) -> bool:  # of a microsecond, in half microseconds
        first, last = middle - window, middle + window
        shared = sum(max(0, min(2 * offset, last) - max(2 * onset, first)) for onset, offset in active)
        return 2 * shared > 2 * window

    found: Runs = []
    for time in range(edges[0], edges[-1]):
        if is_active(2 * time + 1):
            onset = found.pop()[0] if found and found[-1][1] == time else time
            found.append((onset, time + 1))
    return found
