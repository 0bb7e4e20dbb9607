"""Scores and ground truth brought together: the same clips, the same classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, listing, with_guesses
from .clip_ids import clip_id
from .ground_truth import GroundTruth, Invalid
from .scores import Scores
from .times import Ticks

ClipChoice: TypeAlias = Iterable[str] | Literal["scored"] | None
Missing: TypeAlias = Literal["error", "empty"]


@dataclass(frozen=True, eq=False)
class Alignment:
    """What is evaluated: clips in order, classes in order, and the references among them."""

    scores: Scores
    clips: tuple[str, ...]
    classes: tuple[str, ...]
    columns: NDArray[np.int64]
    """The column of each class in the scores."""
    events: Ticks
    """(events × 2) onsets and offsets in microseconds, ordered by clip, class, onset."""
    labels: NDArray[np.int32]
    """The class of each event, as an index into ``classes``."""
    starts: NDArray[np.int64]
    """The first event of each clip, and the end."""
    durations: Ticks
    """Per clip, in microseconds; 0 where the scores' last boundary is to be taken."""
    invalid: Invalid
    """What becomes of events that begin after the end of their clip."""
    warnings: tuple[str, ...]

    def choose(self, clips: NDArray[np.intp]) -> Alignment:
        """Only the clips of these numbers."""
        numbers = self.starts[clips + 1] - self.starts[clips]
        starts = np.concatenate([[0], np.cumsum(numbers)])
        chosen = np.repeat(self.starts[clips] - starts[:-1], numbers) + np.arange(starts[-1])
        return replace(
            self,
            clips=tuple(self.clips[clip] for clip in clips),
            events=self.events[chosen],
            labels=self.labels[chosen],
            starts=starts,
            durations=self.durations[clips],
        )


def align(
    scores: Scores,
    truth: GroundTruth,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
) -> Alignment:
    """Choose what is evaluated.

    ``classes``: all of the scores' unless given. ``clips``: ids, or ``"scored"`` for those with
    scores; by default the clips of both sides must be the same. ``missing="empty"``: clips that the
    ground truth does not list have no events.
    """
    if not isinstance(scores, Scores):
        raise SedscopeError(f"expected Scores, not {type(scores).__name__}: see read_scores")
    if not isinstance(truth, GroundTruth):
        raise SedscopeError(f"expected a GroundTruth, not {type(truth).__name__}: see read_ground_truth")
    warnings = list(truth.warnings)
    chosen_classes = _choose_classes(scores, truth, classes, warnings)
    chosen_clips = _choose_clips(scores, truth, clips, missing, warnings)

    class_number = {label: i for i, label in enumerate(chosen_classes)}
    label_class = np.array([class_number.get(label, -1) for label in truth.labels], np.int32)
    clip_number = {clip: i for i, clip in enumerate(chosen_clips)}
    truth_clip = np.array([clip_number.get(clip, -1) for clip in truth.clips], np.int64)

    event_clips = truth_clip[truth.event_clips]
    event_labels = label_class[truth.event_labels]
    kept = np.flatnonzero((event_clips >= 0) & (event_labels >= 0))
    order = kept[np.lexsort((truth.onsets[kept], event_labels[kept], event_clips[kept]))]
    counts = np.bincount(event_clips[order], minlength=len(chosen_clips))
    column = {label: i for i, label in enumerate(scores.classes)}
    durations = _durations(truth, chosen_clips)
    unknown = int(np.count_nonzero(durations == 0))
    if unknown and not scores.whole_clips:
        raise SedscopeError(
            "a list of detections does not say how long its clips are: give durations (--durations)"
        )
    if unknown:
        warnings.append(
            f"durations of {counted(unknown, 'clip')} not given: taken from the scores' last boundary"
        )
    return Alignment(
        scores=scores,
        clips=chosen_clips,
        classes=chosen_classes,
        columns=np.array([column[label] for label in chosen_classes], np.int64),
        events=np.stack([truth.onsets[order], truth.offsets[order]], axis=1),
        labels=event_labels[order],
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        durations=durations,
        invalid=truth.invalid,
        warnings=tuple(warnings),
    )


