"""One function per criterion that finds deltas, with the arguments of sed_scores_eval.

``num_jobs`` has no effect, because sedscope uses one thread per core anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...counting.request import DeltaRequest
from ...criteria import Clip, Collar, Criterion, Intersection, Segment
from ...data.clips import clip_id, clip_ids
from ...data.scores import ClipScores, Scores
from ...data.times import TICKS_PER_SECOND, to_ticks
from ...errors import SedscopeError
from . import inputs
from .base_modules.io import parse_ground_truth
from .counting import NamedDeltas, find_deltas, warn
from .delta_tables import deltas_from_table
from .rounded_criteria import RoundedIntersection, rounded, rounded_clip, rounding_step


def by_intersection(
    scores: Any,
    ground_truth: Any,
    *,
    deltas: Any = None,
    dtc_threshold: float,
    gtc_threshold: float,
    cttc_threshold: float | None = None,
    time_decimals: int = 6,
    num_jobs: int = 1,
) -> NamedDeltas:
    """Count by intersection."""
    criterion = rounded(Intersection(dtc_threshold, gtc_threshold, cttc_threshold), time_decimals)
    return by_events(scores, ground_truth, criterion, deltas=deltas)


def by_collar(
    scores: Any,
    ground_truth: Any,
    *,
    deltas: Any = None,
    onset_collar: float,
    offset_collar: float,
    offset_collar_rate: float = 0.0,
    return_onset_offset_dist_sum: bool = False,
    time_decimals: int = 6,
    num_jobs: int = 1,
) -> NamedDeltas:
    """Count by collars. ``return_onset_offset_dist_sum``: also sum the errors of matched pairs."""
    criterion = Collar(
        onset_collar, offset_collar, offset_collar_rate, errors=return_onset_offset_dist_sum
    )
    return by_events(scores, ground_truth, rounded(criterion, time_decimals), deltas=deltas)


def by_segment(
    scores: Any,
    ground_truth: Any,
    audio_durations: Any,
    *,
    deltas: Any = None,
    segment_length: float = 1.0,
    time_decimals: int = 6,
    num_jobs: int = 1,
    full_last_segment: bool = False,
) -> NamedDeltas:
    """Count segments. Without durations, a clip ends with its last score or reference event.

    ``full_last_segment``: judge the last segment in full length, with scores and references after the
    end of the clip, as sed_scores_eval does.
    """
    criterion, step = Segment(segment_length), rounding_step(time_decimals)
    length = int(to_ticks(segment_length))
    if length % step:
        raise SedscopeError(
            f"segment_length={segment_length!r} is not a multiple of {step / 1e6:g} s, to which times "
            "are rounded. Raise time_decimals."
        )
    if deltas is not None:
        return deltas_from_table(deltas, criterion, None)
    named, events = inputs.named_scores(scores), inputs.events_by_name(ground_truth)
    durations = (
        _last_times(named, events)
        if audio_durations is None
        else inputs.durations_by_name(audio_durations)
    )
    judged = None
    if full_last_segment:
        judged = {
            name: -(-int(to_ticks(seconds)) // length) * length / TICKS_PER_SECOND
            for name, seconds in durations.items()
        }
    if step > 1:
        named = _rounded_scores(named, step)
    return count_same_clips(named, events, durations, criterion, judged=judged)


def by_clip(scores: Any, ground_truth: Any, *, deltas: Any = None, num_jobs: int = 1) -> NamedDeltas:
    """Count clips. The ground truth is the labels of each clip."""
    if deltas is not None:
        return deltas_from_table(deltas, Clip(), None)
    tags = parse_ground_truth(ground_truth, tagging=True)
    named = inputs.named_scores(scores)
    inputs.require_same_clips(map(clip_id, tags), named.scores, "ground truth")
    return find_deltas(named, inputs.truth_of_tags(tags), Clip(), timed=False)


def by_events(
    scores: Any,
    ground_truth: Any,
    criterion: Criterion,
    *,
    deltas: Any = None,
    audio_durations: inputs.DurationsInput | None = None,
    request: DeltaRequest | None = None,
) -> NamedDeltas:
    """Count by a criterion for events. ``deltas``: a table of deltas to use instead of scores."""
    events = inputs.events_by_name(ground_truth)
    durations = None if audio_durations is None else inputs.durations_by_name(audio_durations)
    if deltas is None:
        return count_same_clips(inputs.named_scores(scores), events, durations, criterion, request)
    clips = list(clip_ids(deltas, "deltas").values())
    events = inputs.of_clips(events, clips, "ground truth")
    if durations is not None:
        durations = inputs.of_clips(durations, clips, "durations")
    return deltas_from_table(deltas, criterion, inputs.truth_of_events(events, durations))


def count_same_clips(
    scores: inputs.NamedScores,
    events: Mapping[str, Any],
    durations: Mapping[str, float] | None,
    criterion: Criterion,
    request: DeltaRequest | None = None,
    *,
    judged: Mapping[str, float] | None = None,
) -> NamedDeltas:
    """Count by a criterion. Scores, events and durations must have the same clips.

    ``judged``: up to which time clips are judged, if that is not their duration.
    """
    inputs.require_same_clips(map(clip_id, events), scores.scores, "ground truth")
    if durations is not None:
        inputs.require_same_clips(map(clip_id, durations), scores.scores, "durations")
    truth = inputs.truth_of_events(events, durations if judged is None else judged)
    if isinstance(criterion, RoundedIntersection):
        _warn_of_rounding_to_0(criterion, scores.scores)
    known, ends = durations is not None, None if judged is None else durations
    return find_deltas(scores, truth, criterion, request, known_durations=known, ends=ends)


def _warn_of_rounding_to_0(criterion: RoundedIntersection, scores: Scores) -> None:
    """Warn if a detection of one frame need not overlap anything, by the frames of the first clip."""
    frame = int(np.median(np.diff(scores[next(iter(scores))].ticks)))
    if criterion.needs_nothing(frame):
        warn(
            [
                f"With time_decimals={criterion.decimals}, the overlap that a detection of one frame needs "
                "is rounded to 0. sed_scores_eval then asks for no overlap, sedscope for a microsecond. "
                "Raise time_decimals."
            ]
        )


def _rounded_scores(named: inputs.NamedScores, step: int) -> inputs.NamedScores:
    """Round frame boundaries when a clip is loaded."""
    scores = named.scores

    def load(name: str) -> ClipScores:
        return rounded_clip(scores[name], step, f"clip {name}")

    return replace(named, scores=scores._replaced(load=load))


def _last_times(scores: inputs.NamedScores, events: Mapping[str, Any]) -> dict[str, float]:
    """Return the end of the last score or reference event of each clip."""
    ends = {clip: float(scores.scores[clip].edges[-1]) for clip in scores.scores}
    for name, clip_events in events.items():
        clip = clip_id(name)
        ends[clip] = max([ends.get(clip, 0.0), *(float(event[1]) for event in clip_events)])
    return ends
