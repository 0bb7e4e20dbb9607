"""HED-SCORE tables of SzCORE, the ``events.tsv`` of a recording in BIDS: one file per clip.

The columns are ``onset duration eventType confidence channels dateTime recordingDuration``; cells without a
value are ``n/a``. The event type ``sz`` and those that begin with ``sz_`` are seizures; ``bckg`` is
background.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...data.event_table import EventTable, events_by_role
from ...data.tables import Cell
from ...errors import SedscopeError, listing
from ..text_tables import quoted
from .csv_bi import BACKGROUND, refuse_background
from .format import EventFormat, EventSet, holding, seconds_text, without_label, write_per_clip
from .source import EventReadOptions, Source

SEIZURE = "sz"
_ROLES = {"onset": "onset", "duration": "duration", "label": "eventType"}
_DURATION = "recordingDuration"
_COLUMNS = [*_ROLES.values(), "confidence", "channels", "dateTime", _DURATION]
_NO_VALUE = "n/a"
_ENDING = "_events"


def recognise(source: Source) -> bool:
    """Look for the columns of times and of the event type."""
    return source.is_text and set(_ROLES.values()) <= set(source.header)


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read the events and the duration of the clip that the file is named after.

    All seizures get the label ``sz``, unless ``columns=`` names the column of labels.
    """
    cells, clip = source.cells, source.clip.removesuffix(_ENDING)
    roles = {**_ROLES, **options.columns}
    if "confidence" in cells.header:
        roles.setdefault("confidence", "confidence")
    table = without_label(events_by_role(cells, roles, clip=clip), BACKGROUND)
    if "label" not in options.columns:
        table = replace(table, label=[_class_of(label) for label in table.label])
    if not len(table):
        table = replace(source.without_events(), clip=[clip])
    return replace(table, confidence=_confidences(table), durations=_durations(source, clip))


def _class_of(event_type: str) -> str:
    is_seizure = event_type == SEIZURE or event_type.startswith(f"{SEIZURE}_")
    return SEIZURE if is_seizure else event_type


def _confidences(table: EventTable) -> list[Cell] | None:
    """Return the confidences; None if no event has one."""
    if table.confidence is None:
        return None
    of_events = [cell for cell, label in zip(table.confidence, table.label, strict=True) if label]
    return None if all(cell == _NO_VALUE for cell in of_events) else [*table.confidence]


def _durations(source: Source, clip: str) -> dict[str, float]:
    if _DURATION not in source.cells.header:
        return {}
    column = source.cells.text_column(_DURATION)
    durations = list(dict.fromkeys(cell for cell in column if cell not in ("", _NO_VALUE)))
    if not durations:
        return {}
    if len(durations) > 1:
        raise SedscopeError(
            f"{source.path}: the column {_DURATION} has several durations of one recording: "
            f"{listing(durations)}."
        )
    location = source.cells.row_location(column.index(durations[0]))
    return {clip: source.duration(durations[0], location)}


def write(events: EventSet, path: Path) -> None:
    """Write one file per clip. A clip without events is background, if its duration is known."""
    refuse_background(events, path)

    def text(clip: str) -> str:
        seconds = events.duration(clip)
        recorded = _NO_VALUE if seconds is None else seconds_text(seconds)
        rows = [_COLUMNS]
        for onset, offset, label, confidence in events.of_clip(clip):
            times = [seconds_text(onset), seconds_text(offset - onset)]
            certainty = repr(confidence) if events.scored else _NO_VALUE
            rows.append([*times, quoted(label), certainty, _NO_VALUE, _NO_VALUE, recorded])
        if seconds is not None and not events.events[clip]:
            nothing = [_NO_VALUE] * 3
            rows.append([seconds_text(0), recorded, BACKGROUND, *nothing, recorded])
        return "".join("\t".join(row) + "\n" for row in rows)

    write_per_clip(events, path, ".tsv", text, ending=_ENDING)


FORMATS = (
    EventFormat(
        name="hed_score",
        about="HED-SCORE table of SzCORE (BIDS events.tsv): onset duration eventType confidence channels "
        "dateTime recordingDuration; one file per clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "durations"),
        file_suffixes=(".tsv",),
        per_clip=True,
    ),
)
