"""Checks of where scores lie in time and in range, in one look at all clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..counting.clip_reader import read_each
from ..counting.threads import thread_count
from ..data.alignment import silent_clips_text
from ..data.choices import Coverage
from ..data.clip_events import ClipEvents, EventList
from ..data.coverage import (
    CoveredClips,
    check_coverage_choice,
    extents_of,
    squeezed_references_note,
)
from ..data.ground_truth import GroundTruth
from ..data.score_range import outside_of_probabilities, score_range
from ..data.scores import ClipScores, Scores
from ..data.time_fit import Tracks, time_fit_note
from ..data.times import Ticks
from ..errors import SedscopeError, subject
from .checks import EventTimes, truth_durations
from .findings import Findings

_COMPARED = 1000  # clips whose references are compared with their scores


def check_times(
    scores: Scores,
    truth: GroundTruth,
    times: EventTimes,
    coverage: Coverage,
    findings: Findings,
    threads: int | None = None,
) -> None:
    """Check that scores cover their clips, lie where the references do, and suit a threshold of 0.5.

    Clips that cannot be read are left to other checks.
    """
    check_coverage_choice(coverage)
    listed = set(truth.clips)
    clips = [clip for clip in scores if clip in listed]
    grids: dict[str, Ticks] = {}
    low, high = np.inf, -np.inf
    compared = {clips[i] for i in np.linspace(0, len(clips) - 1, min(_COMPARED, len(clips))).astype(int)}
    kept: dict[str, ClipScores] = {}
    for clip, loaded in zip(clips, read_each(scores, clips, thread_count(threads)), strict=True):
        if isinstance(loaded, SedscopeError):
            continue
        if isinstance(loaded, ClipEvents):
            grids[clip] = EventList.joined([loaded]).extents()[0]
            continue
        grids[clip] = loaded.ticks
        if not isinstance(loaded, ClipScores):
            continue
        clip_low, clip_high = score_range([loaded.values])
        low, high = min(low, clip_low), max(high, clip_high)
        if clip in compared and len(loaded.values) and not np.isnan(loaded.values).any():
            kept[clip] = loaded
    _check_range(float(low), float(high), findings)
    if not scores.whole_clips:
        _check_silence(scores, clips, findings)
    if grids and not _check_coverage(scores, truth, grids, coverage, findings):
        _check_fit(scores.classes, kept, times, findings)


def _check_range(low: float, high: float, findings: Findings) -> None:
    if outside_of_probabilities(low, high):
        findings.add(
            "warning",
            "range",
            f"The scores lie between {low:.4g} and {high:.4g}, so they are not probabilities. That is "
            "fine for metrics over all thresholds, but a fixed threshold such as 0.5 may not fit",
        )


def _check_silence(scores: Scores, clips: Sequence[str], findings: Findings) -> None:
    """Find clips that a list of detections does not name."""
    silent = [clip for clip in clips if clip in scores.assumed_clips]
    if silent:
        findings.add("warning", "silent", silent_clips_text(len(silent), len(clips)), silent)


def check_reference_times(
    truth: GroundTruth, findings: Findings, ends: Mapping[str, int] | None = None
) -> None:
    """Find out whether all references lie at the very beginning of their clips.

    ``ends``: where the scores of each clip end, in microseconds, for clips without a stated duration.
    """
    stated = truth_durations(truth)
    durations = np.array([stated.get(clip, (ends or {}).get(clip, 0)) for clip in truth.clips], np.int64)
    known = durations[truth.event_clips] > 0 if ends else np.ones(len(truth), bool)
    kept = np.flatnonzero(known & ~truth.ignored)
    for note in squeezed_references_note(
        truth.offsets[kept], truth.event_clips[kept], durations, stated=bool(stated)
    ):
        findings.add("warning", "squeezed", note)


def _check_coverage(
    scores: Scores,
    truth: GroundTruth,
    grids: dict[str, Ticks],
    coverage: Coverage,
    findings: Findings,
) -> bool:
    """Find clips whose scores end long before or after them. Return whether that is true of the set."""
    extents = extents_of([*grids.values()])
    stated = truth_durations(truth)
    ends = dict(zip(grids, extents[:, 2].tolist(), strict=True))
    durations = np.array([stated.get(clip, ends[clip]) for clip in grids], np.int64)
    unstated = [clip for clip in grids if not stated.get(clip)]
    if unstated and scores.whole_clips and not findings.has_errors_of("durations", "ground-truth"):
        what = f"{subject(len(unstated), 'clip', 'has')} no stated duration"
        findings.add(
            "warning",
            "no-durations",
            f"{what}, so sedscope assumes that each clip ends with its last score",
        )
    covered = CoveredClips([*grids], durations, extents, scores.whole_clips)
    problem = covered.problem()
    if problem:
        findings.add("error" if coverage == "error" else "warning", "coverage", problem)
        return True
    for what, where in covered.findings():
        findings.add("warning", "ends", what, where)
    return False


def _check_fit(
    classes: Sequence[str], clips: dict[str, ClipScores], times: EventTimes, findings: Findings
) -> None:
    """Find out whether the references fit the scores much better with another unit or origin."""
    if not clips:
        return
    column = {label: c for c, label in enumerate(classes)}
    columns = np.array([column.get(label, -1) for label in times.labels], np.int64)
    number = {clip: i for i, clip in enumerate(clips)}
    event_clips = np.array([number.get(clip, -1) for clip in times.clips], np.int64)
    rows = np.flatnonzero((event_clips >= 0) & (columns >= 0))
    events = np.stack([times.onsets[rows], times.offsets[rows]], axis=1)
    for note in time_fit_note(Tracks.of([*clips.values()], events, event_clips[rows], columns[rows])):
        findings.add("warning", "time-fit", note)
