"""Tables of DCASE Task 5, few-shot bioacoustic event detection, as annotations and as predictions.

``Audiofilename,Starttime,Endtime`` and a column per class (``Q`` in the evaluated sets) with ``POS`` for an
event of the class, ``UNK`` for one that may be of the class, which becomes an ignored reference, and ``NEG``
for none. Predictions have no column of a class; their label is ``Q``.
"""

from __future__ import annotations

from pathlib import Path

from ...data.event_table import EventTable
from ...data.tables import Cell, RowLocation
from ..atomic_write import write_text
from ..text_tables import quoted
from .format import EventFormat, EventSet, holding, seconds_text
from .source import EventReadOptions, Source

_COLUMNS = ("Audiofilename", "Starttime", "Endtime")
_LABEL = "Q"
_MARKS = ("POS", "UNK", "NEG", "")


def recognise(source: Source) -> bool:
    """Look for the columns of the file name and the times."""
    return source.is_text and tuple(source.header[:3]) == _COLUMNS


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read annotations or predictions."""
    cells = source.cells
    cells.require(_COLUMNS)
    clips = cells.text_column(_COLUMNS[0])
    onsets, offsets = cells.column(_COLUMNS[1]), cells.column(_COLUMNS[2])
    labels = [name for name in cells.header if name not in _COLUMNS]
    marks = {name: cells.text_column(name) for name in labels} or {
        options.label or _LABEL: ["POS"] * len(clips)
    }
    rows: list[tuple[int, str, str]] = []
    wrong: list[RowLocation] = []
    for i in range(len(clips)):
        of_row = {label: column[i].strip().upper() for label, column in marks.items()}
        if not {*of_row.values()} <= {*_MARKS}:
            wrong.append(cells.row_location(i))
            continue
        events = [(i, label, mark) for label, mark in of_row.items() if mark in ("POS", "UNK")]
        rows += events or [(i, "", "")]
    source.refuse_rows(wrong, "a class has a mark other than POS, UNK or NEG")

    def times(column: list[Cell]) -> list[Cell]:
        return [column[i] if label else None for i, label, _ in rows]

    return EventTable(
        where=str(source.path),
        clip=[clips[i] for i, _, _ in rows],
        onset=times([*onsets]),
        offset=times([*offsets]),
        label=[label for _, label, _ in rows],
        ignored=[mark == "UNK" for _, _, mark in rows],
        row_location=lambda k: cells.row_location(rows[k][0]),
    )


def write(events: EventSet, path: Path) -> None:
    """Write one table of all clips, with a column per label. A clip without events has a row that says so."""
    labels = sorted({row[3] for row in events.rows()}) or [_LABEL]
    lines = [",".join([*_COLUMNS, *(quoted(label, ",") for label in labels)])]
    for clip, of_clip in events.events.items():
        for onset, offset, label, *_ in of_clip:
            marks = ["POS" if label == column else "NEG" for column in labels]
            times = [seconds_text(onset), seconds_text(offset)]
            lines.append(",".join([quoted(clip, ","), *times, *marks]))
        if not of_clip:
            lines.append(",".join([quoted(clip, ","), "0", "0", *["NEG"] * len(labels)]))
    write_text(path, "".join(line + "\n" for line in lines))


FORMATS = (
    EventFormat(
        name="few_shot",
        about="DCASE Task 5: Audiofilename, Starttime, Endtime, and a column per class with POS, UNK, NEG",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "clips without events"),
        named_columns=False,
    ),
)
