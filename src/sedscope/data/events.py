"""Events: by clip as detection and reading return them, as columns, and the checks of references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, by_kind, counted, listing, note, shortened, subject
from ..tabular import Tabular
from .arrays import FloatArray
from .choices import Invalid, Overlaps
from .clips import clip_id
from .tables import RowLocation
from .times import Ticks, to_ticks

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from ..results.frames import Column

EventTuple = TypeVar("EventTuple", bound=tuple[Any, ...])


class Events(dict[str, list[EventTuple]], Tabular):
    """The events of each clip: a dict ``{clip: [(onset, offset, label[, confidence]), …]}``.

    Times are in seconds. Notebooks show it as a small table.

    Parameters
    ----------
    *args, **kwargs
        As for ``dict``.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9]]}, classes=["Dog"], frame=0.5)
    >>> sed.detect(scores, 0.5).to_polars().rows()
    [('a', 0.5, 1.0, 'Dog')]
    """

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per event, which :func:`read_events` reads back.

        Clips without events have no row.

        Returns
        -------
        polars.DataFrame
            With the columns ``filename``, ``onset``, ``offset``, ``event_label`` and, if an event has
            one, ``confidence``.
        """
        from ..results.frames import number_column, polars_frame

        rows = [(clip, *event) for clip, events in self.items() for event in events]
        columns: dict[str, Column] = {
            "filename": [row[0] for row in rows],
            "onset": np.array([row[1] for row in rows], np.float64),
            "offset": np.array([row[2] for row in rows], np.float64),
            "event_label": [row[3] for row in rows],
        }
        if any(len(row) > 4 for row in rows):
            columns["confidence"] = number_column([row[4] if len(row) > 4 else None for row in rows])
        return polars_frame(columns)

    def _repr_html_(self) -> str:
        from ..results.frames import html_table

        total = sum(map(len, self.values()))
        confident = any(len(event) > 3 for events in self.values() for event in events)
        rows = (
            [clip, label, f"{onset:.3f}", f"{offset:.3f}", *(f"{value:.4g}" for value in confidence)]
            for clip, events in self.items()
            for onset, offset, label, *confidence in events
        )
        header = ["clip", "label", "onset", "offset", *(["confidence"] if confident else [])]
        title = f"{counted(total, 'event')}, {counted(len(self), 'clip')}"
        return html_table(header, rows, total, "event", title=title)


@dataclass(frozen=True)
class EventColumns:
    """Events as columns, with times in microseconds."""

    clip: Sequence[str]
    """Names of clips, not yet ids."""
    onset: Ticks
    offset: Ticks
    label: Sequence[str]
    where: Callable[[int], RowLocation | str]
    """Says where an event comes from, for messages."""
    ignored: NDArray[np.bool_] | None = None
    """Which events are ignored references; None if none is."""

    def ignored_or_labelled(self, ignored_labels: Collection[str]) -> NDArray[np.bool_]:
        """Return which events are ignored references, by themselves or by their label."""
        by_label = np.array([label in ignored_labels for label in self.label], bool)
        return by_label if self.ignored is None else by_label | self.ignored

    def with_ignored(self, others: EventColumns, clips: Sequence[str]) -> EventColumns:
        """Return these events, followed by others that are ignored references.

        ``clips``: names of clips, under which the others refer to them as well.
        """
        number = len(self.clip)
        ignored = np.zeros(number, bool) if self.ignored is None else self.ignored
        names = {clip_id(name): name for name in clips}
        return EventColumns(
            clip=[*self.clip, *(names.get(clip_id(name), name) for name in others.clip)],
            onset=np.concatenate([self.onset, others.onset]),
            offset=np.concatenate([self.offset, others.offset]),
            label=[*self.label, *others.label],
            where=lambda i: self.where(i) if i < number else others.where(i - number),
            ignored=np.concatenate([ignored, np.ones(len(others.clip), bool)]),
        )

    def describe(self, i: int) -> str:
        """Describe an event for a message."""
        return f"{self.where(i)} ({self.event(i)})"

    def finding(self, i: int, message: str) -> str:
        """Return a message about an event, as ``file:line: message``."""
        where, text = self.where(i), f"{self.event(i)} {message}"
        return where.finding(text) if isinstance(where, RowLocation) else f"{where}: {text}"

    def event(self, i: int) -> str:
        """Return clip, label and times of an event for a message."""
        times = f"{self.onset[i] / 1e6:g}–{self.offset[i] / 1e6:g} s"
        return f"{shortened(self.clip[i], 100)}: {shortened(self.label[i], 60)} {times}"


