"""Where clips end if nobody says so: at the last offset of their references and detections."""

from __future__ import annotations

from copy import copy

import numpy as np

from ..errors import listing, subject
from .choices import Missing
from .clip_events import ClipEvents
from .ground_truth import GroundTruth
from .scores import Scores


def end_with_events(scores: Scores, truth: GroundTruth, missing: Missing = "error") -> GroundTruth:
    """Return the ground truth with durations: each clip ends with its last reference or detection.

    With ``missing="empty"``, clips that the ground truth does not list become clips without references.
    Metrics that read no durations, such as F-scores of events, do not depend on where clips end.
    """
    listed = {*truth.clips}
    unlisted = [clip for clip in scores if clip not in listed] if missing == "empty" else []
    clips = (*truth.clips, *unlisted)
    ends = np.ones(len(clips), np.int64)  # a clip without any event lasts a microsecond
    np.maximum.at(ends, truth.event_clips, truth.offsets)
    for i, clip in enumerate(clips):
        if clip in scores:
            opened = scores.open(clip)
            times = opened.times if isinstance(opened, ClipEvents) else opened.ticks
            ends[i] = times.max(initial=ends[i])
    ended = copy(truth)
    ended.clips, ended.durations = clips, ends
    if unlisted:
        number = subject(len(unlisted), "clip", "has")
        note = f"{number} detections but no reference events: {listing(unlisted)}."
        ended.warnings = (*truth.warnings, note)
    return ended
