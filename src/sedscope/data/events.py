"""Events: by clip as detection and reading return them, and as columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import counted, shortened
from ..tabular import Tabular
from .clip_ids import clip_id
from .tables import RowLocation
from .times import Ticks

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
