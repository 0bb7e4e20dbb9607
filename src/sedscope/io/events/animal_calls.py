"""Tables of challenges about animal calls, as annotations and as predictions: DCASE Task 5, BioDCASE Task 2.

DCASE Task 5, few-shot bioacoustic event detection: ``Audiofilename,Starttime,Endtime`` and a column per class
(``Q`` in the evaluated sets) with ``POS`` for an event of the class, ``UNK`` for one that may be of the
class, which becomes an ignored reference, and ``NEG`` for none. Predictions have no column of a class; their
label is ``Q``.

BioDCASE Task 2, calls of baleen whales: ``dataset,filename,annotation,start_datetime,end_datetime``. The name
of a file is the time at which it begins, such as ``2014-02-18T21-00-00_000.wav``, and several data sets may
have a file of one name. So the clip is called ``DATASET_FILE``, and the times of its events count from its
beginning.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

from ...data.clips import clip_id
from ...data.event_table import EventTable
from ...data.tables import Cell, RowLocation
from ...errors import refuse
from ..atomic_write import write_text
from ..text_tables import table_text
from .format import EventFormat, EventSet, holding, seconds_text
from .source import EventReadOptions, Source

_TASK5_COLUMNS = ("Audiofilename", "Starttime", "Endtime")
_TASK5_LABEL = "Q"
_MARKS = ("POS", "UNK", "NEG", "")
_WHALE_COLUMNS = ("dataset", "filename", "annotation", "start_datetime", "end_datetime")
_FILE = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})[_-](\d{3})")
_CLIP = re.compile(rf"(?:(.+)_)?({_FILE.pattern})")


def recognise_few_shot(source: Source) -> bool:
    """Look for the columns of the file name and the times."""
    return source.is_text and tuple(source.header[:3]) == _TASK5_COLUMNS


def read_few_shot(source: Source, options: EventReadOptions) -> EventTable:
    """Read annotations or predictions."""
    cells = source.cells
    cells.require(_TASK5_COLUMNS)
    clips = cells.text_column(_TASK5_COLUMNS[0])
    onsets, offsets = cells.column(_TASK5_COLUMNS[1]), cells.column(_TASK5_COLUMNS[2])
    labels = [name for name in cells.header if name not in _TASK5_COLUMNS]
    marks = {name: cells.text_column(name) for name in labels} or {
        options.label or _TASK5_LABEL: ["POS"] * len(clips)
    }
    rows: list[tuple[str, Cell, Cell, str]] = []
    numbers: list[int] = []
    ignored: list[Cell] = []
    wrong: list[RowLocation] = []
    for i, clip in enumerate(clips):
        of_row = {label: column[i].strip().upper() for label, column in marks.items()}
        if not {*of_row.values()} <= {*_MARKS}:
            wrong.append(cells.row_location(i))
            continue
        chosen = [label for label, mark in of_row.items() if mark in ("POS", "UNK")]
        rows += [(clip, onsets[i], offsets[i], label) for label in chosen] or [(clip, None, None, "")]
        ignored += [of_row[label] == "UNK" for label in chosen] or [False]
        numbers += [i] * max(1, len(chosen))
    source.refuse_rows(wrong, "a class has a mark other than POS, UNK or NEG")
    location = cells.row_location
    return EventTable.of_rows(source.path, rows, lambda k: location(numbers[k]), ignored=ignored)


def write_few_shot(events: EventSet, path: Path) -> None:
    """Write one table of all clips, with a column per label. A clip without events has a row that says so."""
    labels = sorted({row[3] for row in events.rows()}) or [_TASK5_LABEL]
    rows = [[*_TASK5_COLUMNS, *labels]]
    for clip, of_clip in events.events.items():
        for onset, offset, label, *_ in of_clip:
            marks = ["POS" if label == column else "NEG" for column in labels]
            rows.append([clip, seconds_text(onset), seconds_text(offset), *marks])
        if not of_clip:
            rows.append([clip, "0", "0", *["NEG"] * len(labels)])
    write_text(path, table_text(rows, ","))


def recognise_whales(source: Source) -> bool:
    """Look for the five columns."""
    return source.is_text and {*_WHALE_COLUMNS} <= {*source.header}


def read_whales(source: Source, options: EventReadOptions) -> EventTable:
    """Read annotations or predictions of one data set or of several."""
    cells = source.cells
    cells.require(_WHALE_COLUMNS)
    columns = [cells.text_column(name) for name in _WHALE_COLUMNS]
    begins = [_start_of(name) for name in columns[1]]
    misnamed = [str(cells.row_location(i)) for i, begin in enumerate(begins) if begin is None]
    phrase = (
        "names a file whose name is not the time at which it begins, such as 2014-02-18T21-00-00_000.wav"
    )
    refuse(misnamed, "row", phrase, where=source.path)
    rows = [
        (
            "_".join(filter(None, (site, clip_id(file)))),
            _seconds(start, begin),
            _seconds(end, begin),
            label,
        )
        for site, file, label, start, end, begin in zip(*columns, begins, strict=True)
    ]
    return EventTable.of_rows(source.path, rows, cells.row_location)


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


def write_whales(events: EventSet, path: Path) -> None:
    """Write one table of all clips, which must be named ``DATASET_FILE``."""
    parts: dict[str, tuple[str, str, datetime]] = {}
    for clip in events.events:
        match = _CLIP.fullmatch(clip_id(clip))
        begin = None if match is None else _start_of(match[2])
        if match is not None and begin is not None:
            parts[clip] = match[1] or "", f"{match[2]}.wav", begin
    misnamed = [clip for clip in events.events if clip not in parts]
    phrase = "is not named DATASET_FILE with a file that is named by the time at which it begins"
    refuse(misnamed, "clip", phrase)
    rows = [[*_WHALE_COLUMNS]]
    for clip, onset, offset, label, _ in events.rows():
        site, file, begin = parts[clip]
        times = [(begin + timedelta(seconds=time)).isoformat() for time in (onset, offset)]
        rows.append([site, file, label, *times])
    write_text(path, table_text(rows, ","))


FORMATS = (
    EventFormat(
        name="few_shot",
        about="DCASE Task 5: Audiofilename, Starttime, Endtime, and a column per class with POS, UNK, NEG",
        recognise=recognise_few_shot,
        read=read_few_shot,
        write=write_few_shot,
        holds=holding("times", "clips without events"),
        named_columns=False,
    ),
    EventFormat(
        name="biodcase",
        about="BioDCASE Task 2: dataset, filename, annotation, start_datetime, end_datetime",
        recognise=recognise_whales,
        read=read_whales,
        write=write_whales,
        holds=holding("times", "any label"),
        named_columns=False,
    ),
)
