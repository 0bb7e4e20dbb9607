"""Checks of scores: the names of their classes, and whether a clip is there as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import SedscopeError, listing, refuse_nul, subject
from .clip_events import ClipEvents, kept_events_error
from .clip_ids import clip_id
from .labels import stripped
from .recordings import ClipPieces, whole_clip_error
from .score_arrays import ClipScores


def whole_clip(clip: str, scores: ClipScores | ClipPieces | ClipEvents) -> ClipScores:
    """Refuse clips that have no scores as a whole: those in pieces, and events that are kept."""
    if isinstance(scores, ClipScores):
        return scores
    if isinstance(scores, ClipEvents):
        raise kept_events_error(clip_id(clip))
    raise whole_clip_error(clip_id(clip))


def frames_or_events(clip: str, scores: ClipScores | ClipPieces | ClipEvents) -> ClipScores | ClipEvents:
    """Refuse clips in pieces."""
    if isinstance(scores, ClipPieces):
        raise whole_clip_error(clip_id(clip))
    return scores


def check_classes(classes: Iterable[str]) -> tuple[str, ...]:
    """Check the names of classes, and remove white space around them."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise SedscopeError(f"classes must be a list of names, not {classes!r}.")
    labels = stripped(classes)
    if not labels:
        raise SedscopeError("There are no classes.")
    wrong = [repr(label) for label in labels if not (isinstance(label, str) and label)]
    if wrong:
        raise SedscopeError(f"Class names must be non-empty strings, not {listing(wrong)}.")
    refuse_nul(labels, "class")
    if len(set(labels)) < len(labels):
        repeated = sorted({label for label in labels if labels.count(label) > 1})
        raise SedscopeError(f"{subject(len(repeated), 'class', 'is')} named twice: {listing(repeated)}.")
    return labels
