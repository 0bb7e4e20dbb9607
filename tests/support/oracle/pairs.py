"""Counts by one-to-one matchings: collars and intersection over union."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from .clips import (
    Clip,
    Count,
    Event,
    detections,
    frame_operating_points,
    ignored_references,
    other_labels,
    overlap,
    references,
    requirement,
    share,
    simplest_fraction,
)

Target = TypeVar("Target")
Pairable = Callable[[Event, Event], bool]  # whether a detection and a reference can be paired


def collar(*, onset: int | None, offset: int | None, offset_rate: float) -> Pairable:
    """Onsets within `onset`, offsets within the larger of `offset` and a share of the reference.

    Borders are included; None asks nothing. The share is rounded to the nearest microsecond.
    """

    def can_pair(detection: Event, reference: Event) -> bool:
        if onset is not None and abs(detection[0] - reference[0]) > onset:
            return False
        if offset is None:
            return True
        tolerance = max(offset, share(offset_rate, reference[1] - reference[0]))
        return abs(detection[1] - reference[1]) <= tolerance

    return can_pair


def overlap_over_union(iou: float, *, strict: bool = False) -> Pairable:
    """The time in both events is at least the share `iou` of the time in either; `strict`: it is more."""

    def can_pair(detection: Event, reference: Event) -> bool:
        shared = overlap(detection, [reference])
        united = (detection[1] - detection[0]) + (reference[1] - reference[0]) - shared
        return shared > simplest_fraction(iou) * united if strict else shared >= requirement(iou, united)

    return can_pair


def matchings(
    detected: Sequence[Event], targets: Sequence[Target], can_pair: Callable[[Event, Target], bool]
) -> Iterator[list[tuple[Event, Target]]]:
    """Every one-to-one matching, the empty one too, as (detection, reference) pairs."""
    if not detected:
        yield []
        return
    first, rest = detected[0], detected[1:]
    yield from matchings(rest, targets, can_pair)
    for i, target in enumerate(targets):
        if can_pair(first, target):
            for others in matchings(rest, [*targets[:i], *targets[i + 1 :]], can_pair):
                yield [(first, target), *others]


def largest_matching(detected: Sequence[Event], targets: Sequence[Event], can_pair: Pairable) -> int:
    """The size of the largest of `matchings`, by augmenting paths: they are too many to list."""
    taken: dict[int, int] = {}  # target -> detection

    def place(detection: int, tried: set[int]) -> bool:
        """Give the detection a target that is free, or whose holder can be placed elsewhere."""
        for target in range(len(targets)):
            if target not in tried and can_pair(detected[detection], targets[target]):
                tried.add(target)
                if target not in taken or place(taken[target], tried):
                    taken[target] = detection
                    return True
        return False

    return sum(place(detection, set()) for detection in range(len(detected)))


def matching_count(
    clips: Sequence[Clip], label: str, score: float, can_pair: Pairable, *, cross_triggers: bool
) -> Count:
    """TP: pairs of a largest matching. FP: detections that are in no pair of a largest matching with all
    references, ignored ones included.

    CT on m: the detections that no reference of `label`, ignored or not, but some reference of m can be
    paired with.
    """
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip in clips:
        detected = detections(clip.scores[label], clip.edges, score)
        everything = references(clip, label) + ignored_references(clip, label)
        tp += largest_matching(detected, references(clip, label), can_pair)
        fp += len(detected) - largest_matching(detected, everything, can_pair)
        if not cross_triggers:
            continue
        for detection in detected:
            if not any(can_pair(detection, target) for target in everything):
                for other in ct:
                    ct[other] += any(can_pair(detection, event) for event in references(clip, other))
    return Count(tp, fp, ct)


def collar_count(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    onset: int | None,
    offset: int | None,
    offset_rate: float,
    cross_triggers: bool = False,
) -> Count:
    """Counts of `label` over all clips at `score`, events being paired by `collar`."""
    can_pair = collar(onset=onset, offset=offset, offset_rate=offset_rate)
    return matching_count(clips, label, score, can_pair, cross_triggers=cross_triggers)


def collar_counts(
    clips: Sequence[Clip],
    label: str,
    *,
    onset: int | None,
    offset: int | None,
    offset_rate: float,
    cross_triggers: bool = False,
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct score > -inf of `label`, decreasing."""
    can_pair = collar(onset=onset, offset=offset, offset_rate=offset_rate)
    return {
        score: matching_count(clips, label, score, can_pair, cross_triggers=cross_triggers)
        for score in frame_operating_points(clips, label)
    }


