"""Counts by intersection."""

from __future__ import annotations

from collections.abc import Sequence

from .clips import (
    Clip,
    Count,
    detections,
    frame_operating_points,
    ignored_references,
    other_labels,
    overlap,
    overlap_with_any,
    references,
    requirement,
)


def intersection_count(
    clips: Sequence[Clip], label: str, score: float, *, dtc: float, gtc: float, cttc: float | None = None
) -> Count:
    """Counts of `label` over all clips where frames with a score >= `score` are active."""
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip in clips:
        targets = references(clip, label)
        everything = targets + ignored_references(clip, label)
        relevant = []
        for detection in detections(clip.scores[label], clip.edges, score):
            length = detection[1] - detection[0]
            if overlap_with_any(detection, everything) >= requirement(dtc, length):
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
