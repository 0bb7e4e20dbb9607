"""Checks of reference events: which ones can be evaluated, and which ones overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, listing, subject
from .arrays import FloatArray
from .choices import Invalid, Overlaps
from .events import EventColumns
from .times import Ticks

POINTS_ADVICE = (
    "Criteria about one boundary judge points in time, such as Onset(0.05). For others, correct the events, "
    "or leave them out with invalid='drop' (--invalid drop)."
)
"""What to do with references of no length."""

OVERLAPS_ADVICE = (
    "Correct them, or merge them with overlaps='merge' (--overlaps merge). "
    "Criteria that pair events can keep them: overlaps='keep' (--overlaps keep)."
)
"""What to do with references that overlap."""

MANY_LATE = 5
"""sedscope asks for the unit of times if at least so many reference events, and more than half of all, begin
after their clips."""


@dataclass(frozen=True)
class InvalidEvents:
    """Events that cannot be evaluated, for one reason."""

    rows: list[int]
    verb: str
    singular: str
    plural: str
    late: bool = False
    """Whether the events begin after their clips."""

    def sentence(self, events: EventColumns, dropped: bool) -> str:
        """Say how many there are, and name some."""
        number = len(self.rows)
        what = self.singular if number == 1 else self.plural
        action = f" and {'was' if number == 1 else 'were'} left out" if dropped else ""
        examples = listing([events.describe(i) for i in self.rows])
        swapped = sum(bool(events.offset[i] < events.onset[i]) for i in self.rows)
        hint = ""
        if swapped:
            them = (
                "It ends before it begins" if number == 1 else f"{swapped} of them end before they begin"
            )
            hint = f" {them}: are onset and offset swapped?"
        if self.late and number >= MANY_LATE and 2 * number > len(events.onset):
            total = counted(len(events.onset), "event")
            hint = f" These are {number} of {total}: are all times and durations in seconds?"
        return f"{subject(number, 'event', self.verb)} {what}{action}: {examples}.{hint}"


def invalid_events(
    events: EventColumns, event_clips: NDArray[np.int32], durations: Ticks | None, invalid: Invalid
) -> list[InvalidEvents]:
    """Return the events that cannot be evaluated, by reason.

    Events of no length are points in time. They are among these only where such events are dropped:
    otherwise the criterion says whether it can judge them.
    """
    dropped = invalid == "drop"
    empty = (events.offset <= events.onset) if dropped else (events.offset < events.onset)
    early = ~empty & (events.onset < 0)
    late = np.zeros(len(empty), bool)
    if durations is not None:
        late = ~empty & (events.onset >= durations[event_clips])
    reasons = (
        (empty, "has", "no positive length", "no positive length"),
        (early, "begins", "before 0 s", "before 0 s"),
        (late, "begins", "at or after the end of its clip", "at or after the end of their clip"),
    )
    return [
        InvalidEvents(np.flatnonzero(mask).tolist(), verb, singular, plural, mask is late)
        for mask, verb, singular, plural in reasons
        if mask.any()
    ]


def valid_events(
    events: EventColumns,
    event_clips: NDArray[np.int32],
    durations: Ticks | None,
    invalid: Invalid,
    where: str,
    notes: list[str],
) -> NDArray[np.intp]:
    """Return the events that can be evaluated. The others are an error, or are dropped with a note."""
    dropped = invalid == "drop"
    kinds = invalid_events(events, event_clips, durations, invalid)
    problems = [kind.sentence(events, dropped) for kind in kinds]
    if problems and not dropped:
        advice = "Correct them, or leave them out with invalid='drop' (--invalid drop)."
        raise SedscopeError(f"{where}: {' '.join(problems)} {advice}", advice=advice)
    notes += problems
    valid = np.ones(len(events.onset), bool)
    for kind in kinds:
        valid[kind.rows] = False
    return np.flatnonzero(valid)


def arranged_events(
    events: EventColumns,
    event_clips: NDArray[np.int32],
    event_labels: NDArray[np.int32],
    ignored: NDArray[np.bool_],
    durations: Ticks | None,
    *,
    invalid: Invalid,
    overlaps: Overlaps,
    where: str,
    notes: list[str],
) -> tuple[NDArray[np.intp], Ticks]:
    """Sort valid events by clip, label and onset, and merge those that overlap, if they may be merged.

    Ignored events are merged with each other alone. Return the first row of each event, and its offset.
    """
    valid = valid_events(events, event_clips, durations, invalid, where, notes)
    kinds = 2 * event_labels + ignored
    sorted_rows = np.lexsort(
        (events.offset[valid], events.onset[valid], kinds[valid], event_clips[valid])
    )
    order = valid[sorted_rows]
    starts = overlap_groups(events, event_clips, kinds, order, overlaps, where, notes)
    ends = np.maximum.reduceat(events.offset[order], starts) if len(order) else events.offset[:0]
    first = order[starts]
    by_onset = np.lexsort((events.onset[first], event_labels[first], event_clips[first]))
    return first[by_onset], ends[by_onset]


def overlap_groups(
    events: EventColumns,
    event_clips: NDArray[np.int32],
    event_labels: NDArray[np.int32],
    order: NDArray[np.intp],
    overlaps: Overlaps,
    where: str,
    notes: list[str],
) -> NDArray[np.intp]:
    """Return where in `order` each event starts once overlapping events are merged.

    Only events of the same clip and label are merged. Overlaps are an error, or are merged with a note.
    """
    if overlaps == "keep" or not len(order):
        return np.arange(len(order))
    overlapping = overlapping_events(events, event_clips, event_labels, order)
    if overlapping.any():
        rows = order[np.flatnonzero(overlapping)].tolist()
        examples = listing([events.describe(i) for i in rows])
        overlap = f"{subject(len(rows), 'event', 'overlaps')} another one of the same class and clip"
        repeated = len(repeated_events(events, rows))
        if repeated:
            overlap += f" ({subject(repeated, 'row', 'repeats')} another one)"
        if overlaps == "error":
            text = f"{where}: {overlap}: {examples}. {OVERLAPS_ADVICE}"
            raise SedscopeError(text, advice=OVERLAPS_ADVICE)
        notes.append(f"{overlap} and {'was' if len(rows) == 1 else 'were'} merged: {examples}.")
    return np.flatnonzero(~overlapping)


def overlap_findings(events: EventColumns, rows: Sequence[int]) -> list[str]:
    """Describe overlapping events, each as ``file:line: message``."""
    repeated = repeated_events(events, rows)
    return [
        events.finding(i, "repeats another row" if i in repeated else "overlaps another one")
        for i in rows
    ]


def repeated_events(events: EventColumns, rows: Sequence[int]) -> set[int]:
    """Return those of some overlapping events that have the same clip, label and times as another."""
    keys = list(
        zip(events.clip, events.label, events.onset.tolist(), events.offset.tolist(), strict=True)
    )
    number = Counter(keys)
    return {i for i in rows if number[keys[i]] > 1}


def overlapping_detections(events: EventColumns) -> list[int]:
    """Return the events that overlap an earlier one of their clip and class."""
    order, overlap = _in_order(events)
    rows: list[int] = order[overlap].tolist()
    return rows


def raised_detections(events: EventColumns, confidences: FloatArray) -> list[int]:
    """Return the events that get a higher confidence if those that overlap are merged."""
    order, overlap = _in_order(events)
    starts = np.flatnonzero(~overlap)
    if len(starts) == len(order):
        return []
    highest = np.maximum.reduceat(confidences[order], starts)
    sizes = np.diff([*starts, len(order)])
    rows: list[int] = np.sort(order[confidences[order] < np.repeat(highest, sizes)]).tolist()
    return rows


def _in_order(events: EventColumns) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the order of clip, label and onset, and which events overlap an earlier one of their class."""
    clips, labels = (
        np.unique(np.array(names, str), return_inverse=True)[1].astype(np.int32)
        for names in (events.clip, events.label)
    )
    order = np.lexsort((events.offset, events.onset, labels, clips))
    return order, overlapping_events(events, clips, labels, order)


