"""Scores and ground truth brought together: the same clips and the same classes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import IntArray, sha256
from ..data.choices import ClipChoice, Coverage, Invalid, Missing, check_choice
from ..data.clips import clip_id, clip_list_digest
from ..data.ground_truth import GroundTruth
from ..data.labels import (
    MAP_ADVICE,
    check_spelling,
    refuse_disjoint,
    stripped,
    undetected_note,
    with_likely_labels,
)
from ..data.scores import Scores
from ..data.times import Ticks
from ..errors import SedscopeError, agreeing, counted, listing, subject
from .coverage import CoveredClips, late_ends_note, squeezed_references_note

if TYPE_CHECKING:
    from .cuts import UncutReferences

SCORED_ADVICE = "Evaluate the others with `clips='scored'`."
"""What to do if some clips have no scores."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """What is evaluated: clips and classes in order, and their reference events."""

    scores: Scores
    clips: tuple[str, ...]
    classes: tuple[str, ...]
    columns: IntArray
    """The column of each class in the scores."""
    events: Ticks
    """(events × 2) onsets and offsets in microseconds, ordered by clip, class, onset."""
    labels: NDArray[np.int32]
    """The class of each event, as an index into ``classes``."""
    ignored: NDArray[np.bool_]
    """Which events are ignored references. One that is ignored for every class is listed for each."""
    starts: IntArray
    """The first event of each clip, and the number of all events."""
    durations: Ticks
    """Per clip in microseconds. 0 means that the clip ends at the last boundary of its scores."""
    coverage: Coverage
    """What to do with scores that end long before or after most of their clips."""
    invalid: Invalid
    """What to do with events that begin after the end of their clip."""
    warnings: tuple[str, ...]
    hashed: bool = False
    """Whether the deltas state a digest of the scores that were read."""
    uncut: UncutReferences | None = None
    """The references of the recordings that the clips were cut out of; None if they are whole."""
    memory_limit: float = math.inf
    """Bytes that the deltas of some clips at a time may take."""

    def __repr__(self) -> str:
        return (
            f"<Alignment: {counted(len(self.labels), 'event')}, {counted(len(self.clips), 'clip')}, "
            f"{counted(len(self.classes), 'class')}>"
        )

    @property
    def event_clips(self) -> IntArray:
        """The clip of each event, as an index into ``clips``."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def choose(self, clips: NDArray[np.intp]) -> Alignment:
        """Keep only the clips with these indices."""
        lengths = self.starts[clips + 1] - self.starts[clips]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.repeat(self.starts[clips] - starts[:-1], lengths) + np.arange(starts[-1])
        return replace(
            self,
            clips=tuple(self.clips[clip] for clip in clips.tolist()),
            events=self.events[rows],
            labels=self.labels[rows],
            ignored=self.ignored[rows],
            starts=starts,
            durations=self.durations[clips],
            uncut=None if self.uncut is None else self.uncut.choose(clips),
        )

    def of_classes(self, kept: NDArray[np.bool_]) -> Alignment:
        """Keep only some of the classes. ``kept``: whether each class is one of them."""
        number = (np.cumsum(kept) - 1).astype(np.int32)
        rows = kept[self.labels]
        return replace(
            self,
            classes=tuple(label for label, keep in zip(self.classes, kept, strict=True) if keep),
            columns=self.columns[kept],
            events=self.events[rows],
            labels=number[self.labels[rows]],
            starts=np.concatenate([[0], np.cumsum(rows)])[self.starts].astype(np.int64),
            ignored=self.ignored[rows],
            uncut=None if self.uncut is None else self.uncut.of_classes(kept),
        )

    def counted(self) -> Alignment:
        """Leave out ignored references."""
        before = np.concatenate([[0], np.cumsum(~self.ignored)])
        return replace(
            self,
            events=self.events[~self.ignored],
            labels=self.labels[~self.ignored],
            ignored=self.ignored[~self.ignored],
            starts=before[self.starts],
        )

    def covered_clips(self, durations: Ticks, extents: Ticks) -> CoveredClips:
        """Return how much of each clip its frames cover. ``durations``: known for all clips."""
        return CoveredClips(self.clips, durations, extents, self.scores.whole_clips)

    def unstated_ends_notes(self, durations: Ticks, extents: Ticks) -> list[str]:
        """Note references that do not fit the scores of clips without a stated duration.

        ``durations``: as evaluated, known for all clips.
        """
        unstated = self.durations == 0
        if not unstated.any() or not self.scores.whole_clips:
            return []
        counted = self.counted()
        event_clips = counted.event_clips
        kept = unstated[event_clips]
        return [
            *squeezed_references_note(counted.events[:, 1], event_clips, durations, stated=False),
            *late_ends_note(self.clips, counted.events[kept], event_clips[kept], extents),
        ]

    def require_coverage(self, durations: Ticks, extents: Ticks) -> None:
        """Refuse scores that end long before or after most of their clips, unless that is accepted."""
        if self.coverage != "any":
            covered = self.covered_clips(durations, extents)
            covered.refuse()
            covered.refuse_frames()

    def has_overlapping_references(self) -> bool:
        """Return whether references of one clip and class overlap, ignored ones left aside."""
        counted = ~self.ignored
        events, labels = self.events[counted], self.labels[counted]
        event_clips = self.event_clips[counted]
        same = (event_clips[1:] == event_clips[:-1]) & (labels[1:] == labels[:-1])
        return bool((same & (events[1:, 0] < events[:-1, 1])).any())

    def point_references(self) -> IntArray:
        """Return the references of no length, which are points in time."""
        return np.flatnonzero(self.events[:, 0] == self.events[:, 1])

    def describe_reference(self, event: int) -> str:
        """Return clip, label and onset of a reference for a message."""
        clip = self.clips[int(np.searchsorted(self.starts, event, side="right")) - 1]
        return f"clip {clip}, {self.classes[self.labels[event]]} at {self.events[event, 0] / 1e6:g} s"

    def truth_digest(self) -> str:
        """Return the SHA-256 hash of the clips, classes, reference events and durations.

        It does not depend on their order.
        """
        clip_rank, class_rank = (np.argsort(np.argsort(names)) for names in (self.clips, self.classes))
        columns = (clip_rank[self.event_clips], class_rank[self.labels], *self.events.T, self.ignored)
        order = np.lexsort(columns[::-1])
        digest = sha256(f"{clip_list_digest(self.clips)} {clip_list_digest(self.classes)}".encode())
        for array in (*(column[order] for column in columns), self.durations[np.argsort(self.clips)]):
            digest.update(array.astype("<i8").tobytes())
        if self.uncut is not None:
            digest.update(self.uncut.identity())
        return digest.hexdigest()


