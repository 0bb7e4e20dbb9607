"""Ground truth: the reference events of each clip, and how long the clips are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, listing
from .clip_ids import clip_id, clip_ids
from .times import Ticks, to_seconds, to_ticks

Invalid: TypeAlias = Literal["error", "drop"]
Overlaps: TypeAlias = Literal["error", "merge"]


@dataclass(frozen=True)
class EventColumns:
    """Events as columns. ``clip`` holds names as given; ``where(i)`` says where event i was found."""

    clip: Sequence[str]
    onset: Ticks
    offset: Ticks
    label: Sequence[str]
    where: Callable[[int], str]

    def describe(self, i: int) -> str:
        """One event in words, for messages."""
        times = f"{self.onset[i] / 1e6:g}–{self.offset[i] / 1e6:g} s"
        return f"{self.where(i)} ({self.clip[i]}: {self.label[i]} {times})"


class GroundTruth:
    """Reference events of all clips, and the clips' durations where they are known.

    Events are held as columns, ordered by clip, label and onset; times are microseconds.

    ``invalid``: events of no or negative length, or that begin at or after their clip's end, are an
    error, or with ``"drop"`` left out and counted. ``overlaps``: overlapping events of one class in a
    clip are an error, or with ``"merge"`` become one event.

    >>> truth = GroundTruth.from_dict({"a": [(0.5, 1.5, "Dog")], "b": []}, durations={"a": 10, "b": 10})
    >>> truth
    <GroundTruth: 1 event, 2 clips, 1 class>
    """

    clips: tuple[str, ...]
    """Clip ids, those without events too."""
    labels: tuple[str, ...]
    """The labels that occur, sorted."""
    event_clips: NDArray[np.int32]
    event_labels: NDArray[np.int32]
    onsets: Ticks
    offsets: Ticks
    durations: Ticks | None
    """Per clip, in microseconds; None if not given: then the scores' last boundary counts."""
    warnings: tuple[str, ...]
    """What is odd about the data."""

    def __init__(
        self,
        events: EventColumns,
        *,
        clips: Iterable[str] = (),
        durations: Mapping[str, float] | None = None,
        invalid: Invalid = "error",
        overlaps: Overlaps = "error",
        where: str = "ground truth",
    ) -> None:
        """``clips``: names of clips that may have no events; those in ``durations`` count as well."""
        if invalid not in ("error", "drop"):
            raise SedscopeError(f"invalid={invalid!r}: choose 'error' or 'drop'")
        if overlaps not in ("error", "merge"):
            raise SedscopeError(f"overlaps={overlaps!r}: choose 'error' or 'merge'")
        self.invalid = invalid
        ids = clip_ids([*clips, *events.clip], where)
        known = dict.fromkeys(ids.values())
        lengths = None if durations is None else _durations_by_id(durations)
        if lengths is not None:
            unknown = [clip for clip in known if clip not in lengths]
            if unknown:
                raise SedscopeError(
                    f"durations: none for {counted(len(unknown), 'clip')} of the {where}: "
                    f"{listing(unknown)}"
                )
            known |= dict.fromkeys(lengths)
        self.clips = tuple(known)
        self.labels = tuple(sorted(set(events.label)))
        self.durations = (
            None if lengths is None else np.array([lengths[clip] for clip in known], np.int64)
        )
        clip_number = {clip: i for i, clip in enumerate(self.clips)}
        label_number = {label: i for i, label in enumerate(self.labels)}
        event_clips = np.array([clip_number[ids[name]] for name in events.clip], np.int32)
        event_labels = np.array([label_number[label] for label in events.label], np.int32)

        notes: list[str] = []
        keep = _valid_events(events, event_clips, self.durations, invalid, where, notes)
        order = keep[
            np.lexsort((events.offset[keep], events.onset[keep], event_labels[keep], event_clips[keep]))
        ]
        starts = _overlap_groups(events, event_clips, event_labels, order, overlaps, where, notes)
        first = order[starts]
        self.event_clips, self.event_labels = event_clips[first], event_labels[first]
        self.onsets = events.onset[first]
        self.offsets = (
            np.maximum.reduceat(events.offset[order], starts) if len(order) else events.offset[:0]
        )
        self.warnings = tuple(notes + self.late_ends())

    @classmethod
    def from_dict(
        cls,
        events: Mapping[str, Iterable[tuple[float, float, str]]],
        *,
        durations: Mapping[str, float] | None = None,
        invalid: Invalid = "error",
        overlaps: Overlaps = "error",
    ) -> GroundTruth:
        """From ``{clip: [(onset, offset, label), …]}``, times in seconds."""
        if not isinstance(events, Mapping):
            raise SedscopeError(
                f"ground truth: give a mapping from clips to events, not {type(events).__name__}"
            )
        rows: list[tuple[str, Any]] = []
        times: list[Ticks] = []
        problems: list[str] = []
        for clip, of_clip in events.items():
            if isinstance(of_clip, str) or not isinstance(of_clip, Iterable):
                problems.append(f"{clip}: {of_clip!r} is no list of (onset, offset, label)")
                continue
            for event in of_clip:
                try:
                    onset, offset, label = event
                    ticks = to_ticks([onset, offset])
                except (TypeError, ValueError):
                    problems.append(f"{clip}: {event!r} is not (onset, offset, label)")
                    continue
                if not isinstance(label, str) or not label:
                    problems.append(f"{clip}: {event!r} has no label")
                rows.append((clip, label))
                times.append(ticks)
        if problems:
            found = counted(len(problems), "problem")
            raise SedscopeError(f"ground truth: {found}: {listing(problems)}")
        table = np.array(times, np.int64).reshape(-1, 2)
        columns = EventColumns(
            clip=[clip for clip, _ in rows],
            onset=table[:, 0],
            offset=table[:, 1],
            label=[label for _, label in rows],
            where=lambda i: f"event {i}",
        )
        return cls(columns, clips=events, durations=durations, invalid=invalid, overlaps=overlaps)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        durations: Mapping[str, float] | Any | None = None,
        invalid: Invalid = "error",
        overlaps: Overlaps = "error",
        columns: Mapping[str, str] | None = None,
    ) -> GroundTruth:
        """From a frame of pandas, polars or pyarrow, or a mapping of columns, ``filename onset offset
        event_label``; ``columns`` names those that are called otherwise (``{"onset": "Begin", …}``).

        A row without onset, offset and label names a clip that has no events. ``durations`` is a
        mapping or a frame ``filename duration``.
        """
        from ..io.ground_truth import ground_truth_from_table

        return ground_truth_from_table(
            table,
            durations=durations,
            invalid=invalid,
            overlaps=overlaps,
            where="ground truth",
            columns=columns,
        )

    def events(self, clip: str) -> list[tuple[float, float, str]]:
        """The events of one clip as (onset, offset, label), in order of time, in seconds."""
        known = clip if clip in self.clips else clip_id(clip)
        if known not in self.clips:
            raise SedscopeError(f"the ground truth has no clip {clip!r}")
        rows = np.flatnonzero(self.event_clips == self.clips.index(known))
        rows = rows[np.argsort(self.onsets[rows], kind="stable")]
        return [
            (float(onset), float(offset), self.labels[label])
            for onset, offset, label in zip(
                to_seconds(self.onsets[rows]),
                to_seconds(self.offsets[rows]),
                self.event_labels[rows],
                strict=True,
            )
        ]

    def __len__(self) -> int:
        return len(self.onsets)

    def __repr__(self) -> str:
        return (
            f"<GroundTruth: {counted(len(self), 'event')}, {counted(len(self.clips), 'clip')}, "
            f"{counted(len(self.labels), 'class')}>"
        )

    def late_ends(self) -> list[str]:
        """A word on events that end after their clip's stated duration, if there are any."""
        if self.durations is None:
            return []
        late = np.flatnonzero(self.offsets > self.durations[self.event_clips])
        if not len(late):
            return []
        clips = list(dict.fromkeys(self.clips[i] for i in self.event_clips[late]))
        return [
            f"ending after the stated duration of the clip, and kept: "
            f"{counted(len(late), 'reference event')} in {listing(clips)}"
        ]


