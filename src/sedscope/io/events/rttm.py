"""RTTM files of speech, and the lines of cells that NIST's formats have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from ...data.event_table import EventTable, events_by_role
from ...data.tables import CellTable
from ...errors import refuse
from ..atomic_write import write_text
from .format import EventFormat, EventSet, holding, seconds_text
from .source import EventReadOptions, Source

FILE, CHANNEL = "file", "channel"


def cell_lines(source: Source) -> list[tuple[int, list[str]]]:
    """Return the number and the cells of each line. Blank lines and comments, ``;; …``, are left out."""
    lines = ((number, text.split()) for number, text in enumerate(source.text.split("\n"), 1))
    return [(number, cells) for number, cells in lines if cells and not cells[0].startswith(";;")]


def cell_table(
    source: Source, lines: Sequence[tuple[int, list[str]]], header: Sequence[str]
) -> CellTable:
    """Return lines as a table, whose header has a column of files and one of channels.

    A clip has one channel here, so a file with events in several channels is refused.
    """
    uneven = [source.line_location(number) for number, cells in lines if len(cells) != len(header)]
    source.refuse_rows(uneven, f"the line does not have {len(header)} cells")
    even = [(number, cells) for number, cells in lines if len(cells) == len(header)]
    table = source.table(header, [cells for _, cells in even], [number for number, _ in even])
    channels: defaultdict[str, set[str]] = defaultdict(set)
    for file, channel in zip(table.text_column(FILE), table.text_column(CHANNEL), strict=True):
        channels[file].add(channel)
    several = [
        f"{file} ({', '.join(sorted(of_file))})"
        for file, of_file in channels.items()
        if len(of_file) > 1
    ]
    advice = "Give each channel a file name of its own."
    refuse(several, "file", "has several channels", advice, where=source.path)
    return table


_NOTHING = "<NA>"
_SPEAKER = "SPEAKER"
_OTHER_TYPES = (
    *("A/P", "CB", "EDIT", "FILLER", "IP", "LEXEME", "NO_RT_METADATA", "NON-LEX", "NON-SPEECH"),
    *("NOSCORE", "SEGMENT", "SPKR-INFO", "SU"),
)
_HEADER = (
    *("type", FILE, CHANNEL, "onset", "duration"),
    *("words", "subtype", "name", "confidence", "lookahead"),
)


def recognise(source: Source) -> bool:
    """Look for lines that begin with the types of RTTM, one of them a speaker."""
    if not source.is_text:
        return False
    types = {cells[0] for _, cells in cell_lines(source)}
    return _SPEAKER in types and types <= {_SPEAKER, *_OTHER_TYPES}


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read the lines of speakers."""
    lines = [(line, cells) for line, cells in cell_lines(source) if cells[0] == _SPEAKER]
    # the last cell is missing in older files
    complete = [
        (line, [*cells, _NOTHING] if len(cells) == len(_HEADER) - 1 else cells) for line, cells in lines
    ]
    table = cell_table(source, complete, _HEADER)
    roles = {"filename": FILE, "onset": "onset", "duration": "duration"}
    if options.label is None:
        roles["label"] = "name"
    if {*table.column("confidence")} - {_NOTHING}:
        roles["confidence"] = "confidence"
    return events_by_role(table, roles, clip=None, label=options.label)


def write(events: EventSet, path: Path) -> None:
    """Write one file of all clips. Spaces in labels and in names of clips become underscores."""
    lines = []
    for clip, onset, offset, label, confidence in events.rows():
        times = [seconds_text(onset), seconds_text(offset - onset)]
        score = repr(confidence) if events.scored else _NOTHING
        file, name = ("_".join(text.split()) for text in (clip, label))
        lines.append(" ".join([_SPEAKER, file, "1", *times, _NOTHING, _NOTHING, name, score, _NOTHING]))
    write_text(path, "".join(line + "\n" for line in lines))


FORMATS = (
    EventFormat(
        name="rttm",
        about="RTTM: SPEAKER lines with file, channel, onset, duration, speaker and confidence",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences"),
        suffixes=(".rttm",),
        file_suffixes=(".rttm",),
        named_columns=False,
        holds_spaces=False,
    ),
)
