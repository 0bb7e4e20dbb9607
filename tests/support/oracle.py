"""The slow, obviously right evaluation: threshold, list the detections, count, for every score.

Every function transcribes one definition; none shares an idea with the fast kernel.

Conventions
- Times are integer microseconds, intervals are half open: [onset, offset).
- The operating point "at score s" is the threshold just below s: frames with `score >= s` are
  active. A frame with score -inf is never active. No score is NaN.
- A requirement rho * length is the float product rounded to the nearest microsecond, at least 1.
- References have a positive length, and those of one label do not overlap within a clip.
- One-to-one matchings pair a detection or a reference at most once, and are within a clip.
- The "other labels" of a label are all others that occur in the scores or references of any clip.

Definitions: Bilen et al., "A framework for the robust evaluation of sound event detection",
ICASSP 2020; Ebbers et al., "Threshold independent evaluation of sound event detection scores",
ICASSP 2022.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

Event = tuple[int, int]  # onset, offset
Pairable = Callable[[Event, Event], bool]  # whether a detection and a reference can be paired


@dataclass(frozen=True)
class Clip:
    """One recording: frame i lasts from `edges[i]` to `edges[i + 1]`."""

    edges: Sequence[int]
    scores: Mapping[str, Sequence[float]]
    references: Sequence[tuple[int, int, str]]
    duration: int


@dataclass(frozen=True)
class Count:
    """Counts of one label at one operating point; `ct` has a key for each other label."""

    tp: int
    fp: int
    ct: Mapping[str, int]


def requirement(rho: float, length: int) -> int:
    """The overlap that the share `rho` of `length` asks for: nearest microsecond, at least one."""
    return max(1, math.floor(rho * length + 0.5))


def is_active(value: float, score: float) -> bool:
    """Whether a frame or segment of score `value` is active at `score`."""
    return value >= score and value > -math.inf


def operating_points(values: Iterable[float]) -> list[float]:
    """The distinct scores > -inf, decreasing."""
    return sorted({value for value in values if value > -math.inf}, reverse=True)


def frame_operating_points(clips: Sequence[Clip], label: str) -> list[float]:
    """The distinct scores > -inf of the frames of `label` in all clips, decreasing."""
    return operating_points(score for clip in clips for score in clip.scores[label])


def detections(scores: Sequence[float], edges: Sequence[int], score: float) -> list[Event]:
    """The maximal runs of frames that are active at `score`, as (onset, offset)."""
    active = [is_active(frame, score) for frame in scores]
    runs = [(on, list(frames)) for on, frames in groupby(range(len(active)), active.__getitem__)]
    return [(edges[frames[0]], edges[frames[-1] + 1]) for on, frames in runs if on]


def overlap(event: Event, others: Iterable[Event]) -> int:
    """The time that `event` shares with `others`, which do not overlap one another."""
    return sum(max(0, min(event[1], off) - max(event[0], on)) for on, off in others)


def references(clip: Clip, label: str) -> list[Event]:
    """The (onset, offset) of the clip's references of `label`."""
    return [(onset, offset) for onset, offset, name in clip.references if name == label]


def other_labels(clips: Sequence[Clip], label: str) -> list[str]:
    """All labels but `label` that occur in the scores or references of any clip, sorted."""
    scored = {name for clip in clips for name in clip.scores}
    referenced = {name for clip in clips for _, _, name in clip.references}
    return sorted((scored | referenced) - {label})


def intersection_count(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    dtc: float,
    gtc: float,
    cttc: float | None = None,
) -> Count:
    """Counts of `label` over all clips where frames with a score >= `score` are active."""
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip in clips:
        targets = references(clip, label)
        relevant = []
        for detection in detections(clip.scores[label], clip.edges, score):
            length = detection[1] - detection[0]
            if overlap(detection, targets) >= requirement(dtc, length):
                relevant.append(detection)
                continue
            fp += 1
            if cttc is not None:
                for other in ct:
                    shared = overlap(detection, references(clip, other))
                    ct[other] += shared >= requirement(cttc, length)
        for target in targets:
            tp += overlap(target, relevant) >= requirement(gtc, target[1] - target[0])
    return Count(tp, fp, ct)