def _durations_by_id(durations: Mapping[str, float]) -> dict[str, int]:
    if not isinstance(durations, Mapping):
        raise SedscopeError(
            f"durations: give a mapping from clips to seconds, not {type(durations).__name__}"
        )
    ticks: dict[str, int] = {}
    wrong: list[str] = []
    for name, clip in clip_ids(durations, "durations").items():
        try:
            ticks[clip] = int(to_ticks(float(durations[name])))
        except (TypeError, ValueError):
            ticks[clip] = 0
        if ticks[clip] <= 0:
            given = durations[name]
            wrong.append(f"{name} ({given:g} s)" if isinstance(given, float) else f"{name} ({given} s)")
    if wrong:
        raise SedscopeError(f"durations must be numbers of seconds above zero: {listing(wrong)}")
    return ticks


def _valid_events(
    events: EventColumns,
    event_clips: NDArray[np.int32],
    durations: Ticks | None,
    invalid: Invalid,
    where: str,
    notes: list[str],
) -> NDArray[np.intp]:
    """The events that can be evaluated; the others are an error or dropped with a note."""
    empty = events.offset <= events.onset
    late = (
        np.zeros(len(empty), bool)
        if durations is None
        else ~empty & (events.onset >= durations[event_clips])
    )
    problems = [
        f"{counted(len(rows), 'event')} {what}: {listing([events.describe(i) for i in rows.tolist()])}"
        for mask, what in (
            (empty, "with no or negative length"),
            (late, "that begin at or after the end of their clip"),
        )
        if len(rows := np.flatnonzero(mask))
    ]
    if problems and invalid == "error":
        raise SedscopeError(
            f"{where}: {'; '.join(problems)}. Correct them, or leave them out with "
            "invalid='drop' (--invalid drop)"
        )
    notes += [f"left out {problem}" for problem in problems]
    return np.flatnonzero(~(empty | late))


