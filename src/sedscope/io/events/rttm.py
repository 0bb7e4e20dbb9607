"""RTTM files of speech: who speaks when, as references and as the output of a system.

``SPEAKER FILE CHANNEL ONSET DURATION <NA> <NA> NAME CONFIDENCE <NA>``, separated by spaces. Lines of other
types say nothing about events. The speaker is the label, unless the user gives all of them one label, such
as ``speech``.
"""

from __future__ import annotations

from pathlib import Path

from ...data.event_table import EventTable, events_by_role
from ..atomic_write import write_text
from .format import EventFormat, EventSet, holding, seconds_text
from .nist_lines import CHANNEL, FILE, cell_lines, cell_table
from .source import EventReadOptions, Source

_NOTHING = "<NA>"
_SPEAKER = "SPEAKER"
_OTHER_TYPES = (
    *("A/P", "CB", "EDIT", "FILLER", "IP", "LEXEME", "NO_RT_METADATA", "NON-LEX", "NON-SPEECH"),
    *("NOSCORE", "SEGMENT", "SPKR-INFO", "SU"),
)
_HEADER = (
    "type",
    FILE,
    CHANNEL,
    "onset",
    "duration",
    "words",
    "subtype",
    "name",
    "confidence",
    "lookahead",
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
