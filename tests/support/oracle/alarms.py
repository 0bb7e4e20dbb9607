"""Alarms: detections in order of time raise one unless there was one shortly before."""

from collections.abc import Sequence

from .clips import (
    Clip,
    Count,
    Event,
    detections,
    frame_operating_points,
    ignored_references,
    other_labels,
    references,
)


def raised(onsets: Sequence[int], cooldown: int) -> list[int]:
    """The onsets that raise an alarm."""
    alarms: list[int] = []
    for onset in sorted(onsets):
        if all(onset - alarm >= cooldown for alarm in alarms):
            alarms.append(onset)
    return alarms


def lies_in_window(alarm: int, reference: Event, *, before: int, after: int, within: int | None) -> bool:
    """Whether the alarm finds the reference."""
    onset, offset = reference
    latest = offset + after if within is None else onset + within
    return onset - before <= alarm <= latest


def alarm_count(
    onsets: Sequence[int],
    targets: Sequence[Event],
    ignored: Sequence[Event],
    *,
    cooldown: int,
    before: int,
    after: int,
    within: int | None,
) -> tuple[int, int]:
    """True positives and false positives of one clip, from the onsets of its detections."""
    alarms = raised(onsets, cooldown)

    def finds(alarm: int, target: Event) -> bool:
        return lies_in_window(alarm, target, before=before, after=after, within=within)

    tp = sum(any(finds(alarm, target) for alarm in alarms) for target in targets)
    fp = sum(not any(finds(alarm, target) for target in [*targets, *ignored]) for alarm in alarms)
    return tp, fp


def latencies(
    onsets: Sequence[int],
    targets: Sequence[Event],
    *,
    cooldown: int,
    before: int,
    after: int,
    within: int | None,
) -> list[int]:
    """For each reference that is found, the time from its onset to its first alarm."""
    times = []
    for target in targets:
        found_by = [
            alarm
            for alarm in raised(onsets, cooldown)
            if lies_in_window(alarm, target, before=before, after=after, within=within)
        ]
        if found_by:
            times.append(min(found_by) - target[0])
    return times


def alarm_counts(
    clips: Sequence[Clip], label: str, *, cooldown: int, before: int, after: int, within: int | None
) -> dict[float, Count]:
    """The counts of one label at each distinct score of its frames."""
    counts = {}
    for score in frame_operating_points(clips, label):
        of_clips = [
            alarm_count(
                [onset for onset, _ in detections(clip.scores[label], clip.edges, score)],
                references(clip, label),
                ignored_references(clip, label),
                cooldown=cooldown,
                before=before,
                after=after,
                within=within,
            )
            for clip in clips
        ]
        tp, fp = (sum(count[k] for count in of_clips) for k in range(2))
        counts[score] = Count(tp, fp, dict.fromkeys(other_labels(clips, label), 0))
    return counts
