"""Tables of events and durations: what is refused, the ground truth that users see, and ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...data.arrays import sha256
from ...data.mappings import is_duration
from ...errors import listing, subject
from .results import WORLD, PSDSEvalError

EVENT_COLUMNS = ["filename", "onset", "offset", "event_label"]
METADATA_COLUMNS = ["filename", "duration"]


def require_frame(table: Any, columns: Sequence[str], name: str, *, may_be_empty: bool = False) -> None:
    """Refuse what is not a pandas frame with these columns, and one without rows."""
    import pandas

    if not isinstance(table, pandas.DataFrame):
        raise PSDSEvalError(
            f"The {name} data must be provided in a pandas.DataFrame, not {type(table).__name__}."
        )
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise PSDSEvalError(
            f"The {name} data columns need to match the following: {', '.join(columns)}. "
            f"Add {listing(missing)}."
        )
    if table.empty and not may_be_empty:
        raise PSDSEvalError(f"The {name} dataframe provided is empty. It needs at least one row.")


def event_table(table: Any, name: str) -> Any:
    """Return the four columns of events, with new row numbers and without white space around names."""
    require_frame(table, EVENT_COLUMNS, name, may_be_empty=True)
    events = table[EVENT_COLUMNS].reset_index(drop=True)
    swapped = events[events.onset > events.offset]
    if len(swapped):
        first = swapped.iloc[0]
        raise PSDSEvalError(
            f"The {name} dataframe provided has events with onset > offset. "
            f"{subject(len(swapped), 'row', 'does')}: correct them (first: {first.filename}, "
            f"{first.onset:g}–{first.offset:g} s)."
        )
    return _without_spaces(events, "filename", "event_label")


def _without_spaces(table: Any, *columns: str) -> Any:
    """Return a table without white space around names."""
    for column in columns:
        names = table[column].tolist()
        stripped = [text.strip() if isinstance(text, str) else text for text in names]
        if any(a is not b and a != b for a, b in zip(names, stripped, strict=True)):
            table = table.assign(**{column: stripped})
    return table


def metadata_table(table: Any) -> Any:
    """Return the metadata in order of files, the first row of each. Refuse files without a duration."""
    require_frame(table, METADATA_COLUMNS, "metadata")
    files = _without_spaces(table.reset_index(drop=True), "filename")
    files = files.drop_duplicates("filename").sort_values("filename")
    wrong = [
        f"{name} ({seconds} s)"
        for name, seconds in zip(files.filename.tolist(), files.duration.tolist(), strict=True)
        if name != name or not is_duration(seconds)
    ]
    if wrong:
        raise PSDSEvalError(
            f"The metadata need a file name and a number of seconds above 0 in every row: {listing(wrong)}."
        )
    return files


def with_world(events: Any, metadata: Any) -> Any:
    """Return references and, for each file, a row of the world, with their durations and ids.

    Rows without an event are left out. An id is the number of a row before sorting.
    """
    import pandas

    world = pandas.DataFrame(
        {
            "filename": metadata.filename,
            "onset": 0.0,
            "offset": metadata.duration,
            "event_label": WORLD,
        }
    )
    tables = [events, world] if len(events) else [world]
    table = pandas.concat(tables, ignore_index=True)
    table = table[table.offset > table.onset].dropna().sort_values(["filename", "onset"])
    return table.assign(duration=table.offset - table.onset, id=table.index)


def table_id(events: Any) -> str:
    """Return the id of an operating point. It is the same for the same detections in any order."""
    import pandas

    rows = events[events.offset > events.onset].sort_values(EVENT_COLUMNS)
    hashes = pandas.util.hash_pandas_object(rows, index=False)
    return sha256(hashes.to_numpy().tobytes()).hexdigest()
