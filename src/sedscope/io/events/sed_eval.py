"""Event lists of sed_eval and dcase_util: no header; tabs, commas or semicolons; one to five columns.

``onset offset``, ``onset offset label``, ``file onset offset label``, ``file scene onset offset label``;
a row with only a file name is a clip without events. Lists without file names are of one clip each.
"""

from __future__ import annotations

from pathlib import Path

from ...data.event_table import EventTable
from ...errors import SedscopeError, counted, listing
from ..atomic_write import write_text
from ..text_tables import is_number, quoted
from . import audacity
from .format import EventFormat, EventSet, holding, seconds
from .source import Choices, Source

_FIRST_TIME = {2: 0, 3: 0, 4: 1, 5: 2}


def recognise(source: Source) -> bool:
    """Two numbers at the place of onset and offset in every row, unless it is a label track, which reads
    the same."""
    if audacity.recognise(source):
        return False
    rows = [row for row in source.first_rows if len(row) > 1]
    return bool(rows) and all(_is_event(row) for row in rows)


def read(source: Source, choices: Choices) -> EventTable:
    """A list of one clip, or for all of them."""
    rows, lines = source.rows
    uneven = [line for row, line in zip(rows, lines, strict=True) if not 1 <= len(row) <= 5]
    if uneven:
        raise SedscopeError(
            f"{source.path}: an event list has at most 5 columns; {counted(len(uneven), 'row')} more: "
            f"{listing([f'line {line}' for line in uneven])}"
        )
    places = [_FIRST_TIME.get(len(row)) for row in rows]
    label = choices.label or ""
    if any(len(row) == 2 for row in rows) and not label:
        raise SedscopeError(f"{source.path}: its events have no label: give one with label= (--label)")

    def cell(row: list[str], at: int | None, more: int) -> str | None:
        return None if at is None or at + more >= len(row) else row[at + more]

    return EventTable(
        where=str(source.path),
        clip=[source.clip if at == 0 else row[0] for row, at in zip(rows, places, strict=True)],
        onset=[cell(row, at, 0) for row, at in zip(rows, places, strict=True)],
        offset=[cell(row, at, 1) for row, at in zip(rows, places, strict=True)],
        label=[
            "" if at is None else cell(row, at, 2) or label for row, at in zip(rows, places, strict=True)
        ],
        place=lambda i: source.place(lines[i]),
    )


def write(events: EventSet, path: Path) -> None:
    """Write one list for all clips, with four columns."""
    mark = {".csv": ",", ".ann": "\t"}.get(path.suffix.lower(), "\t")
    lines = []
    for clip, of_clip in events.events.items():
        name = quoted(clip, mark)
        for onset, offset, label, *_ in of_clip:
            lines.append(mark.join([name, seconds(onset), seconds(offset), quoted(label, mark)]))
        if not of_clip:
            lines.append(name)
    write_text(path, "".join(line + "\n" for line in lines))


def _is_event(row: list[str]) -> bool:
    at = _FIRST_TIME.get(len(row))
    return at is not None and is_number(row[at]) and is_number(row[at + 1])


FORMATS = (
    EventFormat(
        name="sed_eval",
        about="sed_eval event list: no header, 1 to 5 columns, tabs, commas or semicolons; one file for "
        "all clips or one a clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "clips without events", "any label"),
        suffixes=(".ann", ".lab"),
    ),
)