def columns_of_mapping(
    events: Mapping[str, Iterable[tuple[float, float, str]]], where: str = "ground truth"
) -> EventColumns:
    """Check events in memory and return them as columns. ``where``: what messages call them."""
    if not isinstance(events, Mapping):
        raise SedscopeError(
            f"{where}: give a mapping from clips to events, not {type(events).__name__}."
        )
    arrays = [
        clip for clip, of_clip in events.items() if isinstance(of_clip, np.ndarray) and of_clip.ndim
    ]
    if len(arrays) > len(events) / 2:
        raise SedscopeError(
            f"{where}: {counted(len(arrays), 'clip')} of {len(events)} have arrays, not lists of (onset, "
            f"offset, label): {listing(arrays)}. Are scores and ground truth swapped?"
        )
    rows: list[tuple[str, Any]] = []
    times: list[Ticks] = []
    problems: list[str] = []
    for clip, clip_events in events.items():
        if isinstance(clip_events, str) or not isinstance(clip_events, Iterable):
            problems.append(
                f"{clip}: {shortened(repr(clip_events))} is not a list of (onset, offset, label)"
            )
            continue
        for event in clip_events:
            try:
                onset, offset, label = event
                ticks = to_ticks([onset, offset])
            except (TypeError, ValueError):
                problems.append(f"{clip}: {shortened(repr(event))} is not (onset, offset, label)")
                continue
            if not isinstance(label, str) or not label.strip():
                problems.append(f"{clip}: {shortened(repr(event))} has no label")
            rows.append((clip, label))
            times.append(ticks)
    if problems:
        raise SedscopeError(
            f"{where}: {counted(len(problems), 'problem')}: {listing(by_kind(problems))}."
        )
    table = np.array(times, np.int64).reshape(-1, 2)
    name = "event" if where == "ground truth" else "ignored event"
    return EventColumns(
        clip=[clip for clip, _ in rows],
        onset=table[:, 0],
        offset=table[:, 1],
        label=[label for _, label in rows],
        where=lambda i: f"{name} {i}",
    )


POINTS_ADVICE = (
    "Criteria about one boundary judge points in time, such as Onset(0.05). For others, correct the events, "
    "or leave them out with `invalid='drop'`."
)
"""What to do with references of no length."""

OVERLAPS_ADVICE = (
    "Correct them, or merge them with `overlaps='merge'`. Criteria that pair events can keep them: "
    "`overlaps='keep'`."
)
"""What to do with references that overlap."""

MANY_LATE = 5
"""sedscope asks for the unit of times if at least so many reference events, and more than half of all, begin
after their clips."""