def error_rank(
    pairs: Sequence[tuple[Event, Event]], *, judges_onset: bool = True, judges_offset: bool = True
) -> tuple[int, int, int, int]:
    """By which of several matchings the one with the least errors is chosen: the sum of absolute errors of
    the boundaries that are judged, that of both, and the sums of onset and of offset errors."""
    onsets = [detection[0] - target[0] for detection, target in pairs]
    offsets = [detection[1] - target[1] for detection, target in pairs]
    of_onsets, of_offsets = (sum(abs(error) for error in errors) for errors in (onsets, offsets))
    judged = of_onsets * judges_onset + of_offsets * judges_offset
    return judged, of_onsets + of_offsets, sum(onsets), sum(offsets)


def collar_errors(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    onset: int | None,
    offset: int | None,
    offset_rate: float,
) -> tuple[int, int]:
    """The sums of onset and of offset errors, detection minus reference, over all matched pairs.

    In each clip, of the largest matchings, those with the most pairs that are not ignored; of these, the
    one with the least errors.
    """
    can_pair = collar(onset=onset, offset=offset, offset_rate=offset_rate)
    onset_error = offset_error = 0
    for clip in clips:
        detected = detections(clip.scores[label], clip.edges, score)
        ranked = []
        targets = [(event, False) for event in references(clip, label)]
        targets += [(event, True) for event in ignored_references(clip, label)]
        for matched in matchings(detected, targets, lambda a, b: can_pair(a, b[0])):
            pairs = [(event, target) for event, (target, ignored) in matched if not ignored]
            judges = {"judges_onset": onset is not None, "judges_offset": offset is not None}
            ranked.append((-len(matched), -len(pairs), error_rank(pairs, **judges)))
        *_, best_onset, best_offset = min(ranked)[-1]
        onset_error += best_onset
        offset_error += best_offset
    return onset_error, offset_error


def iou_count(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    iou: float,
    strict: bool = False,
    cross_triggers: bool = False,
) -> Count:
    """Counts of `label` over all clips at `score`, events being paired by `overlap_over_union`."""
    can_pair = overlap_over_union(iou, strict=strict)
    return matching_count(clips, label, score, can_pair, cross_triggers=cross_triggers)


def iou_counts(
    clips: Sequence[Clip], label: str, *, iou: float, strict: bool = False, cross_triggers: bool = False
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct score > -inf of `label`, decreasing."""
    return {
        score: iou_count(clips, label, score, iou=iou, strict=strict, cross_triggers=cross_triggers)
        for score in frame_operating_points(clips, label)
    }


def any_label_pairs(
    clips: Sequence[Clip], labels: Sequence[str], score: float, can_pair: Pairable
) -> int:
    """Pairs in largest matchings of all detections and references, whatever their `labels`."""
    total = 0
    for clip in clips:
        detected = [d for label in labels for d in detections(clip.scores[label], clip.edges, score)]
        targets = [target for label in labels for target in references(clip, label)]
        total += largest_matching(detected, targets, can_pair)
    return total


def any_label_pairs_collar(
    clips: Sequence[Clip],
    labels: Sequence[str],
    score: float,
    *,
    onset: int | None,
    offset: int | None,
    offset_rate: float,
) -> int:
    """`any_label_pairs` by `collar`."""
    can_pair = collar(onset=onset, offset=offset, offset_rate=offset_rate)
    return any_label_pairs(clips, labels, score, can_pair)


def any_label_pairs_iou(
    clips: Sequence[Clip], labels: Sequence[str], score: float, *, iou: float
) -> int:
    """`any_label_pairs` by `overlap_over_union`."""
    return any_label_pairs(clips, labels, score, overlap_over_union(iou))