def _overlap_groups(
    events: EventColumns,
    event_clips: NDArray[np.int32],
    event_labels: NDArray[np.int32],
    order: NDArray[np.intp],
    overlaps: Overlaps,
    where: str,
    notes: list[str],
) -> NDArray[np.intp]:
    """Where in `order` each event starts, when overlapping events of one clip and label are one."""
    if not len(order):
        return order
    clips, labels = event_clips[order], event_labels[order]
    onsets, offsets = events.onset[order], events.offset[order]
    same_pair = np.concatenate([[False], (clips[1:] == clips[:-1]) & (labels[1:] == labels[:-1])])
    overlapping = same_pair & (onsets < np.concatenate([onsets[:1], offsets[:-1]]))
    if overlapping.any():  # then a long event may reach beyond the next one: look at all of them
        latest = offsets[0]
        for i in range(1, len(order)):
            overlapping[i] = same_pair[i] and onsets[i] < latest
            latest = max(latest, offsets[i]) if same_pair[i] else offsets[i]
        rows = np.flatnonzero(overlapping)
        found = (
            f"{counted(len(rows), 'event')} overlapping another of the same class and clip: "
            f"{listing([events.describe(i) for i in order[rows].tolist()])}"
        )
        if overlaps == "error":
            raise SedscopeError(
                f"{where}: {found}. Correct them, or merge them with overlaps='merge' (--overlaps merge)"
            )
        notes.append(f"merged {found}")
    return np.flatnonzero(~overlapping)
