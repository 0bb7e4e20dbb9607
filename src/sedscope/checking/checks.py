"""The checks: what is wrong or unusual about scores, about ground truth, and about both together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import silent_clips_text
from ..alignment.coverage import CoveredClips, extents_of, squeezed_references_note
from ..alignment.time_agreement import Tracks, time_fit_note
from ..data.choices import Coverage, Invalid, check_choice
from ..data.ground_truth import GroundTruth
from ..data.label_maps import no_effect_note
from ..data.labels import check_spelling
from ..data.scores import ClipScores, Scores
from ..data.thresholds import outside_of_probabilities
from ..data.times import TICKS_PER_SECOND, Ticks
from ..errors import counted, listing, subject
from .findings import Findings, Severity
from .survey import Survey


@dataclass(frozen=True)
class EventTimes:
    """The times of events as a file states them, including events outside their clips."""

    clips: Sequence[str]
    """The clip of each event."""
    labels: Sequence[str]
    """The label of each event."""
    onsets: Ticks
    offsets: Ticks


def check_scores(survey: Survey, findings: Findings) -> None:
    """Check the scores alone."""
    if survey.failures:
        what = f"{counted(len(survey.failures), 'clip')} cannot be read"
        findings.add_failures("unreadable", what, survey.failures)
    if survey.nan_count:
        what = f"{subject(survey.nan_count, 'score', 'is')} not a number (NaN)"
        findings.add("error", "nan", what, survey.nan_locations, lines=survey.nans_in_files)
    for kind, where, noun, what in (
        ("no-frames", survey.empty_clips, "clip", "no frames"),
        ("never-scored", survey.unscored_classes, "class", "only scores of -inf"),
        ("constant", survey.constant_classes, "class", "the same score in every frame"),
    ):
        findings.add_things("warning", kind, where, noun, f"has {what}")
    groups = survey.identical_clips
    if groups:
        what = f"{sum(map(len, groups))} clips have the same scores as another clip"
        findings.add("warning", "identical", what, [" = ".join(group) for group in groups])
    if len(survey.clips_by_frame) > 1:
        by_frequency = sorted(survey.clips_by_frame.items(), key=lambda item: -len(item[1]))
        where = [
            f"{length / 1e3:g} ms in {counted(len(clips), 'clip')} ({listing(clips, limit=2)})"
            for length, clips in by_frequency
        ]
        findings.add("warning", "grids", "The clips have frames of different lengths", where)
    if len(survey.types) > 1:
        what = "The scores of the clips have different number types"
        findings.add("warning", "types", what, sorted(survey.types))


def check_labels(truth: GroundTruth, findings: Findings) -> None:
    """Check the labels of the ground truth alone."""
    findings.add_notes("spelling", check_spelling(truth.labels, truth.labels, truth.labels))
    findings.add_notes("label-map", no_effect_note(truth.label_maps))


def check_references(
    scores: Scores, truth: GroundTruth, classes: Sequence[str] | None, findings: Findings
) -> None:
    """Find classes without reference events."""
    referenced = {*truth.labels}
    absent = [label for label in classes or scores.classes if label not in referenced]
    phrase = "has no reference events, so (it is|they are) left out of averages"
    findings.add_things("warning", "no-references", absent, "class", phrase)


def check_late_events(survey: Survey, truth: GroundTruth, invalid: Invalid, findings: Findings) -> None:
    """Find events beyond the last score of their clip. Only for clips of unknown duration."""
    ends = np.array([survey.ends.get(clip, -1) for clip in truth.clips], np.int64)[truth.event_clips]
    begin_late = (ends >= 0) & (truth.onsets >= ends)
    frames = np.array([survey.frames.get(clip, 1) for clip in truth.clips], np.int64)[truth.event_clips]
    frame = ends / np.maximum(frames, 1)  # less than one never matters
    end_late = (ends >= 0) & ~begin_late & (truth.offsets > ends + frame)
    severity: Severity = "error" if invalid == "error" else "warning"
    checks: tuple[tuple[NDArray[np.bool_], Severity, str, str], ...] = (
        (begin_late, severity, "late-events", "begins"),
        (end_late, "warning", "late-ends", "ends"),
    )
    for late, event_severity, kind, verb in checks:
        events = [_event_text(truth, row) for row in np.flatnonzero(late).tolist()]
        phrase = f"{verb} after the last score of the clip"
        findings.add_things(event_severity, kind, events, "reference event", phrase)


def check_time_unit(times: EventTimes, survey: Survey, truth: GroundTruth, findings: Findings) -> None:
    """Check whether most events lie so far beyond their clips that their times cannot be seconds."""
    durations = truth_durations(truth)
    ends = np.array([durations.get(clip, survey.ends.get(clip, -1)) for clip in times.clips], np.int64)
    frames = np.array([survey.frames.get(clip, -1) for clip in times.clips], np.int64)
    has_end = ends >= 0
    beyond = has_end & (times.offsets > 1.5 * np.maximum(ends, 1))
    if not has_end.any() or beyond.sum() <= has_end.sum() / 2:
        return
    offsets = times.offsets[beyond] / TICKS_PER_SECOND
    whole_numbers = bool(np.all(times.offsets[beyond] % TICKS_PER_SECOND == 0))
    if whole_numbers and np.all(offsets <= frames[beyond] + 1):
        guess = "Their times look like frame numbers"
    elif np.mean(offsets / 1000 <= ends[beyond] / TICKS_PER_SECOND) > 0.5:
        guess = "Their times look like milliseconds"
    else:
        guess = "Check that they belong to these clips and that their times are in seconds"
    what = f"{int(beyond.sum())} of {int(has_end.sum())} events lie far beyond the end of their clips"
    findings.add("warning", "unit", f"{what}. {guess}")


def truth_durations(truth: GroundTruth) -> dict[str, int]:
    """Return the stated durations of the clips in microseconds; empty if there are none."""
    if truth.durations is None:
        return {}
    return dict(zip(truth.clips, truth.durations.tolist(), strict=True))


def _event_text(truth: GroundTruth, k: int) -> str:
    clip, (label,) = truth.clips[truth.event_clips[k]], truth.names_of(np.array([k]))
    return f"{clip}: {label} {truth.onsets[k] / 1e6:g}–{truth.offsets[k] / 1e6:g} s"


def check_times(
    scores: Scores,
    survey: Survey,
    truth: GroundTruth,
    times: EventTimes,
    coverage: Coverage,
    findings: Findings,
) -> None:
    """Check that scores cover their clips, lie where the references do, and suit a threshold of 0.5.

    Clips that cannot be read are left to other checks.
    """
    check_choice(Coverage, coverage=coverage)
    listed = set(truth.clips)
    grids = {clip: ticks for clip, ticks in survey.grids.items() if clip in listed}
    _check_range(survey.low, survey.high, findings)
    if not scores.whole_clips:
        _check_silence(scores, [clip for clip in scores if clip in listed], findings)
    if grids and not _check_coverage(scores, truth, grids, coverage, findings):
        _check_fit(scores.classes, survey.kept, times, findings)


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
    findings.add_notes(
        "squeezed",
        squeezed_references_note(
            truth.offsets[kept], truth.event_clips[kept], durations, stated=bool(stated)
        ),
    )


def _check_coverage(
    scores: Scores, truth: GroundTruth, grids: dict[str, Ticks], coverage: Coverage, findings: Findings
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
    problem = covered.problem() or covered.frame_problem()
    if problem:
        findings.add("warning" if coverage == "any" else "error", "coverage", problem)
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
    findings.add_notes(
        "time-fit", time_fit_note(Tracks.of([*clips.values()], events, event_clips[rows], columns[rows]))
    )