def align(
    scores: Scores,
    truth: GroundTruth,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
) -> Alignment:
    """Choose the clips and classes to evaluate.

    ``classes``: by default all classes of the scores. ``clips``: ids, or ``"scored"`` for all clips that
    have scores; by default, scores and ground truth must have the same clips. ``missing="empty"``:
    clips that the ground truth does not list have no events. ``coverage="any"``: the scores may end long
    before or after their clips.
    """
    if not isinstance(scores, Scores):
        raise SedscopeError(f"Expected Scores, not {type(scores).__name__}. See read_scores.")
    if not isinstance(truth, GroundTruth):
        raise SedscopeError(
            f"Expected a GroundTruth, not {type(truth).__name__}. See read_ground_truth."
        )
    check_choice(Coverage, coverage=coverage)
    check_choice(Missing, missing=missing)
    problems = Problems()
    chosen_classes = choose_classes(scores, truth, classes, problems)
    chosen_clips = choose_clips(scores, truth, clips, missing, problems)
    warnings = problems.warnings
    class_number = {label: i for i, label in enumerate(chosen_classes)}
    clip_number = {clip: i for i, clip in enumerate(chosen_clips)}
    warnings[:0] = truth._warnings_about(clip_number, class_number)
    warnings += _silent_clips_note(scores, chosen_clips, clips)
    truth_clip = (
        np.arange(len(chosen_clips))
        if chosen_clips == truth.clips
        else np.fromiter(map(clip_number.get, truth.clips, repeat(-1)), np.int64, len(truth.clips))
    )

    rows, event_labels = _events_by_class(truth, class_number)
    event_clips = truth_clip[truth.event_clips[rows]]
    kept = np.flatnonzero((event_clips >= 0) & (event_labels >= 0))
    order = kept[np.lexsort((truth.onsets[rows[kept]], event_labels[kept], event_clips[kept]))]
    rows, event_labels, event_clips = rows[order], event_labels[order], event_clips[order]
    counts = np.bincount(event_clips, minlength=len(chosen_clips))
    column = {label: i for i, label in enumerate(scores.classes)}
    durations = np.zeros(len(chosen_clips), np.int64)
    if truth.durations is not None:
        evaluated = truth_clip >= 0
        durations[truth_clip[evaluated]] = truth.durations[evaluated]
    unknown = int(np.count_nonzero(durations == 0))
    if unknown and not scores.whole_clips:
        without = [chosen_clips[i] for i in np.flatnonzero(durations == 0).tolist()]
        raise SedscopeError(
            "A list of detections does not say how long its clips are, and the ground truth has no duration "
            f"of {counted(unknown, 'clip')}: {listing(without)}. Give durations (`durations=`), or scored "
            "regions (`cut_to_regions()`)."
        )
    if unknown:
        phrase = "has no stated duration, so sedscope assumes that each clip ends with its last score. "
        warnings.append(subject(unknown, "clip", f"{phrase}State the durations with `durations=`."))
    events = np.stack([truth.onsets[rows], truth.offsets[rows]], axis=1)
    ignored = truth.ignored[rows]
    warnings += squeezed_references_note(events[~ignored, 1], event_clips[~ignored], durations)
    return Alignment(
        scores=scores,
        clips=chosen_clips,
        classes=chosen_classes,
        columns=np.array([column[label] for label in chosen_classes], np.int64),
        events=events,
        labels=event_labels,
        ignored=ignored,
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        durations=durations,
        coverage=coverage,
        invalid=truth.invalid,
        warnings=tuple(warnings),
        uncut=truth._uncut_references(chosen_clips, class_number),
    )


