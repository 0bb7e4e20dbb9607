"""Tables whose columns the user names, and tables with DCASE columns in Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...data.event_table import DCASE_COLUMNS, EventTable, events_by_role
from ...errors import SedscopeError
from ..parquet_files import write_parquet
from .format import EventFormat, EventSet, holding
from .source import EventReadOptions, Source


def never(_: Source) -> bool:
    """Recognise nothing: the user has to name the columns."""
    return False


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read a table with a header. Columns that the user does not name are those of DCASE tables."""
    if not source.header:
        raise SedscopeError(f"{source.path}: a table with named columns needs a header.")
    defaults = {**DCASE_COLUMNS, "confidence": "confidence"}
    if "duration" in options.columns:
        del defaults["offset"]
    present = {role: name for role, name in defaults.items() if name in source.header}
    roles = {**present, **options.columns}
    return events_by_role(source.cells, roles, clip=source.clip, label=options.label, side=options.side)


def write(events: EventSet, path: Path) -> None:
    """Write a Parquet file with the columns of DCASE tables."""
    import polars

    rows: list[tuple[Any, ...]] = [*events.rows()]
    empty = [clip for clip, clip_events in events.events.items() if not clip_events]
    rows += [(clip, None, None, None, None) for clip in empty]
    types = {
        "filename": polars.String,
        "onset": polars.Float64,
        "offset": polars.Float64,
        "event_label": polars.String,
        "confidence": polars.Float64,
    }
    names = [*types] if events.scored else [*types][:-1]
    write_parquet(path, lambda: polars.DataFrame(rows, schema=types, orient="row").select(names))


FORMATS = (
    EventFormat(
        name="table",
        about="a table with a header (CSV, TSV, Parquet) whose columns you name",
        recognise=never,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "any label"),
        suffixes=(".parquet",),
        file_suffixes=(".tsv", ".csv", ".txt", ".parquet"),
    ),
)
