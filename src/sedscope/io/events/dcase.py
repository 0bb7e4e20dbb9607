"""DCASE tables ``filename onset offset event_label``, optionally ``confidence``, and weak labels."""

from __future__ import annotations

from pathlib import Path

from ...data.clips import clip_id
from ...data.event_table import DCASE_COLUMNS, EventTable, events_by_role
from ..atomic_write import write_text
from ..text_tables import quoted
from .format import EventFormat, EventSet, holding, seconds_text
from .source import EventReadOptions, Source

_WEAK = "event_labels"


def recognise(source: Source) -> bool:
    """Look for the names of the columns in the header."""
    return {"onset", "offset", "event_label"} <= set(source.header)


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read a table of all clips, or of the clip in the file's name if no column is ``filename``."""
    cells = source.cells
    roles = {**DCASE_COLUMNS, **({"confidence": "confidence"} if "confidence" in cells.header else {})}
    single_clip = "filename" not in cells.header and recognise(source)
    if single_clip:
        del roles["filename"]
    if "duration" in options.columns:
        del roles["offset"]
    if options.label is not None and roles["label"] not in cells.header:
        del roles["label"]
    return events_by_role(
        cells,
        {**roles, **options.columns},
        clip=source.clip if single_clip else None,
        label=options.label,
        side=options.side,
    )


def recognise_weak(source: Source) -> bool:
    """Look for a header ``filename event_labels``, or for names of audio files before a tab."""
    return {"filename", _WEAK} <= set(source.header) or _lacks_header(source)


def _lacks_header(source: Source) -> bool:
    rows = source.first_rows
    return (
        bool(rows)
        and all(len(row) == 2 and clip_id(row[0]) != row[0] for row in rows)
        and ("\t" in source.text)
    )


def read_weak(source: Source, _: EventReadOptions) -> EventTable:
    """Read labels of whole clips, separated by commas."""
    if source.is_text and _lacks_header(source):
        cells = source.table(["filename", _WEAK], *source.rows)
    else:
        cells = source.cells
    cells.require(["filename", _WEAK])
    return EventTable(
        where=cells.where,
        clip=cells.text_column("filename"),
        onset=[None] * len(cells),
        offset=[None] * len(cells),
        label=cells.text_column(_WEAK),
        row_location=cells.row_location,
        weak=True,
    )


def text(events: EventSet, delimiter: str = "\t") -> str:
    """Return the table as text. A clip without events has a row of its own."""
    header = [*DCASE_COLUMNS.values(), *(["confidence"] if events.scored else [])]
    lines = [header]
    for clip, clip_events in events.events.items():
        for onset, offset, label, confidence in events.of_clip(clip):
            cells = [quoted(clip, delimiter), seconds_text(onset), seconds_text(offset)]
            cells.append(quoted(label, delimiter))
            lines.append(cells + ([repr(confidence)] if events.scored else []))
        if not clip_events:
            lines.append([quoted(clip, delimiter), *[""] * (len(header) - 1)])
    return "".join(delimiter.join(line) + "\n" for line in lines)


def write(events: EventSet, path: Path) -> None:
    """Write a table of all clips, separated by commas if the file is named ``.csv``."""
    write_text(path, text(events, "," if path.suffix.lower() == ".csv" else "\t"))


def write_weak(events: EventSet, path: Path) -> None:
    """Write the labels of each clip."""
    lines = ["filename\tevent_labels"]
    for clip, clip_events in events.events.items():
        labels = ",".join(dict.fromkeys(event[2] for event in clip_events))
        lines.append(f"{quoted(clip)}\t{quoted(labels)}")
    write_text(path, "\n".join(lines) + "\n")


FORMATS = (
    EventFormat(
        name="dcase",
        about="DCASE table: filename onset offset event_label, optionally confidence; tabs or commas",
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
        named_columns=False,
    ),
)
