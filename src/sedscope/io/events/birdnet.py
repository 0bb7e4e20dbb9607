"""Results of BirdNET-Analyzer: scored events as csv, Parquet, Raven, Audacity and Kaleidoscope tables.

The label is the common name. ``columns={"label": "Scientific name"}`` chooses the other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...data.event_table import EventTable, events_by_role
from ...data.tables import is_number
from ..atomic_write import write_text
from ..parquet_files import write_parquet
from ..text_tables import table_text
from . import raven
from .event_lists import label_lines
from .format import (
    EventFormat,
    EventSet,
    holding,
    plain_label,
    seconds_text,
    without_label,
    write_per_clip,
)
from .source import EventReadOptions, Source

_CSV = {
    "onset": "Start (s)",
    "offset": "End (s)",
    "label": "Common name",
    "confidence": "Confidence",
    "filename": "File",
}
_R = {
    "filename": "filepath",
    "onset": "start",
    "offset": "end",
    "label": "common_name",
    "confidence": "confidence",
}
_KALEIDOSCOPE = {
    "filename": "IN FILE",
    "onset": "OFFSET",
    "duration": "DURATION",
    "label": "common_name",
    "confidence": "confidence",
}
_NEWER_KALEIDOSCOPE = {**_KALEIDOSCOPE, "label": "TOP1MATCH", "confidence": "TOP1DIST"}
_NO_DETECTION = "nocall"
# latitude, longitude and week if they are unknown, overlap and sensitivity
_UNKNOWN_SETTINGS = ("-1", "-1", "-1", "0.0", "1.0")


def _has(source: Source, roles: Mapping[str, str]) -> bool:
    """Return whether the header has these columns. The one of the recording may be missing."""
    return {name for role, name in roles.items() if role != "filename"} <= set(source.header)


def recognise_csv(source: Source) -> bool:
    """Look for the header of the csv or the R table in a text file."""
    return source.is_text and (_has(source, _CSV) or _has(source, _R))


def recognise_parquet(source: Source) -> bool:
    """Look for the columns of the csv in a Parquet file."""
    return source.is_parquet and _has(source, _CSV)


def recognise_raven(source: Source) -> bool:
    """Look for Raven's columns with BirdNET's names and confidences."""
    return raven.recognise(source) and {"Common Name", "Confidence"} <= set(source.header)


def recognise_kaleidoscope(source: Source) -> bool:
    """Look for Kaleidoscope's columns with BirdNET's names and confidences."""
    return _has(source, _KALEIDOSCOPE) or _has(source, _NEWER_KALEIDOSCOPE)


def recognise_audacity(source: Source) -> bool:
    """Look for a label track with a confidence in the fourth column."""
    if not source.is_text or source.header:
        return False
    rows = [row for _, row in label_lines(source)]
    numbers = all(len(row) == 4 and is_number(row[0]) and is_number(row[1]) for row in rows)
    return bool(rows) and numbers and all(is_number(row[3]) for row in rows)


def _roles(
    source: Source, layouts: tuple[Mapping[str, str], ...], options: EventReadOptions
) -> dict[str, str]:
    roles = dict(next((layout for layout in layouts if _has(source, layout)), layouts[0]))
    if roles["filename"] not in source.header:
        del roles["filename"]
    return {**roles, **options.columns}


def read_csv(source: Source, options: EventReadOptions) -> EventTable:
    """Read the csv, Parquet or R table."""
    roles = _roles(source, (_CSV, _R), options)
    return without_label(events_by_role(source.cells, roles, clip=source.clip), _NO_DETECTION)


def read_kaleidoscope(source: Source, options: EventReadOptions) -> EventTable:
    """Read the Kaleidoscope table, whose OFFSET is the onset."""
    roles = _roles(source, (_KALEIDOSCOPE, _NEWER_KALEIDOSCOPE), options)
    return without_label(events_by_role(source.cells, roles, clip=source.clip), _NO_DETECTION)


def read_raven(source: Source, options: EventReadOptions) -> EventTable:
    """Read the Raven table."""
    columns = {"label": "Common Name", **options.columns}
    table = raven.read_cells(source.cells, source.clip, EventReadOptions(columns))
    return without_label(table, _NO_DETECTION)


def read_audacity(source: Source, _: EventReadOptions) -> EventTable:
    """Read the label track of the clip that the file is named after."""
    lines = label_lines(source)
    uneven = [source.line_location(line) for line, row in lines if len(row) != 4]
    source.refuse_rows(uneven, "the row is not onset, offset, label and confidence")
    lines = [(line, row) for line, row in lines if len(row) == 4]
    rows = [(source.clip, row[0], row[1], row[2].strip(), row[3]) for _, row in lines]
    return EventTable.of_rows(source.path, rows, lambda i: source.line_location(lines[i][0]))


_CSV_HEADER = ("Start (s)", "End (s)", "Scientific name", "Common name", "Confidence", "File")


def write_csv(events: EventSet, path: Path) -> None:
    """Write one csv of all clips. The label stands for both names of a species."""
    rows = (
        [seconds_text(onset), seconds_text(offset), label, label, repr(confidence), clip]
        for clip, onset, offset, label, confidence in events.rows()
    )
    write_text(path, table_text([_CSV_HEADER, *rows], ","))


def write_csv_as_parquet(events: EventSet, path: Path) -> None:
    """Write the columns of the csv as a Parquet file."""
    import polars

    rows = [
        (round(onset, 6), round(offset, 6), label, label, confidence, clip)
        for clip, onset, offset, label, confidence in events.rows()
    ]
    types = (polars.Float64, polars.Float64, polars.String, polars.String, polars.Float64, polars.String)
    schema = dict(zip(_CSV_HEADER, types, strict=True))
    write_parquet(path, lambda: polars.DataFrame(rows, schema=schema, orient="row"))


def write_kaleidoscope(events: EventSet, path: Path) -> None:
    """Write one Kaleidoscope table of all clips."""
    header = "INDIR,FOLDER,IN FILE,OFFSET,DURATION,scientific_name,common_name,confidence,lat,lon,week"
    rows = [[*header.split(","), "overlap", "sensitivity"]]
    for clip, onset, offset, label, confidence in events.rows():
        times = seconds_text(onset), seconds_text(offset - onset)
        rows.append(["", "", clip, *times, label, label, repr(confidence), *_UNKNOWN_SETTINGS])
    write_text(path, table_text(rows, ","))


def write_raven(events: EventSet, path: Path) -> None:
    """Write one Raven table of all clips. A clip without events has a row that says so."""
    names = ["Common Name", "Species Code", "Confidence", "Begin Path", raven.OFFSET]
    rows = [[*raven.SELECTION, *names]]
    nothing = [(0.0, 3.0, _NO_DETECTION, 1.0)]
    for cells, file, onset, label, confidence in raven.selections(
        events, [*events.events], path, nothing
    ):
        rows.append([*cells, *[plain_label(label)] * 2, repr(confidence), file, onset])
    write_text(path, table_text(rows))


def write_audacity(events: EventSet, path: Path) -> None:
    """Write one label track with confidences per clip."""

    def text(clip: str) -> str:
        return "".join(
            f"{seconds_text(onset)}\t{seconds_text(offset)}\t{plain_label(label)}\t{confidence!r}\n"
            for onset, offset, label, confidence in events.of_clip(clip)
        )

    write_per_clip(events, path, ".txt", text)


FORMATS = (
    EventFormat(
        name="birdnet",
        about="BirdNET results, csv: Start (s), End (s), Scientific name, Common name, Confidence, "
        "File; or the R table of earlier versions",
        recognise=recognise_csv,
        read=read_csv,
        write=write_csv,
        holds=holding("times", "confidences", "any label"),
        suffixes=(".birdnet.results.csv",),
    ),
    EventFormat(
        name="birdnet_parquet",
        about="BirdNET results, Parquet, with the columns of the csv",
        recognise=recognise_parquet,
        read=read_csv,
        write=write_csv_as_parquet,
        holds=holding("times", "confidences", "any label"),
        suffixes=(".birdnet.results.parquet",),
        file_suffixes=(".parquet",),
    ),
    EventFormat(
        name="birdnet_raven",
        about="BirdNET results, Raven table: Common Name and Confidence among Raven's columns",
        recognise=recognise_raven,
        read=read_raven,
        write=write_raven,
        holds=holding("times", "confidences", "clips without events"),
        suffixes=(".birdnet.selection.table.txt",),
        reads_durations=True,
    ),
    EventFormat(
        name="birdnet_audacity",
        about="BirdNET results, Audacity labels: onset offset label confidence without a header, one "
        "file per clip",
        recognise=recognise_audacity,
        read=read_audacity,
        write=write_audacity,
        holds=holding("times", "confidences", "clips without events"),
        per_clip=True,
        header=False,
        named_columns=False,
    ),
    EventFormat(
        name="birdnet_kaleidoscope",
        about="BirdNET results, Kaleidoscope table: IN FILE, OFFSET, DURATION, common_name, confidence",
        recognise=recognise_kaleidoscope,
        read=read_kaleidoscope,
        write=write_kaleidoscope,
        holds=holding("times", "confidences", "any label"),
        suffixes=(".birdnet.results.kaleidoscope.csv",),
    ),
)
