"""Events by clip, as detection and reading return them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..errors import counted
from ..notebook.data_frame import Column, Tabular, number_column, polars_frame
from ..notebook.html_table import html_table

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

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
