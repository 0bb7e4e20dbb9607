"""Any table whose columns are named by the user, and tables of DCASE columns in Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...data.event_table import EventTable
from ...errors import SedscopeError
from ..parquet_files import write_parquet
from . import dcase
from .format import EventFormat, EventSet, holding
from .source import Choices, Source, events_by_role


def never(_: Source) -> bool:
    """A table needs the user's word on its columns."""
    return False


def read(source: Source, choices: Choices) -> EventTable:
    """A table with a header; its columns are those that were named, else those of DCASE tables."""
    if not source.header:
        raise SedscopeError(f"{source.path}: a table of named columns needs a header")
    usual = {**dcase.EVENT, "confidence": "confidence"}
    if "duration" in choices.columns:
        del usual["offset"]
    found = {role: name for role, name in usual.items() if name in source.header}
    roles = {**found, **choices.columns}
    return events_by_role(source.cells, roles, clip=source.clip, label=choices.label)


def write(events: EventSet, path: Path) -> None:
    """Write a Parquet file with the columns of DCASE tables."""
    import polars

    rows: list[tuple[Any, ...]] = [*events.rows()]
    rows += [(clip, None, None, None, None) for clip, of_clip in events.events.items() if not of_clip]
    types = {
        "filename": polars.String,
        "onset": polars.Float64,
        "offset": polars.Float64,
        "event_label": polars.String,
        "confidence": polars.Float64,
    }
    frame = polars.DataFrame(rows, schema=types, orient="row")
    write_parquet(path, frame if events.scored else frame.drop("confidence"))


FORMATS = (
    EventFormat(
        name="table",
        about="a table with a header (CSV, TSV, Parquet) whose columns are named by the user",
        recognise=never,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "any label"),
        suffixes=(".parquet",),
    ),
)
