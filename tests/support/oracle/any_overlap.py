"""Any overlap: references and detections are merged and cut, and then each is looked at by itself."""

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


def merged(events: Sequence[Event], gap: int | None) -> list[Event]:
    """The events, with those of less than ``gap`` between them made one."""
    if gap is None:
        return sorted(events)
    joined: list[Event] = []
    for onset, offset in sorted(events):
        if joined and onset - joined[-1][1] < gap:
            joined[-1] = (joined[-1][0], max(joined[-1][1], offset))
        else:
            joined.append((onset, offset))
    return joined


def pieces(events: Sequence[Event], longest: int | None) -> list[Event]:
    """The events, with those that are longer cut off again and again."""
    cut: list[Event] = []
    for onset, offset in events:
        while longest is not None and offset - onset > longest:
            cut.append((onset, onset + longest))
            onset += longest
        cut.append((onset, offset))
    return cut


def any_overlap_count(
    detected: Sequence[Event],
    targets: Sequence[Event],
    ignored: Sequence[Event],
    *,
    before: int,
    after: int,
    merge_gap: int | None,
    split: int | None,
) -> tuple[int, int, int]:
    """True positives, false positives and references of one clip, from the events as they are."""

    def in_window(detection: Event, target: Event) -> bool:
        return detection[0] < target[1] + after and detection[1] > target[0] - before

    found_by = pieces(merged(detected, merge_gap), split)
    sought = pieces(merged(targets, merge_gap), split)
    tp = sum(any(in_window(event, target) for event in found_by) for target in sought)
    fp = sum(not any(in_window(event, target) for target in [*sought, *ignored]) for event in found_by)
    return tp, fp, len(sought)


def any_overlap_counts(
    clips: Sequence[Clip],
    label: str,
    *,
    before: int,
    after: int,
    merge_gap: int | None,
    split: int | None,
) -> dict[float, Count]:
    """The counts of one label at each distinct score of its frames."""
    counts = {}
    for score in frame_operating_points(clips, label):
        of_clips = [
            any_overlap_count(
                detections(clip.scores[label], clip.edges, score),
                references(clip, label),
                ignored_references(clip, label),
                before=before,
                after=after,
                merge_gap=merge_gap,
                split=split,
            )
            for clip in clips
        ]
        tp, fp = (sum(count[k] for count in of_clips) for k in range(2))
        counts[score] = Count(tp, fp, dict.fromkeys(other_labels(clips, label), 0))
    return counts
