"""What a format of events is, and what is written to one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...data.clips import clip_id, clip_ids
from ...data.event_table import EventTable
from ...errors import SedscopeError, counted, listing
from ..atomic_write import check_file_names, filling, write_text
from .source import EventReadOptions, Source

EventFeature: TypeAlias = Literal[
    "confidences", "clips without events", "durations", "times", "any label"
]
"""Something that some formats can hold and others cannot."""


@dataclass(frozen=True)
class Boxes:
    """What tables of Raven say beside the events: the sound files, and the frequencies of the boxes.

    Parameters
    ----------
    audio_suffix : str, default '.wav'
        What follows the names of clips that have no suffix of an audio file.
    low, high : float, default 0 and 15000
        The frequencies in Hz of events that have none.
    frequencies : mapping, optional
        The lowest and the highest frequency of events that have some, by clip, onset, offset and label.

    Examples
    --------
    >>> import sedscope as sed
    >>> boxes = sed.Boxes(low=500, high=8000)
    >>> boxes.file_name("night_1"), boxes.of("night_1", 1.0, 2.0, "Wren")
    ('night_1.wav', (500, 8000))
    """

    audio_suffix: str = ".wav"
    low: float = 0.0
    high: float = 15000.0
    frequencies: Mapping[tuple[str, float, float, str], tuple[float, float]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high < math.inf:
            raise SedscopeError(
                f"Frequencies are two numbers of Hz, the lower one first, not {self.low:g} and {self.high:g}."
            )

    def file_name(self, clip: str) -> str:
        """Return the name of the sound file of a clip.

        Parameters
        ----------
        clip : str
            The name of the clip, perhaps with folders and a suffix.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Boxes().file_name("night_1"), sed.Boxes().file_name("sites/night_1.flac")
        ('night_1.wav', 'sites/night_1.flac')
        """
        name = re.split(r"[/\\]", clip)[-1]
        return clip if clip_id(clip) != name else clip + self.audio_suffix

    def of(self, clip: str, onset: float, offset: float, label: str) -> tuple[float, float]:
        """Return the lowest and the highest frequency of an event.

        Parameters
        ----------
        clip : str
            The name of the clip.
        onset, offset : float
            The times in seconds.
        label : str
            The class.

        Returns
        -------
        tuple of float

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Boxes().of("a", 1.0, 2.0, "Wren")
        (0.0, 15000.0)
        """
        return self.frequencies.get((clip, onset, offset, label), (self.low, self.high))


@dataclass(frozen=True)
class EventSet:
    """Events to write."""

    events: Mapping[str, Sequence[tuple[Any, ...]]]
    """By clip ``(onset, offset, label[, confidence])``, times in seconds."""
    durations: Mapping[str, float] = field(default_factory=dict)
    """Durations of clips in seconds."""
    boxes: Boxes = field(default_factory=lambda: Boxes())

    @cached_property
    def scored(self) -> bool:
        """Whether events have confidences."""
        return any(len(event) > 3 for events in self.events.values() for event in events)

    def of_clip(self, clip: str) -> list[tuple[float, float, str, float]]:
        """Return onset, offset, label and confidence (by default 1) of the events of a clip."""
        return [
            (float(onset), float(offset), label, float(*confidence or (1.0,)))
            for onset, offset, label, *confidence in self.events[clip]
        ]

    def rows(self) -> list[tuple[str, float, float, str, float]]:
        """Return clip, onset, offset, label and confidence of all events."""
        return [(clip, *event) for clip in self.events for event in self.of_clip(clip)]

    def duration(self, clip: str) -> float | None:
        """Return the duration of a clip, if it is known."""
        return self._durations_by_id.get(clip_id(clip))

    @cached_property
    def _durations_by_id(self) -> dict[str, float]:
        return {clip_id(name): seconds for name, seconds in self.durations.items()}

    def features(self) -> dict[EventFeature, str]:
        """Return what the set has that not every format can hold, each with a phrase for messages."""
        features: dict[EventFeature, str] = {}
        if self.scored:
            features["confidences"] = "the confidences of events"
        empty = [clip for clip, events in self.events.items() if not events]
        if empty:
            features["clips without events"] = (
                f"{counted(len(empty), 'clip')} without events: {listing(empty)}"
            )
        if self.durations:
            features["durations"] = f"the durations of {counted(len(self.durations), 'clip')}"
        odd = sorted({row[3] for row in self.rows() if row[3] != plain_label(row[3])})
        if odd:
            features["any label"] = f"the white space in labels: {listing(list(map(repr, odd)))}"
        if any(row[1] != 0 or row[2] != self.duration(row[0]) for row in self.rows()):
            features["times"] = "the times of events"
        return features


@dataclass(frozen=True)
class EventFormat:
    """A format: how it is recognised, read and written, and what it can hold."""

    name: str
    about: str
    """One line for ``sedscope formats``."""
    recognise: Callable[[Source], bool]
    read: Callable[[Source, EventReadOptions], EventTable]
    write: Callable[[EventSet, Path], None]
    holds: frozenset[EventFeature]
    suffixes: tuple[str, ...] = ()
    """Endings of file names that select this format when events are written."""
    file_suffixes: tuple[str, ...] = (".tsv", ".csv", ".txt")
    """Suffixes of the files that are read when a folder is given."""
    per_clip: bool = False
    """Whether the format has one file per clip."""
    header: bool = True
    """Whether files have a header. An empty file without one is a clip without events."""
    named_columns: bool = True
    """Whether the user can name the columns."""
    holds_spaces: bool = True
    """Whether labels and names of clips may have spaces."""
    generic: bool = False
    """Whether every other format that also recognises a file takes precedence."""
    label: str | None = None
    """The label of all events, if the format has no labels."""
    reads_durations: bool = False
    """Whether it places recordings one after the other, without stating durations."""
    lost_with_confidences: frozenset[EventFeature] = frozenset()
    """What the format cannot hold of events with confidences."""

    @property
    def uses_durations(self) -> bool:
        """Whether it takes the durations of clips, to state them or to place recordings."""
        return "durations" in self.holds or self.reads_durations

    def losses(self, events: EventSet) -> list[str]:
        """Return phrases for what the format cannot hold of a set."""
        held = self.holds - self.lost_with_confidences if events.scored else self.holds
        held |= {"durations"} if self.reads_durations else set()
        lost = [phrase for feature, phrase in events.features().items() if feature not in held]
        labels = {row[3] for row in events.rows()}
        spaced = sorted(name for name in {*events.events, *labels} if len(name.split()) > 1)
        if spaced and not self.holds_spaces:
            lost.append(f"the spaces in names: {listing(list(map(repr, spaced)))}")
        if self.label is not None and labels - {self.label}:
            lost.append(f"the labels of events: {listing(list(map(repr, sorted(labels))))}")
        return lost


def holding(*features: EventFeature) -> frozenset[EventFeature]:
    """Return a set of features."""
    return frozenset(features)


def without_label(table: EventTable, label: str) -> EventTable:
    """Turn rows with a label that says that there is nothing into rows of clips without events."""
    empty = {i for i, other in enumerate(table.label) if other == label}
    return table.without_events(empty) if empty else table


def plain_label(label: str) -> str:
    """Return a label with single spaces, as a format without quotes can hold it."""
    return " ".join(label.split())


def seconds_text(time: float) -> str:
    """Write a time in seconds, to the microsecond."""
    return f"{time:.6f}"


def write_per_clip(
    events: EventSet, path: Path, suffix: str, text_of: Callable[[str], str], *, ending: str = ""
) -> None:
    """Write one file per clip into a new folder, or a single file if ``path`` has the suffix.

    ``ending``: what follows the clip in the names of files, before the suffix.
    """
    if path.suffix.lower() != suffix:
        names = clip_ids(events.events, "events")
        check_file_names(names.values(), path)
        with filling(path) as folder:
            for name, clip in names.items():
                write_text(folder / f"{clip}{ending}{suffix}", text_of(name))
        return
    if len(events.events) != 1 or clip_id(next(iter(events.events))) != path.stem.removesuffix(ending):
        raise SedscopeError(
            f"{path}: the format has one file per clip, named after it. Give a folder, or for a single "
            "clip its own name."
        )
    write_text(path, text_of(next(iter(events.events))))
