"""DCASE tables ``filename onset offset event_label``, optionally ``confidence``, and weak labels.

Tables with other columns, which the user names, and Parquet files with these columns are here, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...data.clips import clip_id
from ...data.event_table import DCASE_COLUMNS, EventTable, events_by_role
from ...errors import SedscopeError
from ..atomic_write import write_text
from ..parquet_files import write_parquet
from ..text_tables import table_text
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


def read_named(source: Source, options: EventReadOptions) -> EventTable:
    """Read a table with a header. Columns that the user does not name are those of DCASE tables."""
    if not source.header:
        raise SedscopeError(f"{source.path}: a table with named columns needs a header.")
    defaults = {**DCASE_COLUMNS, "confidence": "confidence"}
    if "duration" in options.columns:
        del defaults["offset"]
    present = {role: name for role, name in defaults.items() if name in source.header}
    roles = {**present, **options.columns}
    return events_by_role(source.cells, roles, clip=source.clip, label=options.label, side=options.side)


def text(events: EventSet, delimiter: str = "\t") -> str:
    """Return the table as text. A clip without events has a row of its own."""
    columns = 5 if events.scored else 4
    rows = [[*DCASE_COLUMNS.values(), "confidence"]]
    for clip in events.events:
        rows += [
            [clip, seconds_text(onset), seconds_text(offset), label, repr(confidence)]
            for onset, offset, label, confidence in events.of_clip(clip)
        ] or [[clip, "", "", "", ""]]
    return table_text((row[:columns] for row in rows), delimiter)


def write(events: EventSet, path: Path) -> None:
    """Write a table of all clips, separated by commas if the file is named ``.csv``."""
    write_text(path, text(events, "," if path.suffix.lower() == ".csv" else "\t"))


def write_weak(events: EventSet, path: Path) -> None:
    """Write the labels of each clip."""
    rows = [["filename", _WEAK]]
    for clip, clip_events in events.events.items():
        rows.append([clip, ",".join(dict.fromkeys(event[2] for event in clip_events))])
    write_text(path, table_text(rows))


def write_as_parquet(events: EventSet, path: Path) -> None:
    """Write a Parquet file with the columns of DCASE tables."""
    import polars

    rows: list[tuple[Any, ...]] = [*events.rows()]
    rows += [(clip, *[None] * 4) for clip, of_clip in events.events.items() if not of_clip]
    types = [polars.String, polars.Float64, polars.Float64, polars.String, polars.Float64]
    schema = dict(zip((*DCASE_COLUMNS.values(), "confidence"), types, strict=True))
    names = [*schema] if events.scored else [*schema][:-1]
    write_parquet(path, lambda: polars.DataFrame(rows, schema=schema, orient="row").select(names))


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
    EventFormat(
        name="table",
        about="a table with a header (CSV, TSV, Parquet) whose columns you name",
        recognise=lambda _: False,  # the user has to name the columns
        read=read_named,
        write=write_as_parquet,
        holds=holding("times", "confidences", "clips without events", "any label"),
        suffixes=(".parquet",),
        file_suffixes=(".tsv", ".csv", ".txt", ".parquet"),
    ),
)