def intersection_counts(
    clips: Sequence[Clip], label: str, *, dtc: float, gtc: float, cttc: float | None = None
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct score > -inf of `label`, decreasing."""
    return {
        score: intersection_count(clips, label, score, dtc=dtc, gtc=gtc, cttc=cttc)
        for score in frame_operating_points(clips, label)
    }


def collar(*, onset: int | None, offset: int | None, offset_rate: float) -> Pairable:
    """Onsets within `onset`, offsets within the larger of `offset` and a share of the reference.

    Borders are included; None asks nothing. The share is rounded to the nearest microsecond.
    """

    def can_pair(detection: Event, reference: Event) -> bool:
        if onset is not None and abs(detection[0] - reference[0]) > onset:
            return False
        if offset is None:
            return True
        share = math.floor(offset_rate * (reference[1] - reference[0]) + 0.5)
        return abs(detection[1] - reference[1]) <= max(offset, share)

    return can_pair


def overlap_over_union(iou: float) -> Pairable:
    """The time in both events is at least the share `iou` of the time in either."""

    def can_pair(detection: Event, reference: Event) -> bool:
        shared = overlap(detection, [reference])
        united = (detection[1] - detection[0]) + (reference[1] - reference[0]) - shared
        return shared >= requirement(iou, united)

    return can_pair


def matchings(
    found: Sequence[Event], targets: Sequence[Event], can_pair: Pairable
) -> Iterator[list[tuple[Event, Event]]]:
    """Every one-to-one matching, the empty one too, as (detection, reference) pairs."""
    if not found:
        yield []
        return
    first, rest = found[0], found[1:]
    yield from matchings(rest, targets, can_pair)
    for i, target in enumerate(targets):
        if can_pair(first, target):
            for others in matchings(rest, [*targets[:i], *targets[i + 1 :]], can_pair):
                yield [(first, target), *others]


def largest_matching(found: Sequence[Event], targets: Sequence[Event], can_pair: Pairable) -> int:
    """The size of the largest of `matchings`, by augmenting paths: they are too many to list."""
    taken: dict[int, int] = {}  # target -> detection

    def place(detection: int, tried: set[int]) -> bool:
        """Give the detection a target that is free, or whose holder can be placed elsewhere."""
        for target in range(len(targets)):
            if target not in tried and can_pair(found[detection], targets[target]):
                tried.add(target)
                if target not in taken or place(taken[target], tried):
                    taken[target] = detection
                    return True
        return False

    return sum(place(detection, set()) for detection in range(len(found)))


def matching_count(
    clips: Sequence[Clip], label: str, score: float, can_pair: Pairable, *, cross_triggers: bool
) -> Count:
    """TP: pairs of a largest matching. FP: the other detections.

    CT on m: the detections that no reference of `label` but some reference of m can be paired with.
    """
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip in clips:
        found = detections(clip.scores[label], clip.edges, score)
        pairs = largest_matching(found, references(clip, label), can_pair)
        tp += pairs
        fp += len(found) - pairs
        if not cross_triggers:
            continue
        for detection in found:
            if not any(can_pair(detection, target) for target in references(clip, label)):
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

    In each clip, of the largest matchings, the one with the least sum of absolute errors; of
    several, the one with the least (sum of onset errors, sum of offset errors).
    """
    can_pair = collar(onset=onset, offset=offset, offset_rate=offset_rate)
    onset_error = offset_error = 0
    for clip in clips:
        found = detections(clip.scores[label], clip.edges, score)
        ranked = []
        for pairs in matchings(found, references(clip, label), can_pair):
            onsets = [detection[0] - target[0] for detection, target in pairs]
            offsets = [detection[1] - target[1] for detection, target in pairs]
            absolute = sum(abs(error) for error in onsets + offsets)
            ranked.append((-len(pairs), absolute, sum(onsets), sum(offsets)))
        best = min(ranked)
        onset_error += best[2]
        offset_error += best[3]
    return onset_error, offset_error


def iou_count(
    clips: Sequence[Clip], label: str, score: float, *, iou: float, cross_triggers: bool = False
) -> Count:
    """Counts of `label` over all clips at `score`, events being paired by `overlap_over_union`."""
    return matching_count(clips, label, score, overlap_over_union(iou), cross_triggers=cross_triggers)


def iou_counts(
    clips: Sequence[Clip], label: str, *, iou: float, cross_triggers: bool = False
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct score > -inf of `label`, decreasing."""
    return {
        score: iou_count(clips, label, score, iou=iou, cross_triggers=cross_triggers)
        for score in frame_operating_points(clips, label)
    }


def segments(clip: Clip, length: int | None) -> list[Event]:
    """[0, duration) cut every `length`, the last segment perhaps shorter; uncut if None."""
    if length is None:
        return [(0, clip.duration)]
    return [(onset, min(onset + length, clip.duration)) for onset in range(0, clip.duration, length)]


def segment_scores(clip: Clip, label: str, *, length: int | None, mean: bool = False) -> list[float]:
    """Per segment the largest score of the frames that overlap it, -inf if none does.

    With `mean` their mean, weighted by shared time, in floats added from left to right; -inf if
    any of them is -inf.
    """
    values = []
    for segment in segments(clip, length):
        parts = [
            (score, shared)
            for score, frame in zip(clip.scores[label], pairwise(clip.edges), strict=True)
            if (shared := overlap(segment, [frame])) > 0
        ]
        if not mean or not parts:
            values.append(max((score for score, _ in parts), default=-math.inf))
        elif any(score == -math.inf for score, _ in parts):
            values.append(-math.inf)
        else:
            total = 0.0
            for score, shared in parts:  # sum() adds floats with compensation from Python 3.12 on
                total += score * shared
            values.append(total / float(sum(shared for _, shared in parts)))
    return values


def segment_targets(clip: Clip, label: str, *, length: int | None) -> list[bool]:
    """Per segment whether any reference of `label` overlaps it."""
    return [overlap(segment, references(clip, label)) > 0 for segment in segments(clip, length)]


def segment_count(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    length: int | None,
    mean: bool = False,
    cross_triggers: bool = False,
) -> Count:
    """Counts of segments over all clips. TP: active targets. FP: active others.

    CT on m: the FP that are targets of m.
    """
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip in clips:
        values = segment_scores(clip, label, length=length, mean=mean)
        targets = segment_targets(clip, label, length=length)
        pairs = list(zip(values, targets, strict=True))
        tp += sum(is_active(value, score) and target for value, target in pairs)
        false = [is_active(value, score) and not target for value, target in pairs]
        fp += sum(false)
        if cross_triggers:
            for other in ct:
                others = segment_targets(clip, other, length=length)
                ct[other] += sum(a and b for a, b in zip(false, others, strict=True))
    return Count(tp, fp, ct)


def segment_counts(
    clips: Sequence[Clip],
    label: str,
    *,
    length: int | None,
    mean: bool = False,
    cross_triggers: bool = False,
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct segment score > -inf, decreasing."""
    values = [v for clip in clips for v in segment_scores(clip, label, length=length, mean=mean)]
    return {
        score: segment_count(
            clips, label, score, length=length, mean=mean, cross_triggers=cross_triggers
        )
        for score in operating_points(values)
    }


def any_label_pairs(
    clips: Sequence[Clip], labels: Sequence[str], score: float, can_pair: Pairable
) -> int:
    """Pairs in largest matchings of all detections and references, whatever their `labels`."""
    total = 0
    for clip in clips:
        found = [d for label in labels for d in detections(clip.scores[label], clip.edges, score)]
        targets = [target for label in labels for target in references(clip, label)]
        total += largest_matching(found, targets, can_pair)
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


def any_label_pairs_segments(
    clips: Sequence[Clip],
    labels: Sequence[str],
    score: float,
    *,
    length: int | None,
    mean: bool = False,
) -> int:
    """Over all segments, the lesser of the numbers of labels that are targets and that are active."""
    total = 0
    for clip in clips:
        values = [segment_scores(clip, label, length=length, mean=mean) for label in labels]
        targets = [segment_targets(clip, label, length=length) for label in labels]
        for k in range(len(segments(clip, length))):
            active = sum(is_active(of_label[k], score) for of_label in values)
            total += min(active, sum(of_label[k] for of_label in targets))
    return total


def reference_count(clips: Sequence[Clip], label: str) -> int:
    """The number of references of `label` in all clips."""
    return sum(len(references(clip, label)) for clip in clips)
