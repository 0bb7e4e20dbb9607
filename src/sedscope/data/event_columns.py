"""Events as columns: clips, times in microseconds, labels, and where each event comes from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import shortened
from .cells import RowLocation
from .clip_ids import clip_id
from .times import Ticks


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
