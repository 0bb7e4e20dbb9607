"""What is known of a format of event lists, and what is written to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...data.clip_ids import clip_id, clip_ids
from ...data.event_table import EventTable
from ...errors import SedscopeError, counted, listing
from ..atomic_write import filling, write_text
from .source import Choices, Source

Part: TypeAlias = Literal["confidences", "clips without events", "durations", "times", "any label"]


@dataclass(frozen=True)
class EventSet:
    """Events by clip, ``(onset, offset, label[, confidence])`` in seconds, and what is known beside."""

    events: Mapping[str, Sequence[tuple[Any, ...]]]
    durations: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def scored(self) -> bool:
        """Whether there are confidences."""
        return any(len(event) > 3 for of_clip in self.events.values() for event in of_clip)

    def rows(self) -> list[tuple[str, float, float, str, float]]:
        """Clip, onset, offset, label and confidence of each event; the confidence is 1 unless given."""
        return [
            (clip, float(onset), float(offset), label, float(*rest or (1.0,)))
            for clip, of_clip in self.events.items()
            for onset, offset, label, *rest in of_clip
        ]

    def duration(self, clip: str) -> float | None:
        """How long a clip is, if that is known."""
        return self._ends.get(clip_id(clip))

    @cached_property
    def _ends(self) -> dict[str, float]:
        return {clip_id(name): end for name, end in self.durations.items()}

    def parts(self) -> dict[Part, str]:
        """What the set has that not every format holds, in words."""
        found: dict[Part, str] = {}
        if self.scored:
            found["confidences"] = "the confidences of events"
        empty = [clip for clip, of_clip in self.events.items() if not of_clip]
        if empty:
            found["clips without events"] = (
                f"{counted(len(empty), 'clip')} without events: {listing(empty)}"
            )
        if self.durations:
            found["durations"] = f"the durations of {counted(len(self.durations), 'clip')}"
        odd = sorted({row[3] for row in self.rows() if row[3] != plain_label(row[3])})
        if odd:
            found["any label"] = f"the white space in labels: {listing(list(map(repr, odd)))}"
        if any(row[1] != 0 or row[2] != self.duration(row[0]) for row in self.rows()):
            found["times"] = "the times of events"
        return found


@dataclass(frozen=True)
class EventFormat:
    """A format: how to tell it, how to read and write it, and what it can hold."""

    name: str
    about: str
    recognise: Callable[[Source], bool]
    read: Callable[[Source, Choices], EventTable]
    write: Callable[[EventSet, Path], None]
    holds: frozenset[Part]
    suffixes: tuple[str, ...] = ()
    """Names of files that mean this format when events are written."""

    def losses(self, events: EventSet) -> list[str]:
        """What the format cannot hold of a set, in words."""
        return [said for part, said in events.parts().items() if part not in self.holds]


def holding(*parts: Part) -> frozenset[Part]:
    """What a format can hold."""
    return frozenset(parts)


def plain_label(label: str) -> str:
    """A label as a format without quotes can hold it: with single spaces."""
    return " ".join(label.split())


def seconds(time: float) -> str:
    """A time to the microsecond."""
    return f"{time:.6f}"


def write_per_clip(events: EventSet, path: Path, suffix: str, text_of: Callable[[str], str]) -> None:
    """One file a clip in a new folder; or, if ``path`` has the suffix, the file of the only clip."""
    if path.suffix.lower() != suffix:
        names = clip_ids(events.events, "events")
        with filling(path) as folder:
            for name, clip in names.items():
                write_text(folder / f"{clip}{suffix}", text_of(name))
        return
    if len(events.events) != 1 or clip_id(next(iter(events.events))) != path.stem:
        raise SedscopeError(
            f"{path}: the format has one file a clip, named after it: give a folder, or for a single "
            "clip its own name"
        )
    write_text(path, text_of(next(iter(events.events))))
