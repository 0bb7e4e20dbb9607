"""The error type of each detection and reference, slow and obviously right: each by its definition.

One clip, one label, one threshold: frames with `score > threshold` are active.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .. import oracle
from .clips import Clip, Event


@dataclass(frozen=True)
class Intersection:
    """The shares of a detection, of a reference, and of a detection in others that must be covered."""

    dtc: float
    gtc: float
    cttc: float | None = None


@dataclass(frozen=True)
class Collar:
    """How far onsets and offsets may lie apart, in microseconds; None: anywhere."""

    onset: int | None
    offset: int | None
    offset_rate: float
    cross_triggers: bool = False


@dataclass(frozen=True)
class IoU:
    """The share of the time in either event that must be in both."""

    threshold: float
    strict: bool = False
    cross_triggers: bool = False


EventCriterion = Intersection | Collar | IoU


@dataclass(frozen=True)
class Verdict:
    """What a criterion says of the detections and references."""

    true: Sequence[Event]
    found: Sequence[Event]
    pairs: Sequence[tuple[Event, Event]] = ()
    ignored: Sequence[Event] = ()


@dataclass(frozen=True)
class Bins:
    """The bin of each reference and of each detection, in order of time."""

    references: Sequence[str]
    detections: Sequence[str]


def detections(clip: Clip, label: str, threshold: float) -> list[Event]:
    """The runs of frames above the threshold."""
    above = [score for score in clip.scores[label] if score > threshold]
    return oracle.detections(clip.scores[label], clip.edges, min(above)) if above else []


def share_time(event: Event, other: Event) -> bool:
    """A point in time shares it with an event that it lies in, before the offset; never with a point."""
    if event[0] == event[1] or other[0] == other[1]:
        (point, _), (onset, offset) = sorted([event, other], key=lambda times: times[1] - times[0])
        return onset <= point < offset
    return oracle.overlap(event, [other]) > 0


def pairable(criterion: Collar | IoU) -> oracle.Pairable:
    if isinstance(criterion, IoU):
        return oracle.overlap_over_union(criterion.threshold, strict=criterion.strict)
    return oracle.collar(
        onset=criterion.onset, offset=criterion.offset, offset_rate=criterion.offset_rate
    )


def verdicts(
    detected: Sequence[Event],
    targets: Sequence[Event],
    criterion: EventCriterion,
    ignored: Sequence[Event] = (),
) -> list[Verdict]:
    """What the criterion may say: several verdicts if several matchings are the best."""
    if isinstance(criterion, Intersection):
        everything = [*targets, *ignored]
        relevant = [
            event
            for event in detected
            if oracle.overlap_with_any(event, everything)
            >= oracle.requirement(criterion.dtc, event[1] - event[0])
        ]
        true = [
            event
            for event in relevant
            if oracle.overlap(event, targets) >= oracle.requirement(criterion.dtc, event[1] - event[0])
        ]
        covered = [
            event
            for event in targets
            if oracle.overlap(event, relevant) >= oracle.requirement(criterion.gtc, event[1] - event[0])
        ]
        return [Verdict(true, covered, ignored=[event for event in relevant if event not in true])]
    ranked = []
    can_pair = pairable(criterion)
    candidates = [*((event, False) for event in targets), *((event, True) for event in ignored)]
    for matched in oracle.matchings(detected, candidates, lambda a, b: can_pair(a, b[0])):
        pairs = [(event, target) for event, (target, leave_out) in matched if not leave_out]
        neutral = [event for event, (_, leave_out) in matched if leave_out]
        judges = {
            f"judges_{boundary}": isinstance(criterion, IoU) or getattr(criterion, boundary) is not None
            for boundary in ("onset", "offset")
        }
        rank = (-len(pairs), -len(neutral), oracle.pairs.error_rank(pairs, **judges))
        ranked.append((rank, pairs, neutral))
    best = min(rank for rank, _, _ in ranked)
    return [
        Verdict([event for event, _ in pairs], [target for _, target in pairs], pairs, neutral)
        for rank, pairs, neutral in ranked
        if rank == best
    ]


def triggered(clip: Clip, label: str, detection: Event, criterion: EventCriterion) -> list[str]:
    """The other labels on which a false detection is a cross-trigger."""
    own = oracle.references(clip, label) + oracle.ignored_references(clip, label)

    def on(other: str) -> bool:
        events = oracle.references(clip, other)
        if isinstance(criterion, Intersection) and criterion.cttc is not None:
            needed = oracle.requirement(criterion.cttc, detection[1] - detection[0])
            return oracle.overlap(detection, events) >= needed
        if not isinstance(criterion, Intersection) and criterion.cross_triggers:
            can_pair = pairable(criterion)
            if any(can_pair(detection, event) for event in own):
                return False
            return any(can_pair(detection, event) for event in events)
        return any(share_time(detection, event) for event in events)

    return [other for other in clip.scores if other != label and on(other)]


def boundary_bin(detection: Event, reference: Event, criterion: EventCriterion) -> str:
    """For a detection and a reference that share time with each other alone."""
    early = reference[0] - detection[0]  # negative: late
    longer = detection[1] - reference[1]  # negative: it ends early
    if isinstance(criterion, Collar):
        near_onset = criterion.onset is None or abs(early) <= criterion.onset
        near_offset = criterion.offset is None or pairable(replace(criterion, onset=None))(
            detection, reference
        )
        if near_offset and not near_onset:
            return "onset"
        if near_onset and not near_offset:
            return "offset"
    if early >= 0 and longer >= 0:
        return "too_long"
    if early <= 0 and longer <= 0:
        return "too_short"
    return "offset" if abs(longer) > abs(early) else "onset"


def bins(clip: Clip, label: str, threshold: float, criterion: EventCriterion) -> Iterator[Bins]:
    """The bins of all events, for each verdict that the criterion may give."""
    return bins_of(detections(clip, label, threshold), clip, label, criterion)


def bins_of(
    detected: Sequence[Event], clip: Clip, label: str, criterion: EventCriterion
) -> Iterator[Bins]:
    """The same for any events that are detected, all of them different."""
    targets = sorted(oracle.references(clip, label))
    of_detection = {
        event: [other for other in targets if share_time(event, other)] for event in detected
    }
    of_reference = {
        other: [event for event in detected if share_time(event, other)] for other in targets
    }
    for verdict in verdicts(detected, targets, criterion, oracle.ignored_references(clip, label)):
        references = []
        for target in targets:
            met = of_reference[target]
            if target in verdict.found:
                references.append("found")
            elif not met:
                references.append("missed")
            elif len(met) >= 2:
                references.append("fragmented")
            elif len(of_detection[met[0]]) >= 2:
                references.append("merged")
            else:
                references.append(boundary_bin(met[0], target, criterion))
        false = []
        for detection in detected:
            met = of_detection[detection]
            if detection in verdict.true:
                false.append("true")
            elif detection in verdict.ignored:
                false.append("ignored")
            elif len(met) >= 2:
                false.append("merged")
            elif len(met) == 1 and len(of_reference[met[0]]) >= 2:
                false.append("fragment")
            elif len(met) == 1:
                false.append(boundary_bin(detection, met[0], criterion))
            elif triggered(clip, label, detection, criterion):
                false.append("cross_trigger")
            else:
                false.append("background")
        yield Bins(references, false)
