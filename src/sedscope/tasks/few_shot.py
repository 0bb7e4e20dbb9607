"""Few-shot tasks: a system is shown the first events of each file, so these are not evaluated.

The events of a file are of one class, whatever their columns are called. The shots are the first events in
order of their onsets. References that end at or before the end of the last shot are left out, but only in
files in which the system detects something: in a file without detections, every event is missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace

import numpy as np

from ..data.cells import RowLocation
from ..data.clip_events import ClipEvents
from ..data.clip_ids import clip_id
from ..data.event_table import EventTable
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..errors import SedscopeError, counted, listing, subject

_CLASS = "Q"  # as predictions are labelled


def events_of_file(table: EventTable, clip: str) -> EventTable:
    """Return an event for each row of a file, which is named after the clip that it annotates.

    A row with a POS is an event, and one with an UNK an ignored reference, in whichever column they are.
    """
    _refuse_several_clips(table)
    ignored = [cell is True for cell in table.ignored or [False] * len(table)]
    events: dict[RowLocation, int] = {}
    for i in sorted(
        range(len(table)), key=ignored.__getitem__
    ):  # of the marks in a row, POS comes first
        if table.label[i]:
            events.setdefault(table.row_location(i), i)
    rows = sorted(events.values())
    return replace(
        table,
        clip=[clip] * len(rows),
        onset=[table.onset[i] for i in rows],
        offset=[table.offset[i] for i in rows],
        label=[_CLASS] * len(rows),
        ignored=[str(ignored[i]) for i in rows],
        row_location=lambda k: table.row_location(rows[k]),
    )


def _refuse_several_clips(table: EventTable) -> None:
    first: dict[str, int] = {}
    for i, name in enumerate(table.clip):
        first.setdefault(clip_id(name), i)
    if len(first) > 1:
        raise SedscopeError(
            f"{table.where}: the file has events of {counted(len(first), 'clip')}: {listing([*first])}. Give "
            "each clip a file of its own.",
            lines=[table.row_location(i).finding(f"the clip is {clip}") for clip, i in first.items()],
        )


def end_of_shots(table: EventTable, shots: int) -> int:
    """Return when the last shot of a file ends, in microseconds. Refuse a file with fewer events."""
    events = table.columns()
    to_find = np.flatnonzero(~events.ignored_or_labelled(()))
    if len(to_find) < shots:
        raise SedscopeError(
            f"{table.where}: {subject(len(to_find), 'event', 'is')} marked POS, but the first {shots} are "
            "the shots that a system is shown. Leave the file out of the data."
        )
    in_order = to_find[np.argsort(events.onset[to_find], kind="stable")]
    return int(events.offset[in_order[shots - 1]])


def without_shots(truth: GroundTruth, scores: Scores, ends: Mapping[str, int]) -> GroundTruth:
    """Return the references that a system is evaluated on.

    ``ends``: when the last shot of each clip ends, in microseconds.
    """
    limits = [ends[clip] if clip in scores and _detects(clip, scores) else 0 for clip in truth.clips]
    rows = np.flatnonzero(truth.offsets > np.array(limits, np.int64)[truth.event_clips])
    rest = copy(truth)
    rest.event_clips, rest.event_labels = truth.event_clips[rows], truth.event_labels[rows]
    rest.onsets, rest.offsets, rest.ignored = (
        truth.onsets[rows],
        truth.offsets[rows],
        truth.ignored[rows],
    )
    return rest


def _detects(clip: str, scores: Scores) -> bool:
    events = scores.open(clip)
    if not isinstance(events, ClipEvents) or (events.confidences != 1).any():
        raise SedscopeError(
            f"Clip {clip} has scores, but which events are left out depends on what the system detects. Give "
            "a list of detections without confidences."
        )
    return len(events.times) > 0
