"""Annotations of EEG: tables of the Temple University corpora and of SzCORE (BIDS), one file per clip.

``.csv_bi`` and ``.csv`` files of the Temple University begin with lines with ``#``, among them the duration
(``# duration = 1800.0000 secs``). The columns are ``channel,start_time,stop_time,label,confidence``.

HED-SCORE tables of SzCORE, ``events.tsv``, have the columns ``onset duration eventType confidence channels
dateTime recordingDuration``; cells without a value are ``n/a``. The event type ``sz`` and those that begin
with ``sz_`` are seizures.

In both, rows with the label ``bckg`` are background, not events.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...data.event_table import EventTable, events_by_role
from ...data.tables import Cell
from ...errors import SedscopeError, listing
from ..text_tables import split_rows, table_text, unique_names
from .format import EventFormat, EventSet, holding, seconds_text, without_label, write_per_clip
from .source import EventReadOptions, Source

_BACKGROUND = "bckg"
_TUH_COLUMNS = ["channel", "start_time", "stop_time", "label", "confidence"]
_TUH_ROLES = {"onset": "start_time", "offset": "stop_time", "label": "label", "confidence": "confidence"}
_TUH_DURATION = re.compile(r"#\s*duration\s*=(.*)")
_SEIZURE = "sz"
_HED_ROLES = {"onset": "onset", "duration": "duration", "label": "eventType"}
_HED_DURATION = "recordingDuration"
_HED_COLUMNS = [*_HED_ROLES.values(), "confidence", "channels", "dateTime", _HED_DURATION]
_NO_VALUE = "n/a"
_HED_ENDING = "_events"


def recognise_tuh(source: Source) -> bool:
    """Look for the header after the lines with ``#``."""
    if not source.is_text:
        return False
    lines = (line.strip() for line in source.text.splitlines())
    header = next((line for line in lines if line and not line.startswith("#")), "")
    return [name.strip() for name in header.split(",")] == _TUH_COLUMNS


def read_tuh(source: Source, _: EventReadOptions) -> EventTable:
    """Read the events and the duration of the clip that the file is named after."""
    text = "\n".join("" if line.lstrip().startswith("#") else line for line in source.text.split("\n"))
    rows, lines = split_rows(text, source.path, ",")
    rows = [[cell.strip() for cell in row] for row in rows]
    if not rows:
        raise SedscopeError(f"{source.path}: there is no header, but only lines with #.")
    header = unique_names(rows[0], str(source.path))
    cells = source.table(header, rows[1:], lines[1:])
    table = without_label(events_by_role(cells, _TUH_ROLES, clip=source.clip), _BACKGROUND)
    return replace(table if len(table) else source.without_events(), durations=_tuh_duration(source))


def _tuh_duration(source: Source) -> dict[str, float]:
    for line, text in enumerate(source.text.split("\n"), 1):
        if match := _TUH_DURATION.fullmatch(text.rstrip("\r")):
            number, *unit = match[1].strip().rsplit(maxsplit=1) or [""]
            cell = number if unit in (["sec"], ["secs"]) else match[1].strip()
            return {source.clip: source.duration(cell, source.line_location(line))}
    return {}


def write_tuh(events: EventSet, path: Path) -> None:
    """Write one file per clip. A clip without events is background, if its duration is known."""

    def text(clip: str, seconds: float | None) -> str:
        head = ["# version = csv_v1.0.0", f"# bname = {clip}"]
        head += [] if seconds is None else [f"# duration = {seconds_text(seconds)} secs"]
        rows = [
            ["TERM", seconds_text(onset), seconds_text(offset), label, repr(confidence)]
            for onset, offset, label, confidence in _with_background(events, clip, seconds)
        ]
        return "".join(f"{line}\n" for line in [*head, "#"]) + table_text([_TUH_COLUMNS, *rows], ",")

    _write(events, path, ".csv_bi", text)


def recognise_hed(source: Source) -> bool:
    """Look for the columns of times and of the event type."""
    return source.is_text and set(_HED_ROLES.values()) <= set(source.header)


