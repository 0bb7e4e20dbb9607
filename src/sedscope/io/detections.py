"""Detected events from files of any event format, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..data.event_table import EventTable
from ..data.events import Events
from ..data.frames import FrameLike
from ..errors import SedscopeError, issue_warnings
from .durations import load_durations
from .events import dcase
from .events.files import read_event_table
from .events.format import EventSet
from .events.registry import event_format
from .events.source import EventReadOptions
from .locations import Address, Location, local_path


def read_events(
    path: str | Location | FrameLike,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    durations: str | Location | Mapping[str, float] | None = None,
) -> Events[tuple[Any, ...]]:
    """Read detected events, with or without confidences.

    Parameters
    ----------
    path : path, address or data frame
        A file or folder in any format of events that ``sedscope formats`` lists; or a pandas, polars or
        pyarrow table with the columns ``filename onset offset event_label``, and perhaps
        ``confidence``.
    format : str, optional
        Name of the format. By default it is recognised from the content.
    columns : mapping from str to str, optional
        Names of columns by role: ``{"onset": "Begin Time (s)", …}``. The roles are ``filename``,
        ``onset``, ``offset``, ``duration``, ``label`` and ``confidence``.
    label : str, optional
        The label of events that have none, and of all speakers of an RTTM file.
    durations : path, address or mapping from str to float, optional
        Durations of the clips in seconds. Only labels of whole clips need them.

    Warns
    -----
    SedscopeWarning
        If there are no confidences, but a column that is not read has a name such as ``score``.

    Returns
    -------
    Events
        A dict ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds.

    Examples
    --------
    >>> table = {"filename": ["a"], "onset": [0.5], "offset": [1.5], "event_label": ["Dog"]}
    >>> read_events(table)
    {'a': [(0.5, 1.5, 'Dog')]}
    """
    if isinstance(path, (str, Path, Address)):
        table = read_event_table(path, format=format, options=EventReadOptions(columns or {}, label))
    else:
        table = EventTable.from_frame(path, columns)
    issue_warnings(table.missing_confidences_notes(), stacklevel=2)
    return table.events(load_durations(durations))


def write_events(
    events: Mapping[str, Iterable[tuple[Any, ...]]],
    path: str | Path | None,
    *,
    format: str | None = None,
    durations: Mapping[str, float] | None = None,
    lossy: bool = False,
) -> str:
    """Write detected events to a file that :func:`read_events` reads back.

    Parameters
    ----------
    events : mapping from str to iterable of tuple
        ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds. In a DCASE table, a
        clip without events has a row of its own.
    path : path or None
        The file, or a new folder for formats with one file per clip. None writes nothing.
    format : str, optional
        Name of the format, by default ``"dcase"``. ``sedscope formats`` lists them.
    durations : mapping from str to float, optional
        Durations of the clips in seconds, for formats that hold them.
    lossy : bool, default False
        Whether to leave out what the format cannot hold. By default that is an error.

    Returns
    -------
    str
        The events as the text of a DCASE table.

    Examples
    --------
    >>> print(write_events({"a": [(0.5, 1.5, "Dog")]}, None).expandtabs(10))
    filename  onset     offset    event_label
    a         0.500000  1.500000  Dog
    <BLANKLINE>
    """
    event_set = EventSet({clip: list(rows) for clip, rows in events.items()}, durations or {})
    if path is not None:
        write_event_set(event_set, local_path(path), format=format or "dcase", lossy=lossy)
    return dcase.text(event_set)


def write_event_set(events: EventSet, path: Path, *, format: str, lossy: bool = False) -> None:
    """Write events in a format. What it cannot hold is an error unless ``lossy``."""
    chosen = event_format(format)
    losses = chosen.losses(events)
    if losses and not lossy:
        raise SedscopeError(
            f"{path}: the format {format} cannot hold {'; '.join(losses)}. Choose another format, "
            "or accept the loss with lossy=True (--lossy)."
        )
    chosen.write(events, path)
