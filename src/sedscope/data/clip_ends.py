"""Where clips end if nobody says so: at the last offset of their references and detections."""

from __future__ import annotations

from copy import copy

import numpy as np

from .clip_events import ClipEvents
from .ground_truth import GroundTruth
from .scores import Scores


def end_with_events(scores: Scores, truth: GroundTruth) -> GroundTruth:
    """Return the ground truth with durations: each clip ends with its last reference or detection.

    Clips of the scores that the ground truth does not list become clips without references. Metrics that
    read no durations, such as F-scores of events, have the same value for all that are long enough.
    """
    clips = tuple(dict.fromkeys([*truth.clips, *scores]))
    ends = np.ones(len(clips), np.int64)  # a clip without any event lasts a microsecond
    np.maximum.at(ends, truth.event_clips, truth.offsets)
    for i, clip in enumerate(clips):
        if clip in scores:
            opened = scores.open(clip)
            times = opened.times if isinstance(opened, ClipEvents) else opened.ticks
            ends[i] = times.max(initial=ends[i])
    ended = copy(truth)
    ended.clips, ended.durations = clips, ends
    return ended
