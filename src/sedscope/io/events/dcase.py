"""DCASE tables ``filename onset offset event_label``, perhaps ``confidence``; and weak labels."""

from __future__ import annotations

from pathlib import Path

from ...data.clip_ids import clip_id
from ...data.event_table import EventTable
from ..atomic_write import write_text
from ..text_tables import even_rows, quoted
from .format import EventFormat, EventSet, holding, seconds
from .source import Cells, Choices, Source, events_by_role

EVENT = {"filename": "filename", "onset": "onset", "offset": "offset", "label": "event_label"}
_WEAK = "event_labels"


def recognise(source: Source) -> bool:
    """A header with the names of the columns."""
    return {"onset", "offset", "event_label"} <= set(source.header)


def read(source: Source, choices: Choices) -> EventTable:
    """A table for all clips; without the column ``filename``, of the clip of the file's name."""
    cells = source.cells
    roles = {**EVENT, **({"confidence": "confidence"} if "confidence" in cells.header else {})}
    alone = "filename" not in cells.header and recognise(source)
    if alone:
        del roles["filename"]
    return events_by_role(cells, {**roles, **choices.columns}, clip=source.clip if alone else None)


def recognise_weak(source: Source) -> bool:
    """A header ``filename event_labels``; or no header, and names of audio files before a tab."""
    return {"filename", _WEAK} <= set(source.header) or _lacks_header(source)


def _lacks_header(source: Source) -> bool:
    rows = source.first_rows
    return (
        bool(rows)
        and all(len(row) == 2 and clip_id(row[0]) != row[0] for row in rows)
        and ("\t" in source.text)
    )


def read_weak(source: Source, _: Choices) -> EventTable:
    """Labels of whole clips, separated by commas."""
    if source.is_text and _lacks_header(source):
        rows, lines = source.rows
        even_rows(rows, lines, 2, source.path)
        cells = Cells(str(source.path), ["filename", _WEAK], rows, lambda i: source.place(lines[i]))
    else:
        cells = source.cells
    cells.require(["filename", _WEAK])
    return EventTable(
        where=cells.where,
        clip=[str(cell).strip() for cell in cells.column("filename")],
        onset=[None] * len(cells.rows),
        offset=[None] * len(cells.rows),
        label=[str(cell).strip() for cell in cells.column(_WEAK)],
        place=cells.place,
        weak=True,
    )


def text(events: EventSet, delimiter: str = "\t") -> str:
    """The table as text; clips without events have a row of their own."""
    header = [*EVENT.values(), *(["confidence"] if events.scored else [])]
    lines = [header]
    for clip, of_clip in events.events.items():
        for onset, offset, label, *confidence in of_clip:
            cells = [quoted(clip, delimiter), seconds(onset), seconds(offset), quoted(label, delimiter)]
            lines.append(cells + ([repr(float(*confidence or (1.0,)))] if events.scored else []))
        if not of_clip:
            lines.append([quoted(clip, delimiter), *[""] * (len(header) - 1)])
    return "".join(delimiter.join(line) + "\n" for line in lines)


def write(events: EventSet, path: Path) -> None:
    """Write a table for all clips, with commas if the name says so."""
    write_text(path, text(events, "," if path.suffix.lower() == ".csv" else "\t"))


def write_weak(events: EventSet, path: Path) -> None:
    """Write the labels of each clip."""
    lines = ["filename\tevent_labels"]
    for clip, of_clip in events.events.items():
        labels = ",".join(dict.fromkeys(event[2] for event in of_clip))
        lines.append(f"{quoted(clip)}\t{quoted(labels)}")
    write_text(path, "\n".join(lines) + "\n")


FORMATS = (
    EventFormat(
        name="dcase",
        about="DCASE table: filename onset offset event_label, perhaps confidence; tabs or commas",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "any label"),
        suffixes=(".tsv", ".csv"),
    ),
    EventFormat(
        name="dcase_weak",
        about="DCASE weak labels: filename event_labels, the labels separated by commas",
        recognise=recognise_weak,
        read=read_weak,
        write=write_weak,
        holds=holding("clips without events", "any label"),
    ),
)
