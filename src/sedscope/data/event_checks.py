"""Checks of reference events: which ones can be evaluated, and which ones overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, listing, subject
from .choices import Invalid, Overlaps
from .event_table import EventColumns
from .times import Ticks


def valid_events(
    events: EventColumns,
    event_clips: NDArray[np.int32],
    durations: Ticks | None,
    invalid: Invalid,
    where: str,
    notes: list[str],
) -> NDArray[np.intp]:
    """Return the events that can be evaluated. The others are an error, or are dropped with a note."""
    empty = events.offset <= events.onset
    late = (
        np.zeros(len(empty), bool)
        if durations is None
        else ~empty & (events.onset >= durations[event_clips])
    )
    dropped = invalid == "drop"
    problems = []
    for mask, verb, singular, plural in (
        (empty, "has", "no positive length", "no positive length"),
        (late, "begins", "at or after the end of its clip", "at or after the end of their clip"),
    ):
        rows = np.flatnonzero(mask).tolist()
        if rows:
            what = singular if len(rows) == 1 else plural
            action = f" and {'was' if len(rows) == 1 else 'were'} left out" if dropped else ""
            examples = listing([events.describe(i) for i in rows])
            problems.append(f"{subject(len(rows), 'event', verb)} {what}{action}: {examples}.")
    if problems and not dropped:
        raise SedscopeError(
            f"{where}: {' '.join(problems)} Correct them, or leave them out with invalid='drop' "
            "(--invalid drop)."
        )
    notes += problems
    return np.flatnonzero(~(empty | late))


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
    if not len(order):
        return order
    clips, labels = event_clips[order], event_labels[order]
    onsets, offsets = events.onset[order], events.offset[order]
    same_pair = np.concatenate([[False], (clips[1:] == clips[:-1]) & (labels[1:] == labels[:-1])])
    overlapping = same_pair & (onsets < np.concatenate([onsets[:1], offsets[:-1]]))
    if overlapping.any():  # then a long event may reach beyond the next one, so look at all of them
        latest = offsets[0]
        for i in range(1, len(order)):
            overlapping[i] = same_pair[i] and onsets[i] < latest
            latest = max(latest, offsets[i]) if same_pair[i] else offsets[i]
        rows = np.flatnonzero(overlapping)
        examples = listing([events.describe(i) for i in order[rows].tolist()])
        overlap = f"{subject(len(rows), 'event', 'overlaps')} another one of the same class and clip"
        if overlaps == "error":
            raise SedscopeError(
                f"{where}: {overlap}: {examples}. Correct them, or merge them with overlaps='merge' "
                "(--overlaps merge)."
            )
        notes.append(f"{overlap} and {'was' if len(rows) == 1 else 'were'} merged: {examples}.")
    return np.flatnonzero(~overlapping)