@dataclass(frozen=True)
class InvalidEvents:
    """Events that cannot be evaluated, for one reason."""

    rows: list[int]
    phrase: str
    """What is wrong, for :func:`~sedscope.errors.subject`."""
    late: bool = False
    """Whether the events begin after their clips."""

    def sentence(self, events: EventColumns, dropped: bool) -> str:
        """Say how many there are, and name some."""
        phrase = f"{self.phrase} and (was|were) left out" if dropped else self.phrase
        (text,) = note([events.describe(i) for i in self.rows], "event", phrase)
        return text + self.hint(events)

    def hint(self, events: EventColumns) -> str:
        """Ask for what may be the reason of all of them."""
        number = len(self.rows)
        if self.late and number >= MANY_LATE and 2 * number > len(events.onset):
            total = counted(len(events.onset), "event")
            return f" These are {number} of {total}: are all times and durations in seconds?"
        swapped = sum(bool(events.offset[i] < events.onset[i]) for i in self.rows)
        if not swapped:
            return ""
        them = "It ends before it begins" if number == 1 else f"{swapped} of them end before they begin"
        return f" {them}: are onset and offset swapped?"


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
        (empty, "has no positive length"),
        (early, "begins before 0 s"),
        (late, "begins at or after the end of (its|their) clip"),
    )
    return [
        InvalidEvents(np.flatnonzero(mask).tolist(), phrase, mask is late)
        for mask, phrase in reasons
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
        advice = "Correct them, or leave them out with `invalid='drop'`."
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

    Overlaps are an error, or are merged with a note. Return the first row of each event, and its offset.
    """
    valid = valid_events(events, event_clips, durations, invalid, where, notes)
    times = events.onset, events.offset
    order, overlap = in_order(*times, event_clips, 2 * event_labels + ignored, valid)
    if overlaps == "keep":
        overlap[:] = False
    elif overlap.any():
        rows = order[overlap].tolist()
        examples = listing([events.describe(i) for i in rows])
        what = f"{subject(len(rows), 'event', 'overlaps')} another one of the same class and clip"
        repeated = len(repeated_events(events, rows))
        if repeated:
            what += f" ({subject(repeated, 'row', 'repeats')} another one)"
        if overlaps == "error":
            text = f"{where}: {what}: {examples}. {OVERLAPS_ADVICE}"
            raise SedscopeError(text, advice=OVERLAPS_ADVICE)
        notes.append(f"{what} and {'was' if len(rows) == 1 else 'were'} merged: {examples}.")
    return _merged(*times, event_clips, event_labels, order, overlap)


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
    order, overlap = _numbered_in_order(events)
    return order[overlap].tolist()


def raised_detections(events: EventColumns, confidences: FloatArray) -> list[int]:
    """Return the events that get a higher confidence if those that overlap are merged."""
    order, overlap = _numbered_in_order(events)
    starts = np.flatnonzero(~overlap)
    if len(starts) == len(order):
        return []
    highest = np.maximum.reduceat(confidences[order], starts)
    sizes = np.diff([*starts, len(order)])
    return np.sort(order[confidences[order] < np.repeat(highest, sizes)]).tolist()


def _numbered_in_order(events: EventColumns) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    clips, labels = (
        np.unique(np.array(names, str), return_inverse=True)[1].astype(np.int32)
        for names in (events.clip, events.label)
    )
    return in_order(events.onset, events.offset, clips, labels, np.arange(len(clips)))


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
    order, overlap = in_order(onsets, offsets, clips, 2 * labels + ignored, np.flatnonzero(labels >= 0))
    return _merged(onsets, offsets, clips, labels, order, overlap & merge)


def in_order(
    onsets: Ticks,
    offsets: Ticks,
    clips: NDArray[np.int32],
    kinds: NDArray[np.int32],
    rows: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return rows in order of clip, kind and time, and which of them overlap an earlier one of theirs."""
    order = rows[np.lexsort((offsets[rows], onsets[rows], kinds[rows], clips[rows]))]
    return order, overlapping(onsets[order], offsets[order], clips[order], kinds[order])


def _merged(
    onsets: Ticks,
    offsets: Ticks,
    clips: NDArray[np.int32],
    labels: NDArray[np.int32],
    order: NDArray[np.intp],
    overlap: NDArray[np.bool_],
) -> tuple[NDArray[np.intp], Ticks]:
    """Merge events with those that they overlap, and sort the result by clip, label and onset."""
    if not len(order):
        return order, offsets[order]
    starts = np.flatnonzero(~overlap)
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
