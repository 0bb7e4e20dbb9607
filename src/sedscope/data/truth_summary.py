"""A ground truth: which of its events are ignored, what is unusual about it, and its tables."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, listing, shortened, subject, with_guesses
from .clips import clip_id, duration_ticks
from .events import EventColumns
from .tables import parse_number
from .times import TICKS_PER_SECOND, to_seconds

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from .ground_truth import GroundTruth


def late_ends_of(truth: GroundTruth, chosen: NDArray[np.bool_] | None = None) -> list[str]:
    """Return a note on events, perhaps only the chosen ones, that end after their clip does."""
    if truth.durations is None:
        return []
    beyond = truth.offsets > truth.durations[truth.event_clips]
    late = np.flatnonzero(beyond if chosen is None else beyond & chosen)
    if not len(late):
        return []
    first = late[0]
    clip = truth.event_clips[first]
    onset, offset, end = (
        ticks / 1e6 for ticks in (truth.onsets[first], truth.offsets[first], truth.durations[clip])
    )
    kept = "its clip does and was kept" if len(late) == 1 else "their clip does and were kept"
    return [
        f"{subject(len(late), 'reference event', 'ends')} after {kept} "
        f"(first: clip {truth.clips[clip]!r}, {onset:g}–{offset:g} s of {end:g} s)."
    ]


def other_durations_note(
    stated: Mapping[str, float], durations: Mapping[str, float] | None, where: str
) -> list[str]:
    """Return a note on clips that have another duration in the file of the events than in ``durations``.

    Differences of up to a twentieth are a matter of rounding.
    """
    if not durations or not stated:
        return []
    ends, stated_ends = duration_ticks(durations), duration_ticks(stated)
    others = [
        f"{clip} ({end / TICKS_PER_SECOND:g} s, not {ends[clip] / TICKS_PER_SECOND:g} s)"
        for clip, end in stated_ends.items()
        if clip in ends and 20 * abs(end - ends[clip]) > max(end, ends[clip])
    ]
    if not others:
        return []
    return [
        f"{subject(len(others), 'clip', 'has')} another duration in {where} than in `durations=`, which "
        f"counts: {listing(others)}."
    ]


def notes_without_late_ends(truth: GroundTruth) -> list[str]:
    """Return the warnings of a ground truth, except the one that depends on the events that are looked at."""
    late = late_ends_of(truth)
    return [note for note in truth.warnings if note not in late]


def notes_about(truth: GroundTruth, clips: Collection[str], labels: Collection[str]) -> list[str]:
    """Return what is unusual about the events of some clips and labels."""
    if not truth.warnings:
        return []
    clip_chosen = np.array([clip in clips for clip in truth.clips], bool)
    everywhere = [True] * len(truth.ignored_labels)
    label_chosen = np.array([*(label in labels for label in truth.labels), *everywhere], bool)
    if clip_chosen.all() and label_chosen.all():
        return [*truth.warnings]
    if truth._noted is None:
        chosen = clip_chosen[truth.event_clips] & label_chosen[truth.event_labels]
        return notes_without_late_ends(truth) + late_ends_of(truth, chosen)
    # the notes count rows that are no longer there, so those of the chosen rows are made anew
    events, where = truth._noted
    rows = [
        i
        for i, (name, label) in enumerate(zip(events.clip, events.label, strict=True))
        if (label in labels or label in truth.ignored_labels) and clip_id(name) in clips
    ]
    part = EventColumns(
        clip=[events.clip[i] for i in rows],
        onset=events.onset[rows],
        offset=events.offset[rows],
        label=[events.label[i] for i in rows],
        where=lambda i: events.where(rows[i]),
        ignored=None if events.ignored is None else events.ignored[rows],
    )
    durations = None
    if truth.durations is not None:
        durations = dict(zip(truth.clips, to_seconds(truth.durations).tolist(), strict=True))
    again = type(truth)(
        part,
        durations=durations,
        invalid=truth.invalid,
        overlaps="keep" if truth.overlaps == "keep" else "merge",
        ignored_labels=truth.ignored_labels,
        where=where,
    )
    return [*truth._remarks, *again.warnings]


def events_of_clip(
    truth: GroundTruth, clip: str, chosen: NDArray[np.bool_]
) -> list[tuple[float, float, str]]:
    """Return the chosen events of one clip, ``(onset, offset, label)`` in order of time."""
    name = clip if clip in truth.clips else clip_id(clip)
    if name not in truth.clips:
        raise SedscopeError(f"The ground truth has no clip {clip!r}.")
    rows = np.flatnonzero((truth.event_clips == truth.clips.index(name)) & chosen)
    rows = rows[np.argsort(truth.onsets[rows], kind="stable")]
    return [
        (float(onset), float(offset), label)
        for onset, offset, label in zip(
            to_seconds(truth.onsets[rows]),
            to_seconds(truth.offsets[rows]),
            truth.names_of(rows),
            strict=True,
        )
    ]


def event_table(truth: GroundTruth) -> PolarsFrame:
    """Return a data frame with a row per event."""
    from ..results.frames import polars_frame

    columns: dict[str, NDArray[Any] | list[str]] = {
        "filename": [truth.clips[clip] for clip in truth.event_clips],
        "onset": to_seconds(truth.onsets),
        "offset": to_seconds(truth.offsets),
        "event_label": truth.names_of(np.arange(len(truth))),
    }
    if truth.ignored.any():
        columns["ignored"] = truth.ignored
    return polars_frame(columns)


def class_table(truth: GroundTruth) -> str:
    """Return an HTML table with the events and the total seconds of each class."""
    from ..results.frames import html_table

    names = (*truth.labels, *truth.ignored_labels)
    counts = ~truth.ignored
    number = np.bincount(truth.event_labels[counts], minlength=len(names))
    lengths = to_seconds(truth.offsets - truth.onsets)
    seconds = np.bincount(truth.event_labels[counts], lengths[counts], minlength=len(names))
    ignored = np.bincount(truth.event_labels[truth.ignored], minlength=len(names))
    shows_ignored = bool(truth.ignored.any())
    rows = (
        [label, str(number[i]), f"{seconds[i]:.1f}", *([str(ignored[i])] if shows_ignored else [])]
        for i, label in enumerate(names)
    )
    header = ["class", "events", "total seconds", *(["ignored"] if shows_ignored else [])]
    return html_table(header, rows, len(names), "class", title=repr(truth))


def as_ignored_labels(labels: Iterable[str]) -> set[str]:
    """Return labels of events that are ignored for every class, without white space around them."""
    names = [labels] if isinstance(labels, str) else [*labels]
    if isinstance(labels, str) or not all(isinstance(name, str) and name.strip() for name in names):
        raise SedscopeError(f"ignored_labels must be a list of labels, not {labels!r}.")
    return {name.strip() for name in names}


def unused_ignored_labels_note(ignored_labels: Iterable[str], labels: Iterable[str]) -> list[str]:
    """Note labels that are to be ignored, but that no event has. ``labels``: those of all events."""
    known = {label.strip() for label in labels}
    unused = sorted(as_ignored_labels(ignored_labels) - known)
    if not unused:
        return []
    number = "label" if len(unused) == 1 else "labels"
    return [
        f"No reference event has the ignored {number} {listing(with_guesses(unused, sorted(known)))}. Check "
        "`ignored_labels=`."
    ]


_CONDITION = re.compile(r"\s*(>=?)\s*(\S+)\s*")


@dataclass(frozen=True)
class ConfidenceLimit:
    """How confident the annotators must be about an event that counts as a reference."""

    limit: float
    inclusive: bool
    """Whether a confidence equal to the limit is enough."""

    @classmethod
    def parse(cls, text: str) -> ConfidenceLimit:
        """Read a condition.

        >>> ConfidenceLimit.parse("> 0.5").admits(0.5), ConfidenceLimit.parse(">=0.5").admits(0.5)
        (False, True)
        """
        match = _CONDITION.fullmatch(text) if isinstance(text, str) else None
        try:
            limit = parse_number(match[2]) if match else math.nan
        except ValueError:
            limit = math.nan
        if match is None or not math.isfinite(limit):
            raise SedscopeError(
                f"confidence={shortened(repr(text), 60)} is not a condition. Write '> 0.5' or '>= 0.5'."
            )
        return cls(limit, inclusive=match[1] == ">=")

    def admits(self, confidence: float) -> bool:
        """Return whether an event of this confidence counts as a reference."""
        return confidence >= self.limit if self.inclusive else confidence > self.limit