def _events_by_class(
    truth: GroundTruth, class_number: Mapping[str, int]
) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the rows of events and their classes, -1 for labels that are not evaluated.

    An event that is ignored for every class occurs once for each.
    """
    rows = np.arange(len(truth))
    everywhere = truth.event_labels >= len(truth.labels)
    label_class = np.array([class_number.get(label, -1) for label in truth.labels], np.int32)
    if not everywhere.any():
        return rows, label_class[truth.event_labels]
    of_label, shared = rows[~everywhere], rows[everywhere]
    classes = np.tile(np.arange(len(class_number), dtype=np.int32), len(shared))
    return (
        np.concatenate([of_label, np.repeat(shared, len(class_number))]),
        np.concatenate([label_class[truth.event_labels[of_label]], classes]),
    )


def _silent_clips_note(scores: Scores, chosen: tuple[str, ...], clips: ClipChoice) -> list[str]:
    """Note clips that a list of detections does not name, because it may lack them by mistake."""
    assumed = scores.assumed_clips
    silent = [clip for clip in chosen if clip in assumed] if assumed else []
    if not silent:
        return []
    advice = ""
    if isinstance(clips, str):
        advice = " `clips='scored'` keeps them: a list of detections does not say which"
        advice += " clips were processed. To leave some out, list the others with `clips=`."
    return [f"{silent_clips_text(len(silent), len(chosen))}: {listing(silent)}.{advice}"]


def silent_clips_text(silent: int, clips: int) -> str:
    """Say that a list of detections does not name some of the clips; without a full stop."""
    verbs = ("is", "it counts") if silent == 1 else ("are", "they count")
    absent = f"{silent} of {counted(clips, 'clip')} {verbs[0]} not in the list of detections"
    return f"{absent}, so {verbs[1]} as silent"


class Problems:
    """What is wrong with the clips and classes to evaluate. An error is raised, a warning is kept."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def error(self, kind: str, what: str, where: Collection[str] = (), advice: str = "") -> None:
        """Say what makes an evaluation impossible, and where. ``kind``: a word for it, for other readers."""
        text = f"{what}: {listing(where)}" if where else what
        raise SedscopeError(f"{text}. {advice}".rstrip(), advice=advice)

    def warning(self, kind: str, what: str, where: Collection[str] = (), *, listed: bool = True) -> None:
        """Say what is unusual. ``listed``: whether to say where in the text, too."""
        self.warnings.append(f"{what}: {listing(where)}." if where and listed else f"{what}.")

    def add_notes(self, kind: str, notes: Iterable[str]) -> None:
        """Add warnings that are complete sentences."""
        self.warnings += notes

    def add_failure(self, kind: str, error: SedscopeError) -> None:
        """Add an error that was raised."""
        raise error


