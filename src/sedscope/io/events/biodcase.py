"""Tables of BioDCASE Task 2, calls of baleen whales, as annotations and as predictions.

``dataset,filename,annotation,start_datetime,end_datetime``. The name of a file is the time at which it
begins, such as ``2014-02-18T21-00-00_000.wav``, and several data sets may have a file of one name. So the
clip is called ``DATASET_FILE``, and the times of its events count from its beginning.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

from ...data.clips import clip_id
from ...data.event_table import EventTable
from ...data.tables import Cell
from ...errors import SedscopeError, listing, subject
from ..atomic_write import write_text
from ..text_tables import quoted
from .format import EventFormat, EventSet, holding
from .source import EventReadOptions, Source

_COLUMNS = ("dataset", "filename", "annotation", "start_datetime", "end_datetime")
_FILE = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})[_-](\d{3})")
_CLIP = re.compile(rf"(?:(.+)_)?({_FILE.pattern})")


def recognise(source: Source) -> bool:
    """Look for the five columns."""
    return source.is_text and {*_COLUMNS} <= {*source.header}


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read annotations or predictions of one data set or of several."""
    cells = source.cells
    cells.require(_COLUMNS)
    site, file, label = (cells.text_column(name) for name in _COLUMNS[:3])
    starts = [_start_of(name) for name in file]
    misnamed = [cells.row_location(i) for i, start in enumerate(starts) if start is None]
    if misnamed:
        rows = subject(len(misnamed), "row", "names")
        raise SedscopeError(
            f"{source.path}: {rows} a file whose name is not the time at which it begins, such as "
            f"2014-02-18T21-00-00_000.wav: {listing(list(map(str, misnamed)))}."
        )
    onsets, offsets = (
        [_seconds(cell, start) for cell, start in zip(cells.text_column(name), starts, strict=True)]
        for name in _COLUMNS[3:]
    )
    return EventTable(
        where=str(source.path),
        clip=["_".join(filter(None, name)) for name in zip(site, map(clip_id, file), strict=True)],
        onset=onsets,
        offset=offsets,
        label=label,
        row_location=cells.row_location,
    )


def _start_of(name: str) -> datetime | None:
    match = _FILE.fullmatch(clip_id(name))
    if match is None:
        return None
    day, hour, minute, second, millisecond = match.groups()
    try:
        return datetime.fromisoformat(f"{day}T{hour}:{minute}:{second}.{millisecond}+00:00")
    except ValueError:
        return None


def _seconds(cell: str, start: datetime | None) -> Cell:
    """Return the time after the start of the file in seconds. Anything else stays, to be refused later."""
    if not cell or start is None:
        return cell or None
    try:
        time = datetime.fromisoformat(cell.replace("Z", "+00:00"))
    except ValueError:
        return cell
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return (time - start) / timedelta(microseconds=1) / 1e6


def write(events: EventSet, path: Path) -> None:
    """Write one table of all clips, which must be named ``DATASET_FILE``."""
    lines = [",".join(_COLUMNS)]
    named = {clip: _CLIP.fullmatch(clip_id(clip)) for clip in events.events}
    misnamed = [clip for clip, match in named.items() if match is None or _start_of(match[2]) is None]
    if misnamed:
        raise SedscopeError(
            f"{subject(len(misnamed), 'clip', 'is')} not named DATASET_FILE with a file that is named by the "
            f"time at which it begins: {listing(misnamed)}."
        )
    for clip, onset, offset, label, _ in events.rows():
        match = named[clip]
        assert match is not None
        start = _start_of(match[2])
        assert start is not None
        times = [(start + timedelta(seconds=time)).isoformat() for time in (onset, offset)]
        cells = [match[1] or "", f"{match[2]}.wav", label]
        lines.append(",".join([*(quoted(cell, ",") for cell in cells), *times]))
    write_text(path, "".join(line + "\n" for line in lines))


FORMATS = (
    EventFormat(
        name="biodcase",
        about="BioDCASE Task 2: dataset, filename, annotation, start_datetime, end_datetime",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "any label"),
        named_columns=False,
        named_by_time=True,
    ),
)
