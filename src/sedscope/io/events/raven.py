"""Raven selection tables: ``Begin Time (s)``, ``End Time (s)``, a column of labels that the user named.

A table of several recordings has ``Begin File`` or ``Begin Path`` and ``File Offset (s)``: its begin and
end times then count from the beginning of the first recording, and the offset from that of its own.
A selection has one row per view; they are one event.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ...data.event_table import Cell, EventTable, cell_number
from ...data.times import TICKS_PER_SECOND, to_ticks
from ...errors import SedscopeError, counted, listing
from ..atomic_write import write_text
from ..text_tables import quoted
from .format import EventFormat, EventSet, holding, seconds
from .source import Cells, Choices, Source, events_by_role

BEGIN, END, OFFSET = "Begin Time (s)", "End Time (s)", "File Offset (s)"
_FILES = ("Begin File", "Begin Path")
_CONFIDENCES = ("Confidence", "Score")
_LABELS = (
    "annotation",
    "species",
    "label",
    "class",
    "tags",
    "common name",
    "call type",
    "type",
    "event",
)
# measurements have units; these have none
_RAVENS_OWN = re.compile(
    r"(Selection|View|Channel|(Begin|End) (File|Path|Clock Time|Date|Sample)|.*\(.*\)|Confidence|Score|"
    r"Notes?|Comments?|Sound Type|Software|Species Code|eBird Code)",
    re.IGNORECASE,
)


def recognise(source: Source) -> bool:
    """A header with Raven's names of begin and end."""
    return {BEGIN, END} <= set(source.header)


def read(source: Source, choices: Choices) -> EventTable:
    """A table of one recording or of several."""
    return read_cells(source.cells, source.clip, choices)


def read_cells(cells: Cells, clip: str, choices: Choices) -> EventTable:
    """Selections of one recording, named ``clip`` unless the table says otherwise, or of several."""
    cells.require([BEGIN, END])
    cells = _one_row_a_selection(cells)
    roles = {"onset": BEGIN, "offset": END}
    file = next((name for name in _FILES if name in cells.header), None)
    if file:
        roles["filename"] = file
        cells = _within_files(cells, file)
    confidence = next((name for name in _CONFIDENCES if name in cells.header), None)
    if confidence:
        roles["confidence"] = confidence
    if "label" not in choices.columns and choices.label is None:
        roles["label"] = label_column(cells)
    return events_by_role(cells, {**roles, **choices.columns}, clip=clip, label=choices.label)


def label_column(cells: Cells) -> str:
    """The column of labels: the only one that Raven does not make, or the only one named like one."""
    named = [name for name in cells.header if name and not _RAVENS_OWN.fullmatch(name)]
    usual = [name for name in named if name.lower() in _LABELS]
    if len(usual) == 1 or len(named) == 1:
        return (usual or named)[0]
    said = (
        f"which column holds the labels? Choose from {listing([repr(name) for name in named], limit=20)}"
        if named
        else "no column holds labels; give one label for all events with label= (--label), or a column"
    )
    raise SedscopeError(f"{cells.where}: {said} with columns={{'label': …}} (--columns label=NAME)")


def _one_row_a_selection(cells: Cells) -> Cells:
    """Rows of a selection that were made for other views are left out."""
    if "Selection" not in cells.header or "View" not in cells.header:
        return cells
    keys = zip(*(cells.column(name) for name in ("Selection", BEGIN, END)), strict=True)
    first: dict[tuple[str, ...], int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    rows = list(first.values())
    return Cells(
        cells.where, cells.header, [cells.rows[i] for i in rows], lambda k: cells.place(rows[k])
    )


def _within_files(cells: Cells, file: str) -> Cells:
    """The same table with times that count from the beginning of each recording."""
    if OFFSET not in cells.header:
        files = list(dict.fromkeys(cells.column(file)))
        if len(files) > 1:
            raise SedscopeError(
                f"{cells.where}: {counted(len(files), 'recording')} and no column {OFFSET!r}: Raven's "
                "times count from the first one. Save the table with that column; or, if times count "
                "from the beginning of each, name all columns: --format table --columns "
                f"filename={file!r},onset={BEGIN!r},offset={END!r},label=NAME"
            )
        return cells
    begin, end, offset = (list(cells.header).index(name) for name in (BEGIN, END, OFFSET))
    rows = []
    for row in cells.rows:
        moved = list(row)
        moved[begin], moved[end] = _moved(row[begin], row[end], row[offset])
        rows.append(moved)
    return Cells(cells.where, cells.header, rows, cells.place)


def _moved(begin: Cell, end: Cell, offset: Cell) -> Sequence[Cell]:
    """Begin and end, counted from the recording; cells that are no numbers are left to be refused."""
    try:
        first, last = (int(to_ticks(cell_number(cell))) for cell in (begin, end))
    except ValueError:
        return begin, end
    try:
        start = int(to_ticks(cell_number(offset)))
    except ValueError:
        return offset, end
    return start / TICKS_PER_SECOND, (start + last - first) / TICKS_PER_SECOND


def write(events: EventSet, path: Path) -> None:
    """Write one table for all clips."""
    header = ["Selection", "View", "Channel", BEGIN, END, "Low Freq (Hz)", "High Freq (Hz)"]
    header += ["Begin File", OFFSET, "Annotation", *(["Confidence"] if events.scored else [])]
    lines = [header]
    for number, (clip, onset, offset, label, confidence) in enumerate(events.rows(), 1):
        cells = [str(number), "Spectrogram 1", "1", seconds(onset), seconds(offset), "0", "0"]
        cells += [quoted(clip), seconds(onset), quoted(label)]
        lines.append([*cells, *([repr(confidence)] if events.scored else [])])
    write_text(path, "".join("\t".join(line) + "\n" for line in lines))


FORMATS = (
    EventFormat(
        name="raven",
        about="Raven selection table, of one recording or of several (Begin File, File Offset (s))",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "any label"),
        suffixes=(".selections.txt",),
    ),
)
