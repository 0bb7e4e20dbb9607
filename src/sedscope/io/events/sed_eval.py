"""Event lists of sed_eval and dcase_util: no header; tabs, commas or semicolons; one to five columns.

``onset offset``, ``onset offset label``, ``file onset offset label``, ``file scene onset offset label``;
a row with only a file name is a clip without events. A list without file names belongs to one clip.
"""

from __future__ import annotations

from pathlib import Path

from ...data.event_table import EventTable
from ...data.tables import is_number
from ...errors import SedscopeError
from ..atomic_write import write_text
from ..text_tables import quoted
from . import audacity
from .format import EventFormat, EventSet, holding, seconds_text
from .source import EventReadOptions, Source

_ONSET_COLUMN = {2: 0, 3: 0, 4: 1, 5: 2}
"""The column of the onset by number of columns. The offset and the label follow it."""


def recognise(source: Source) -> bool:
    """Look for two numbers where onset and offset are expected, in every row.

    An Audacity label track looks the same and is left to that format.
    """
    if audacity.recognise(source):
        return False
    rows = [row for row in source.first_rows if len(row) > 1]
    return bool(rows) and all(_is_event(row) for row in rows)


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read a list of one clip or of all clips."""
    rows, lines = source.rows
    long = {line for row, line in zip(rows, lines, strict=True) if len(row) > 5}
    wrong = [source.line_location(line) for line in sorted(long)]
    source.refuse_rows(wrong, "an event list has at most 5 columns")
    rows = [row for row in rows if len(row) <= 5]
    lines = [line for line in lines if line not in long]
    onsets = [_ONSET_COLUMN.get(len(row)) for row in rows]
    label = options.label or ""
    if any(len(row) == 2 for row in rows) and not label:
        raise SedscopeError(f"{source.path}: the events have no label. Give one with `label=`.")

    def cell(row: list[str], onset: int | None, offset: int) -> str | None:
        """Return the cell that is some columns after the onset."""
        return None if onset is None or onset + offset >= len(row) else row[onset + offset]

    return EventTable(
        where=str(source.path),
        clip=[source.clip if onset == 0 else row[0] for row, onset in zip(rows, onsets, strict=True)],
        onset=[cell(row, onset, 0) for row, onset in zip(rows, onsets, strict=True)],
        offset=[cell(row, onset, 1) for row, onset in zip(rows, onsets, strict=True)],
        label=[
            "" if onset is None else cell(row, onset, 2) or label
            for row, onset in zip(rows, onsets, strict=True)
        ],
        row_location=lambda i: source.line_location(lines[i]),
    )


def write(events: EventSet, path: Path) -> None:
    """Write one list with four columns for all clips."""
    delimiter = "," if path.suffix.lower() == ".csv" else "\t"
    lines = []
    for clip, clip_events in events.events.items():
        name = quoted(clip, delimiter)
        for onset, offset, label, *_ in clip_events:
            cells = [name, seconds_text(onset), seconds_text(offset), quoted(label, delimiter)]
            lines.append(delimiter.join(cells))
        if not clip_events:
            lines.append(name)
    write_text(path, "".join(line + "\n" for line in lines))


def _is_event(row: list[str]) -> bool:
    onset = _ONSET_COLUMN.get(len(row))
    return onset is not None and is_number(row[onset]) and is_number(row[onset + 1])


FORMATS = (
    EventFormat(
        name="sed_eval",
        about="sed_eval event list: no header, 1 to 5 columns, tabs, commas or semicolons; one file for "
        "all clips or one per clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "clips without events", "any label"),
        suffixes=(".ann", ".lab"),
        file_suffixes=(".txt", ".csv", ".ann", ".lab"),
        header=False,
        named_columns=False,
    ),
)
