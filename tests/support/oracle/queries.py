"""Scored events that are kept as they are, one clip and class at a time: who takes which reference, and what
that makes of precision, recall and overlap. Fractions, lists and loops, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from .clips import Event, overlap
from .pairs import Pairable

Scored = tuple[int, int, float]  # onset, offset, score


def by_score(events: Iterable[Scored]) -> list[Scored]:
    """The best first; of equal scores the one that is listed first."""
    return sorted(events, key=lambda event: -event[2])


def ratio(detection: Sequence[float], reference: Event) -> Fraction:
    """Intersection over union."""
    event = (int(detection[0]), int(detection[1]))
    shared = overlap(event, [reference])
    return Fraction(shared, (event[1] - event[0]) + (reference[1] - reference[0]) - shared)


def greedy_verdicts(
    events: Iterable[Scored],
    references: Sequence[Event],
    can_pair: Pairable,
    ignored: Sequence[Event] = (),
) -> list[tuple[float, str]]:
    """Each event, the best first: its score, and whether it is ``"right"``, ``"wrong"`` or ``"neither"``."""
    free = sorted(references, reverse=True)
    verdicts = []
    for event in by_score(events):
        times = event[:2]
        candidates = [target for target in free if can_pair(times, target)]
        if candidates:
            largest = max(ratio(event, target) for target in candidates)
            free.remove(next(target for target in candidates if ratio(event, target) == largest))
            verdicts.append((event[2], "right"))
        elif any(can_pair(times, target) for target in ignored):
            verdicts.append((event[2], "neither"))
        else:
            verdicts.append((event[2], "wrong"))
    return verdicts


def interpolated_precision(
    verdicts: Iterable[tuple[float, str]], references: int, *, ranked: bool = False
) -> float:
    """The area under precision over recall with (0, 0) and (1, 0) added, after the precision was made
    non-increasing from the right. Events of equal scores come together or, if they are ``ranked``, one after
    the other."""
    listed = [*verdicts]
    if ranked:
        listed = [(-float(place), verdict) for place, (_, verdict) in enumerate(listed)]
    recall, precision = [Fraction(0)], [Fraction(0)]
    for score in sorted({score for score, _ in listed}, reverse=True):
        right = sum(at >= score and verdict == "right" for at, verdict in listed)
        wrong = sum(at >= score and verdict == "wrong" for at, verdict in listed)
        if right + wrong:
            recall.append(Fraction(right, references))
            precision.append(Fraction(right, right + wrong))
    recall.append(Fraction(1))
    precision.append(Fraction(0))
    for i in reversed(range(len(precision) - 1)):
        precision[i] = max(precision[i], precision[i + 1])
    steps = range(1, len(recall))
    return float(sum((recall[i] - recall[i - 1]) * precision[i] for i in steps))