def overlapping_events(
    events: EventColumns,
    event_clips: NDArray[np.int32],
    event_labels: NDArray[np.int32],
    order: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Return which events, in `order` of clip, label and onset, overlap an earlier one of their class."""
    return overlapping(
        events.onset[order], events.offset[order], event_clips[order], event_labels[order]
    )


def merged_events(
    onsets: Ticks,
    offsets: Ticks,
    clips: NDArray[np.int32],
    labels: NDArray[np.int32],
    ignored: NDArray[np.bool_],
    *,
    merge: bool,
) -> tuple[NDArray[np.intp], Ticks]:
    """Sort events by clip, label and onset, and leave out those with a negative label.

    ``merge``: those of one label that overlap become one.
    Ignored events are merged with each other alone. Return the first event of each merged one, and its
    offset.
    """
    kept = np.flatnonzero(labels >= 0)
    kinds = 2 * labels + ignored
    order = kept[np.lexsort((offsets[kept], onsets[kept], kinds[kept], clips[kept]))]
    if not len(order):
        return order, offsets[order]
    overlap = overlapping(onsets[order], offsets[order], clips[order], kinds[order])
    starts = np.flatnonzero(~(overlap & merge))
    first, ends = order[starts], np.maximum.reduceat(offsets[order], starts)
    by_onset = np.lexsort((onsets[first], labels[first], clips[first]))
    return first[by_onset], ends[by_onset]


def overlapping(
    onsets: Ticks, offsets: Ticks, clips: NDArray[np.int32], labels: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return which events, sorted by clip, label and onset, overlap an earlier one of their class.

    A point in time overlaps another one at the same time, and an event that it lies inside of.
    """
    same_pair = np.concatenate([[False], (clips[1:] == clips[:-1]) & (labels[1:] == labels[:-1])])
    last_onsets, last_offsets = (np.concatenate([times[:1], times[:-1]]) for times in (onsets, offsets))
    repeated = same_pair & (onsets == last_onsets) & (offsets == last_offsets)
    overlap: NDArray[np.bool_] = repeated | (same_pair & (onsets < last_offsets))
    if overlap.any():  # then a long event may reach beyond the next one, so look at all of them
        latest = offsets[0]
        for i in range(1, len(onsets)):
            overlap[i] = repeated[i] or (same_pair[i] and onsets[i] < latest)
            latest = max(latest, offsets[i]) if same_pair[i] else offsets[i]
    return overlap