def choose_classes(
    scores: Scores,
    truth: GroundTruth,
    classes: Iterable[str] | None = None,
    problems: Problems | None = None,
) -> tuple[str, ...]:
    """Choose the classes to evaluate, and refuse labels that do not match; see :func:`align`."""
    problems = Problems() if problems is None else problems
    if isinstance(classes, str):
        raise SedscopeError(f"classes must be a list of names, not {classes!r}.")
    ignored = [label for label in scores.classes if label in truth.ignored_labels]
    if classes is not None:
        chosen = stripped(classes)
        ignored = [label for label in chosen if label in truth.ignored_labels]
        if ignored:
            what = (
                f"The ground truth ignores {listing(ignored)} for every class, so no class can have this"
            )
            advice = "Leave it out of the classes or of `ignored_labels=`."
            problems.error("classes", f"{what} label", advice=advice)
    else:
        chosen = tuple(label for label in scores.classes if label not in ignored)
        if ignored:
            what = f"{counted(len(ignored), 'class')} of the scores (is|are) not evaluated, because the "
            what = agreeing(len(ignored), f"{what}ground truth ignores the label")
            problems.warning("ignored-labels", what, ignored)
    scored = {*scores.classes}
    unscored = [
        label if isinstance(label, str) and label.strip() == label != "" else repr(label)
        for label in chosen
        if not isinstance(label, str) or label not in scored
    ]
    if unscored:
        likely = with_likely_labels(unscored, scores.classes)
        advice = f"The scores have {listing(scores.classes, limit=30)}."
        problems.error("classes", subject(len(unscored), "class", "has no scores"), likely, advice)
    if not chosen:
        problems.error("classes", "There is no class to evaluate")
    unknown = [label for label in truth.labels if label not in scored]
    try:
        refuse_disjoint(scores.named_classes, truth.labels)
    except SedscopeError as error:
        problems.add_failure("labels", error)
        return chosen
    if unknown:
        likely = with_likely_labels(unknown, scores.classes)
        number = f"{counted(len(unknown), 'label')} of the ground truth"
        if classes is None:
            what = agreeing(len(unknown), f"{number} (is|are) not among the classes of the scores")
            only = [label for label in scores.classes if label not in {*truth.labels}]
            known = f"Only the scores have {listing(only, 30)}." if only else ""
            known = known or f"The scores have {listing(scores.classes, limit=30)}."
            advice = "Correct the labels, or choose the classes to evaluate with `classes=`."
            problems.error("labels", what, likely, f"{known} {advice} {MAP_ADVICE}")
            return chosen  # differences in spelling are among them
        what = agreeing(
            len(unknown), f"{number} (has no scores and was|have no scores and were) left out"
        )
        problems.warning("labels", what, likely)
    label_maps = (*scores.label_maps, *truth.label_maps)
    if label_maps:
        from ..data.label_maps import unused_names_note

        problems.add_notes("label-map", unused_names_note(label_maps, {*scores.classes, *truth.labels}))
    try:
        problems.add_notes("spelling", check_spelling(scores.named_classes, truth.labels, chosen))
    except SedscopeError as error:
        problems.add_failure("spelling", error)
    if scores.assumed_classes:
        notes = undetected_note(scores.named_classes, truth.labels, chosen)
        problems.add_notes("never-detected", notes)
    return tuple(dict.fromkeys(chosen))


def choose_clips(
    scores: Scores, truth: GroundTruth, clips: ClipChoice, missing: Missing, problems: Problems
) -> tuple[str, ...]:
    """Choose the clips to evaluate, and refuse those that one side lacks; see :func:`align`."""
    listed, scored = {*truth.clips}, {*scores}
    if isinstance(clips, str) and clips != "scored":
        raise SedscopeError(f"clips={clips!r} is not valid. Give a list of clips, or 'scored'.")
    if clips is not None and not isinstance(clips, str):
        chosen = tuple(dict.fromkeys(clip_id(name) for name in clips))
        lacking = [clip for clip in chosen if clip not in scored]
        if lacking:
            what = subject(len(lacking), "chosen clip", "has no scores")
            problems.error("chosen-clips", what, lacking)
    else:
        chosen = tuple(scores)
        assumed = scores.assumed_clips
        named = [clip for clip in chosen if clip not in assumed] if assumed else [*chosen]
        absent = [] if listed <= scored else [clip for clip in truth.clips if clip not in scored]
        what = f"{len(absent)} of the {counted(len(listed), 'clip')} in the ground truth "
        if missing != "empty" and named and listed and listed.isdisjoint(named):
            what = f"The system has {listing(named, 3)}. The ground truth has {listing(truth.clips, 3)}"
            advice = "Use the same names on both sides; only folders and audio suffixes may differ."
            what = f"No clip of the system is in the ground truth. {what}"
            problems.error("no-common-clip", what, advice=advice)
        elif absent and clips is None:
            what += agreeing(len(absent), "(has|have) no scores")
            problems.error("clips-without-scores", what, absent, SCORED_ADVICE)
        elif absent:
            what += agreeing(len(absent), "(has no scores and was|have no scores and were) left out")
            problems.warning("clips-without-scores", what, absent, listed=False)
    if not chosen:
        problems.error("clips", "There is no clip to evaluate")
    unlisted = [clip for clip in chosen if clip in scored and clip not in listed]
    if unlisted and missing == "error":
        what = subject(len(unlisted), "clip", "has scores but (is|are) not in the ground truth")
        advice = "If (it has|they have) no events, say so with `missing='empty'`."
        problems.error("clips-not-listed", what, unlisted, agreeing(len(unlisted), advice))
    elif unlisted:
        phrase = "is not in the ground truth and (is|are) assumed to have no events"
        what = subject(len(unlisted), "clip", phrase)
        problems.warning("clips-not-listed", what, unlisted, listed=False)
    return chosen
