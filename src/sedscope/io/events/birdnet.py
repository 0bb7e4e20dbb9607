"""Results of BirdNET-Analyzer as scored events: csv, Parquet, Raven, Audacity and Kaleidoscope tables.

The label is the common name; ``columns={"label": "Scientific name"}`` chooses the other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...data.event_table import EventTable
from ...errors import SedscopeError, counted, listing
from ..atomic_write import write_text
from ..parquet_files import write_parquet
from ..text_tables import is_number, quoted
from . import raven
from .audacity import lines_of
from .format import EventFormat, EventSet, holding, plain_label, seconds, write_per_clip
from .source import Cells, Choices, Source, events_by_role

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
_NOTHING = "nocall"
_NOWHERE = ("-1", "-1", "-1", "0.0", "1.0")  # what BirdNET writes for no place and time


def _has(source: Source, roles: Mapping[str, str]) -> bool:
    """A header with these names; the file may be named by that of the table."""
    return {name for role, name in roles.items() if role != "filename"} <= set(source.header)


def recognise_csv(source: Source) -> bool:
    """The header of the csv or the R table, as text."""
    return source.is_text and (_has(source, _CSV) or _has(source, _R))


def recognise_parquet(source: Source) -> bool:
    """The columns of the csv in a Parquet file."""
    return source.is_parquet and _has(source, _CSV)


def recognise_raven(source: Source) -> bool:
    """Raven's columns with BirdNET's names and confidences."""
    return raven.recognise(source) and {"Common Name", "Confidence"} <= set(source.header)


def recognise_kaleidoscope(source: Source) -> bool:
    """Kaleidoscope's columns with BirdNET's names and confidences."""
    return _has(source, _KALEIDOSCOPE) or _has(source, _NEWER_KALEIDOSCOPE)


def recognise_audacity(source: Source) -> bool:
    """Label tracks with a confidence in the fourth column."""
    if not source.is_text or source.header:
        return False
    rows = [row for _, row in lines_of(source)]
    numbers = all(len(row) == 4 and is_number(row[0]) and is_number(row[1]) for row in rows)
    return bool(rows) and numbers and all(is_number(row[3]) for row in rows)


def _roles(source: Source, layouts: tuple[Mapping[str, str], ...], choices: Choices) -> dict[str, str]:
    roles = dict(next((layout for layout in layouts if _has(source, layout)), layouts[0]))
    if roles["filename"] not in source.header:
        del roles["filename"]
    return {**roles, **choices.columns}


def read_csv(source: Source, choices: Choices) -> EventTable:
    """The csv, Parquet or R table."""
    roles = _roles(source, (_CSV, _R), choices)
    return _without_nothing(events_by_role(source.cells, roles, clip=source.clip))


def read_kaleidoscope(source: Source, choices: Choices) -> EventTable:
    """The Kaleidoscope table; its OFFSET is the onset."""
    roles = _roles(source, (_KALEIDOSCOPE, _NEWER_KALEIDOSCOPE), choices)
    return _without_nothing(events_by_role(source.cells, roles, clip=source.clip))


def read_raven(source: Source, choices: Choices) -> EventTable:
    """The Raven table."""
    columns = {"label": "Common Name", **choices.columns}
    cells: Cells = source.cells
    return _without_nothing(raven.read_cells(cells, source.clip, Choices(columns)))


def read_audacity(source: Source, _: Choices) -> EventTable:
    """The label track of the clip that the file is named after."""
    rows = lines_of(source)
    short = [source.place(line) for line, row in rows if len(row) != 4]
    if short:
        said = f"{counted(len(short), 'row')} not onset, offset, label and confidence"
        raise SedscopeError(f"{source.path}: {said}: {listing(short)}")
    return EventTable(
        where=str(source.path),
        clip=[source.clip] * len(rows),
        onset=[row[0] for _, row in rows],
        offset=[row[1] for _, row in rows],
        label=[row[2].strip() for _, row in rows],
        confidence=[row[3] for _, row in rows],
        place=lambda i: source.place(rows[i][0]),
    )


def _without_nothing(table: EventTable) -> EventTable:
    """Rows that say that nothing was detected are clips without events."""
    void = [label == _NOTHING for label in table.label]
    if not any(void):
        return table
    return EventTable(
        where=table.where,
        clip=table.clip,
        onset=[None if none else cell for none, cell in zip(void, table.onset, strict=True)],
        offset=[None if none else cell for none, cell in zip(void, table.offset, strict=True)],
        label=["" if none else label for none, label in zip(void, table.label, strict=True)],
        confidence=table.confidence,
        place=table.place,
    )


def _table(events: EventSet) -> list[tuple[str, str, str, str, str, str]]:
    return [
        (seconds(onset), seconds(offset), label, label, repr(confidence), clip)
        for clip, onset, offset, label, confidence in events.rows()
    ]


_CSV_HEADER = ("Start (s)", "End (s)", "Scientific name", "Common name", "Confidence", "File")


def write_csv(events: EventSet, path: Path) -> None:
    """Write one csv for all clips; names stand for both names of a species."""
    write_text(path, _csv_text([_CSV_HEADER, *_table(events)]))


def write_csv_as_parquet(events: EventSet, path: Path) -> None:
    """Write the columns of the csv as a Parquet file."""
    import polars

    rows = [(float(a), float(b), c, d, float(e), f) for a, b, c, d, e, f in _table(events)]
    types = (polars.Float64, polars.Float64, polars.String, polars.String, polars.Float64, polars.String)
    frame = polars.DataFrame(rows, schema=dict(zip(_CSV_HEADER, types, strict=True)), orient="row")
    write_parquet(path, frame)


def write_kaleidoscope(events: EventSet, path: Path) -> None:
    """Write one Kaleidoscope table for all clips."""
    header = "INDIR,FOLDER,IN FILE,OFFSET,DURATION,scientific_name,common_name,confidence,lat,lon,week"
    rows = [
        (
            "",
            "",
            clip,
            seconds(onset),
            seconds(offset - onset),
            label,
            label,
            repr(confidence),
            *_NOWHERE,
        )
        for clip, onset, offset, label, confidence in events.rows()
    ]
    write_text(path, _csv_text([(*header.split(","), "overlap", "sensitivity"), *rows]))


def write_raven(events: EventSet, path: Path) -> None:
    """Write one Raven table for all clips; a clip without events has a row that says so."""
    header = [raven.BEGIN, raven.END, "Low Freq (Hz)", "High Freq (Hz)", "Common Name", "Species Code"]
    lines = [["Selection", "View", "Channel", *header, "Confidence", "Begin Path", raven.OFFSET]]
    for clip, of_clip in events.events.items():
        for onset, offset, label, *confidence in of_clip or [(0.0, 3.0, _NOTHING, 1.0)]:
            name = plain_label(label)
            cells = [
                str(len(lines)),
                "Spectrogram 1",
                "1",
                seconds(onset),
                seconds(offset),
                "0",
                "15000",
            ]
            cells += [name, name, repr(float(*confidence or (1.0,))), clip, seconds(onset)]
            lines.append(cells)
    write_text(path, "".join("\t".join(line) + "\n" for line in lines))


def write_audacity(events: EventSet, path: Path) -> None:
    """Write one label track a clip, with confidences."""

    def text(clip: str) -> str:
        return "".join(
            f"{seconds(onset)}\t{seconds(offset)}\t{plain_label(label)}\t{float(*rest or (1.0,))!r}\n"
            for onset, offset, label, *rest in events.events[clip]
        )

    write_per_clip(events, path, ".txt", text)


def _csv_text(rows: list[tuple[str, ...]]) -> str:
    return "".join(",".join(quoted(cell, ",") for cell in row) + "\n" for row in rows)


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
    ),
    EventFormat(
        name="birdnet_raven",
        about="BirdNET results, Raven table: Common Name and Confidence among Raven's columns",
        recognise=recognise_raven,
        read=read_raven,
        write=write_raven,
        holds=holding("times", "confidences", "clips without events"),
        suffixes=(".birdnet.selection.table.txt",),
    ),
    EventFormat(
        name="birdnet_audacity",
        about="BirdNET results, Audacity labels: onset offset label confidence without a header, one "
        "file a clip",
        recognise=recognise_audacity,
        read=read_audacity,
        write=write_audacity,
        holds=holding("times", "confidences", "clips without events"),
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
