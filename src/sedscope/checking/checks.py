"""What is wrong or odd about scores, about ground truth, and about the two together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.alignment import Missing
from ..data.ground_truth import GroundTruth, Invalid
from ..data.scores import Scores
from ..data.times import TICKS_PER_SECOND, Ticks
from ..errors import counted, listing, with_guesses
from .findings import Findings, Severity
from .survey import Survey

_LATE = TICKS_PER_SECOND  # scores that end so much before or after their clip are odd


@dataclass(frozen=True)
class Times:
    """Onsets and offsets as a file has them, also those that lie outside their clips."""

    clips: Sequence[str]
    """The clip of each event."""
    onsets: Ticks
    offsets: Ticks


def judge_scores(seen: Survey, findings: Findings) -> None:
    """What the scores alone tell."""
    if seen.failures:
        said = f"{counted(len(seen.failures), 'clip')} cannot be read"
        findings.add("error", "unreadable", said, [str(error) for error in seen.failures])
    if seen.nans:
        findings.add("error", "nan", f"{seen.nan_count} scores not a number (NaN)", seen.nans)
    if seen.empty:
        said = f"{counted(len(seen.empty), 'clip')} without frames"
        findings.add("warning", "no-frames", said, seen.empty)
    if seen.never:
        said = f"{counted(len(seen.never), 'class')} never scored above -inf"
        findings.add("warning", "never-scored", said, seen.never)
    if seen.constant:
        said = f"{counted(len(seen.constant), 'class')} with one and the same score everywhere"
        findings.add("warning", "constant", said, seen.constant)
    groups = seen.identical
    if groups:
        said = f"{sum(map(len, groups))} clips with the same scores as another"
        findings.add("warning", "identical", said, [" = ".join(group) for group in groups])
    if len(seen.grids) > 1:
        said = "frames of different lengths"
        where = [
            f"{length / 1e3:g} ms in {counted(len(clips), 'clip')} ({listing(clips, limit=2)})"
            for length, clips in sorted(seen.grids.items(), key=lambda item: -len(item[1]))
        ]
        findings.add("warning", "grids", said, where)
    if len(seen.types) > 1:
        findings.add("warning", "types", f"numbers of different types: {listing(sorted(seen.types))}")


def judge_both(
    system: Scores,
    seen: Survey,
    truth: GroundTruth,
    classes: Sequence[str] | None,
    missing: Missing,
    invalid: Invalid,
    findings: Findings,
) -> None:
    """Clips, labels and times of both sides."""
    scored, listed = set(system), set(truth.clips)
    without = [clip for clip in truth.clips if clip not in scored]
    if without and scored & listed:
        share = 100 * len(without) / len(listed)
        findings.add(
            "warning",
            "clips-without-scores",
            f"{share:.0f} % of the listed clips have no scores ({len(without)} of {len(listed)}); "
            "--clips scored evaluates the others",
            without,
        )
    if not scored & listed:
        said = "no clip has both scores and ground truth"
        examples = [f"scores of {clip}" for clip in sorted(scored)[:2]]
        examples += [f"ground truth of {clip}" for clip in sorted(listed)[:2]]
        findings.add("error", "no-common-clip", said, examples)
    unlisted = [clip for clip in system if clip not in listed]
    if unlisted:
        findings.add(
            "error" if missing == "error" else "warning",
            "clips-not-listed",
            f"{counted(len(unlisted), 'clip')} with scores not in the ground truth; --missing empty "
            "takes them to have no events",
            unlisted,
        )
    judge_labels(system, truth, classes, findings)
    judge_times(seen, truth, invalid, findings)


def judge_labels(
    system: Scores, truth: GroundTruth, classes: Sequence[str] | None, findings: Findings
) -> None:
    """Labels that the scores do not have, and classes that nobody labelled."""
    chosen = [label for label in classes if label not in system.classes] if classes else []
    if chosen:
        findings.add("error", "classes", f"chosen classes without scores: {listing(chosen)}")
    lacking = [label for label in truth.labels if label not in system.classes]
    unknown = with_guesses(lacking, system.classes)
    if unknown:
        findings.add(
            "warning" if classes else "error",
            "labels",
            f"{counted(len(unknown), 'label')} of the ground truth not among the classes of the scores",
            unknown,
        )
    silent = [label for label in classes or system.classes if label not in truth.labels]
    if silent:
        said = f"{counted(len(silent), 'class')} without reference events: no recall, left out of means"
        findings.add("warning", "no-references", said, silent)


def judge_times(seen: Survey, truth: GroundTruth, invalid: Invalid, findings: Findings) -> None:
    """Where references and scores lie on the clips' timelines."""
    stated = _stated(truth)
    off = [
        f"{clip} ({stated[clip] / 1e6:g} s, scores until {end / 1e6:g} s)"
        for clip, end in seen.ends.items()
        if clip in stated and abs(stated[clip] - end) > _LATE
    ]
    if off and seen.whole_clips:
        said = f"{counted(len(off), 'clip')} whose scores end long before or after the clip"
        findings.add("warning", "ends", said, off)
    if stated:
        return
    ends = np.array([seen.ends.get(clip, -1) for clip in truth.clips], np.int64)[truth.event_clips]
    late = (ends >= 0) & (truth.onsets >= ends)
    beyond = (ends >= 0) & ~late & (truth.offsets > ends)
    severity: Severity = "error" if invalid == "error" else "warning"
    for mask, how, kind, said in (
        (late, severity, "late-events", "beginning"),
        (beyond, "warning", "late-ends", "ending"),
    ):
        rows = np.flatnonzero(mask).tolist()
        if rows:
            number = counted(len(rows), "reference event")
            what = f"{number} {said} after the last score of their clip"
            findings.add(how, kind, what, [_event(truth, k) for k in rows])


def judge_unit(times: Times, seen: Survey, truth: GroundTruth, findings: Findings) -> None:
    """Whether most events lie so far beyond their clips that their times cannot be seconds."""
    stated = _stated(truth)
    ends = np.array([stated.get(clip, seen.ends.get(clip, -1)) for clip in times.clips], np.int64)
    frames = np.array([seen.frames.get(clip, -1) for clip in times.clips], np.int64)
    known = ends >= 0
    beyond = known & (times.offsets > 1.5 * np.maximum(ends, 1))
    if not known.any() or beyond.sum() <= known.sum() / 2:
        return
    offsets = times.offsets[beyond] / TICKS_PER_SECOND
    whole = bool(np.all(times.offsets[beyond] % TICKS_PER_SECOND == 0))
    if whole and np.all(offsets <= frames[beyond] + 1):
        guess = "they look like numbers of frames"
    elif np.mean(offsets / 1000 <= ends[beyond] / TICKS_PER_SECOND) > 0.5:
        guess = "they look like milliseconds"
    else:
        guess = "are they of other clips, or in another unit?"
    number = f"{int(beyond.sum())} of {int(known.sum())} events"
    findings.add("warning", "unit", f"times of {number} lie far beyond their clips: {guess}")


def _stated(truth: GroundTruth) -> Mapping[str, int]:
    """The stated durations of clips, in microseconds."""
    if truth.durations is None:
        return {}
    return dict(zip(truth.clips, truth.durations.tolist(), strict=True))


def _event(truth: GroundTruth, k: int) -> str:
    clip, label = truth.clips[truth.event_clips[k]], truth.labels[truth.event_labels[k]]
    return f"{clip}: {label} {truth.onsets[k] / 1e6:g}–{truth.offsets[k] / 1e6:g} s"
