"""Post-processings by their definition: at each microsecond, at each threshold, slowly.

Scores of one class are a list of numbers with the list of their integer boundaries, frames of no length
possible. `Runs` are the detections at one threshold, as (onset, offset).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

Runs = list[tuple[int, int]]
INF = float("inf")


def runs(scores: Sequence[float], edges: Sequence[int], threshold: float) -> Runs:
    """The detections where ``score > threshold``."""
    detected: Runs = []
    active = False
    for frame, score in enumerate(scores):
        if score > threshold:
            onset = detected.pop()[0] if active else edges[frame]
            detected.append((onset, edges[frame + 1]))
        active = score > threshold
    return detected


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

    detected: Runs = []
    for time in range(edges[0], edges[-1]):
        if is_active(2 * time + 1):
            onset = detected.pop()[0] if detected and detected[-1][1] == time else time
            detected.append((onset, time + 1))
    return detected


def minimum_duration(detected: Runs, shortest: int) -> Runs:
    """Of the detections at one threshold, those that are long enough."""
    return [(onset, offset) for onset, offset in detected if offset - onset >= shortest]


def maximum_gap(detected: Runs, longest: int) -> Runs:
    """The detections at one threshold, with short gaps closed."""
    joined: Runs = []
    for onset, offset in detected:
        if joined and onset - joined[-1][1] <= longest:
            onset = joined.pop()[0]
        joined.append((onset, offset))
    return joined


def hysteresis(
    scores: Sequence[float], lifted: Sequence[float], edges: Sequence[int], threshold: float
) -> Runs:
    """The runs of lifted scores above a threshold in which a score is above it."""
    active: Runs = []
    first: int | None = None
    for frame in range(len(scores) + 1):
        above = frame < len(scores) and lifted[frame] > threshold
        if above and first is None:
            first = frame
        if not above and first is not None:
            if max(scores[first:frame]) > threshold:
                active.append((edges[first], edges[frame]))
            first = None
    return active


def mean(scores: Sequence[float], edges: Sequence[int], onset: Fraction, offset: Fraction) -> Fraction:
    """The mean of finite scores over some time within the clip."""
    shares = [
        max(Fraction(0), min(offset, Fraction(edges[frame + 1])) - max(onset, Fraction(edges[frame])))
        for frame in range(len(scores))
    ]
    return sum(map(Fraction.__mul__, shares, map(Fraction, scores)), Fraction(0)) / sum(shares)


def moving_average(scores: Sequence[float], edges: Sequence[int], window: int) -> list[float]:
    """The mean around the middle of each frame, exact before it is rounded."""
    means: list[float] = []
    for frame in range(len(scores)):
        middle = Fraction(edges[frame] + edges[frame + 1], 2)
        onset = max(middle - Fraction(window, 2), Fraction(edges[0]))
        offset = min(middle + Fraction(window, 2), Fraction(edges[-1]))
        inside = {
            score
            for i, score in enumerate(scores)
            if max(onset, Fraction(edges[i])) < min(offset, Fraction(edges[i + 1]))
        }
        if inside & {-INF, INF}:
            means.append(-INF if -INF in inside else INF)
        else:
            finite = [score if abs(score) < INF else 0.0 for score in scores]
            means.append(float(mean(finite, edges, onset, offset)))
    return means


def event_boxes(
    scores: Sequence[float],
    edges: Sequence[int],
    window: int,
    absolute: float | None,
    relative: float | None,
) -> list[tuple[int, int, float]]:
    """The boxes (onset, offset, confidence) of a clip whose frames all have a length."""
    steps = [Fraction(0)]
    for edge in edges[1:-1]:
        first = max(edge - Fraction(window, 2), Fraction(edges[0]))
        last = min(edge + Fraction(window, 2), Fraction(edges[-1]))
        after, before = (mean(scores, edges, *times) for times in ((edge, last), (first, edge)))
        steps.append(after - before)
    steps.append(Fraction(0))

    # plateaus of equal steps: (first, last, value)
    plateaus: list[tuple[int, int, Fraction]] = []
    for i, step in enumerate(steps):
        if plateaus and plateaus[-1][2] == step:
            plateaus[-1] = (plateaus[-1][0], i, step)
        else:
            plateaus.append((i, i, step))
    turns: list[tuple[str, int]] = []
    for (_, _, left), (first_of, last_of, here), (_, _, right) in zip(
        plateaus, plateaus[1:], plateaus[2:], strict=False
    ):
        if left < here > right:
            turns.append(("onset", last_of))
        if left > here < right:
            turns.append(("offset", first_of))
    if not turns or turns[0][0] == "offset":
        turns.insert(0, ("onset", 0))
    if turns[-1][0] == "onset":
        turns.append(("offset", len(scores)))
    frames = [(turns[i][1], turns[i + 1][1]) for i in range(0, len(turns), 2)]

    boxes = [frames[0]]
    for left_box, right_box in pairwise(frames):
        highest = max(*scores[slice(*left_box)], *scores[slice(*right_box)])
        lowest = min(scores[left_box[1] : right_box[0]])
        near = absolute is None or highest - lowest < absolute
        alike = relative is None or highest < relative * lowest
        if (absolute, relative) != (None, None) and near and alike:
            boxes[-1] = (boxes[-1][0], right_box[1])
        else:
            boxes.append(right_box)
    return [
        (edges[a], edges[b], float(mean(scores, edges, Fraction(edges[a]), Fraction(edges[b]))))
        for a, b in boxes
    ]