def read_hed(source: Source, options: EventReadOptions) -> EventTable:
    """Read the events and the duration of the clip that the file is named after.

    All seizures get the label ``sz``, unless ``columns=`` names the column of labels.
    """
    cells, clip = source.cells, source.clip.removesuffix(_HED_ENDING)
    roles = {**_HED_ROLES, **options.columns}
    if "confidence" in cells.header:
        roles.setdefault("confidence", "confidence")
    table = without_label(events_by_role(cells, roles, clip=clip), _BACKGROUND)
    if "label" not in options.columns:
        table = replace(table, label=[_class_of(label) for label in table.label])
    if not len(table):
        table = replace(source.without_events(), clip=[clip])
    return replace(table, confidence=_confidences(table), durations=_hed_duration(source, clip))


def _class_of(event_type: str) -> str:
    is_seizure = event_type == _SEIZURE or event_type.startswith(f"{_SEIZURE}_")
    return _SEIZURE if is_seizure else event_type


def _confidences(table: EventTable) -> list[Cell] | None:
    """Return the confidences; None if no event has one."""
    if table.confidence is None:
        return None
    of_events = [cell for cell, label in zip(table.confidence, table.label, strict=True) if label]
    return None if all(cell == _NO_VALUE for cell in of_events) else [*table.confidence]


def _hed_duration(source: Source, clip: str) -> dict[str, float]:
    if _HED_DURATION not in source.cells.header:
        return {}
    column = source.cells.text_column(_HED_DURATION)
    durations = list(dict.fromkeys(cell for cell in column if cell not in ("", _NO_VALUE)))
    if not durations:
        return {}
    if len(durations) > 1:
        raise SedscopeError(
            f"{source.path}: the column {_HED_DURATION} has several durations of one recording: "
            f"{listing(durations)}."
        )
    location = source.cells.row_location(column.index(durations[0]))
    return {clip: source.duration(durations[0], location)}


def write_hed(events: EventSet, path: Path) -> None:
    """Write one file per clip. A clip without events is background, if its duration is known."""

    def text(clip: str, seconds: float | None) -> str:
        recorded = _NO_VALUE if seconds is None else seconds_text(seconds)
        rows = [
            [
                *(seconds_text(onset), seconds_text(offset - onset), label),
                *(repr(confidence) if events.scored and events.events[clip] else _NO_VALUE,),
                *(_NO_VALUE, _NO_VALUE, recorded),
            ]
            for onset, offset, label, confidence in _with_background(events, clip, seconds)
        ]
        return table_text([_HED_COLUMNS, *rows])

    _write(events, path, ".tsv", text, ending=_HED_ENDING)


def _with_background(
    events: EventSet, clip: str, seconds: float | None
) -> list[tuple[float, float, str, float]]:
    """Return the events of a clip, or its background if there are none and the duration is known."""
    background = [] if seconds is None else [(0.0, seconds, _BACKGROUND, 1.0)]
    return events.of_clip(clip) or background


def _write(
    events: EventSet,
    path: Path,
    suffix: str,
    text: Callable[[str, float | None], str],
    *,
    ending: str = "",
) -> None:
    """Write a file per clip. Refuse events that would be read as background."""
    if any(row[3] == _BACKGROUND for row in events.rows()):
        raise SedscopeError(
            f"{path}: some events have the label {_BACKGROUND!r}, which means background in this format. "
            "Give them another label, or leave them out."
        )
    write_per_clip(events, path, suffix, lambda clip: text(clip, events.duration(clip)), ending=ending)


FORMATS = (
    EventFormat(
        name="csv_bi",
        about="Temple University EEG: channel,start_time,stop_time,label,confidence after lines with #; "
        "one file per clip",
        recognise=recognise_tuh,
        read=read_tuh,
        write=write_tuh,
        holds=holding("times", "confidences", "clips without events", "durations"),
        suffixes=(".csv_bi",),
        file_suffixes=(".csv_bi", ".csv"),
        per_clip=True,
        named_columns=False,
    ),
    EventFormat(
        name="hed_score",
        about="HED-SCORE table of SzCORE (BIDS events.tsv): onset duration eventType confidence channels "
        "dateTime recordingDuration; one file per clip",
        recognise=recognise_hed,
        read=read_hed,
        write=write_hed,
        holds=holding("times", "confidences", "clips without events", "durations"),
        file_suffixes=(".tsv",),
        per_clip=True,
    ),
)
