"""The slow, obviously right evaluation: threshold, list the detections, count, for every score.

Every function transcribes one definition; none shares an idea with the fast kernel.

Conventions
- Times are integer microseconds, intervals are half open: [onset, offset).
- The operating point "at score s" is the threshold just below s: frames with `score >= s` are
  active. A frame with score -inf is never active. No score is NaN.
- A share rho stands for the simplest fraction that is the same float. A requirement rho * length is
  rounded to the nearest microsecond, halves up, and is at least 1.
- References have a positive length, and those of one label do not overlap within a clip. Ignored
  references may overlap them, and those that are ignored for every label overlap any others.
- One-to-one matchings pair a detection or a reference at most once, and are within a clip.
- The "other labels" of a label are all others that occur in the scores or references of any clip.

Definitions: Bilen et al., "A framework for the robust evaluation of sound event detection",
ICASSP 2020; Ebbers et al., "Threshold independent evaluation of sound event detection scores",
ICASSP 2022.
"""

from .active_time import scored_time, time_count, time_counts
from .alarms import alarm_count, alarm_counts, latencies, lies_in_window, raised
from .any_overlap import any_overlap_count, any_overlap_counts
from .clips import (
    EVERY_LABEL,
    Clip,
    Count,
    Event,
    detections,
    frame_operating_points,
    ignored_references,
    is_active,
    operating_points,
    other_labels,
    overlap,
    overlap_with_any,
    reference_count,
    references,
    requirement,
    share,
    ticks,
)
from .intersection import intersection_count, intersection_counts
from .pairs import (
    Pairable,
    any_label_pairs_collar,
    any_label_pairs_iou,
    collar,
    collar_count,
    collar_counts,
    collar_errors,
    iou_count,
    iou_counts,
    largest_matching,
    matching_count,
    matchings,
    overlap_over_union,
)
from .scored_events import (
    ScoredEvent,
    event_intersection_count,
    event_operating_points,
    event_segment_count,
)
from .segments import (
    any_label_pairs_segments,
    segment_count,
    segment_counts,
    segment_ignored,
    segment_scores,
    segment_targets,
    segments,
)

__all__ = [
    "EVERY_LABEL",
    "Clip",
    "Count",
    "Event",
    "Pairable",
    "ScoredEvent",
    "alarm_count",
    "alarm_counts",
    "any_label_pairs_collar",
    "any_label_pairs_iou",
    "any_label_pairs_segments",
    "any_overlap_count",
    "any_overlap_counts",
    "collar",
    "collar_count",
    "collar_counts",
    "collar_errors",
    "detections",
    "event_intersection_count",
    "event_operating_points",
    "event_segment_count",
    "frame_operating_points",
    "ignored_references",
    "intersection_count",
    "intersection_counts",
    "iou_count",
    "iou_counts",
    "is_active",
    "largest_matching",
    "latencies",
    "lies_in_window",
    "matching_count",
    "matchings",
    "operating_points",
    "other_labels",
    "overlap",
    "overlap_over_union",
    "overlap_with_any",
    "raised",
    "reference_count",
    "references",
    "requirement",
    "scored_time",
    "segment_count",
    "segment_counts",
    "segment_ignored",
    "segment_scores",
    "segment_targets",
    "segments",
    "share",
    "ticks",
    "time_count",
    "time_counts",
]