def _durations(truth: GroundTruth, clips: tuple[str, ...]) -> Ticks:
    if truth.durations is None:
        return np.zeros(len(clips), np.int64)
    known = dict(zip(truth.clips, truth.durations.tolist(), strict=True))
    return np.array([known.get(clip, 0) for clip in clips], np.int64)


def _choose_classes(
    scores: Scores, truth: GroundTruth, classes: Iterable[str] | None, warnings: list[str]
) -> tuple[str, ...]:
    if isinstance(classes, str):
        raise SedscopeError(f"classes must be a list of names, not {classes!r}")
    chosen = scores.classes if classes is None else tuple(classes)
    unscored = [
        label if isinstance(label, str) and label.strip() == label != "" else repr(label)
        for label in chosen
        if label not in scores.classes
    ]
    if unscored:
        lacking = listing(with_guesses(unscored, scores.classes))
        known = listing(scores.classes, limit=30)
        raise SedscopeError(f"classes without scores: {lacking}; the scores have {known}")
    if not chosen:
        raise SedscopeError("no class is chosen")
    unknown = [label for label in truth.labels if label not in scores.classes]
    if unknown:
        found = (
            f"{counted(len(unknown), 'label')} of the ground truth not among the classes of the "
            f"scores: {listing(with_guesses(unknown, scores.classes))}"
        )
        if classes is None:
            raise SedscopeError(
                f"{found}. The scores have {listing(scores.classes, limit=30)}. Correct the labels, "
                "or choose the classes to evaluate with classes= (--classes)"
            )
        warnings.append(f"{found}: left out")
    return tuple(dict.fromkeys(chosen))


def _choose_clips(
    scores: Scores, truth: GroundTruth, clips: ClipChoice, missing: Missing, warnings: list[str]
) -> tuple[str, ...]:
    if missing not in ("error", "empty"):
        raise SedscopeError(f"missing={missing!r}: choose 'error' or 'empty'")
    listed = set(truth.clips)
    if isinstance(clips, str) and clips == "scored":
        chosen = tuple(scores)
        without = len(listed.difference(chosen))
        if without:
            warnings.append(
                f"left out, without scores: {without} of the {counted(len(listed), 'clip')} in the "
                "ground truth"
            )
    elif clips is None:
        chosen = tuple(scores)
        without_scores = [clip for clip in truth.clips if clip not in scores]
        if without_scores:
            raise SedscopeError(
                f"without scores: {len(without_scores)} of the {counted(len(listed), 'clip')} in the "
                f"ground truth: {listing(without_scores)}. Evaluate the others with clips='scored' "
                "(--clips scored)"
            )
    elif isinstance(clips, str):
        raise SedscopeError(f"clips={clips!r}: give a list of clips, or 'scored'")
    else:
        chosen = tuple(dict.fromkeys(clip_id(name) for name in clips))
        without_scores = [clip for clip in chosen if clip not in scores]
        if without_scores:
            raise SedscopeError(
                f"without scores: {counted(len(without_scores), 'chosen clip')}: "
                f"{listing(without_scores)}"
            )
    if not chosen:
        raise SedscopeError("there is no clip to evaluate")
    unlisted = [clip for clip in chosen if clip not in listed]
    if unlisted and missing == "error":
        raise SedscopeError(
            f"not in the ground truth: {counted(len(unlisted), 'clip')} with scores: "
            f"{listing(unlisted)}. If they have no events, say so with missing='empty' "
            "(--missing empty)"
        )
    if unlisted:
        warnings.append(
            f"taken to have no events: {counted(len(unlisted), 'clip')} not in the ground truth"
        )
    return chosen
