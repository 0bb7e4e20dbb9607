"""Formats of event lists, one small module each, and how the format of a file is found."""

from __future__ import annotations

import re

from ...data.event_table import EventTable, joined
from ...errors import SedscopeError, listing, raise_together
from ..locations import Place, folder_content, place
from . import audacity, birdnet, dcase, jams, plain, raven, sed_eval
from .format import EventFormat, EventSet
from .source import Choices, Source

EVENT_FORMATS: dict[str, EventFormat] = {
    made.name: made
    for module in (dcase, sed_eval, audacity, raven, birdnet, jams, plain)
    for made in module.FORMATS
}

_FILES = (".tsv", ".csv", ".txt", ".ann", ".lab", ".jams", ".json", ".parquet")
# BirdNET puts its parameters beside its results
_PARAMETERS = re.compile(r".*analy\w*[-_.]params\.csv", re.IGNORECASE)
_WITHOUT_HEADER = ("sed_eval", "audacity", "birdnet_audacity")

__all__ = [
    "EVENT_FORMATS",
    "Choices",
    "EventFormat",
    "EventSet",
    "EventTable",
    "Source",
    "event_files",
    "find_event_format",
    "known_event_format",
    "read_event_table",
]


def known_event_format(name: str) -> EventFormat:
    """The format of that name."""
    if name not in EVENT_FORMATS:
        raise SedscopeError(
            f"no format of events {name!r}; there are {listing([*EVENT_FORMATS], limit=30)}"
        )
    return EVENT_FORMATS[name]


def find_event_format(source: Source, choices: Choices) -> EventFormat:
    """The format that a file has by its content; BirdNET's tables are Raven's, too, and go before."""
    found = [made for made in EVENT_FORMATS.values() if made.recognise(source)]
    if len(found) > 1:
        found = [made for made in found if made.name != "raven"]
    if len(found) > 1:
        names = [made.name for made in found]
        raise SedscopeError(
            f"{source.path} could be {' or '.join(names)}: say which with format= (--format {names[0]})"
        )
    if found and not (choices.columns and found[0].name == "dcase"):
        return found[0]
    if source.is_score_table and not choices.columns:
        raise SedscopeError(f"{source.path} holds scores of frames, not events")
    named = {"onset", "label"} <= set(choices.columns)
    return EVENT_FORMATS["table" if named or found else "dcase"]


def read_event_table(
    path: str | Place, *, format: str | None = None, choices: Choices | None = None
) -> EventTable:
    """The events of a file, or of all files of events in a folder."""
    source = place(path)
    chosen = None if format is None else known_event_format(format)
    said = choices or Choices()
    if not source.is_dir():
        return _read_file(Source(source), chosen, said)
    files = event_files(source)
    if not files:
        raise SedscopeError(f"{source} is a folder that holds no files of events")
    if chosen is None and not said.columns and all(_is_score_table(file) for file in files):
        raise SedscopeError(
            f"{source} holds scores of frames, not events: are scores and ground truth swapped?"
        )
    tables: list[EventTable] = []
    errors: list[SedscopeError] = []
    silent: list[Place] = []
    for file in files:
        try:
            if file.stat().st_size == 0:
                silent.append(file)
                continue
            content = Source(file)
            chosen = chosen or find_event_format(content, said)
            tables.append(_read_file(content, chosen, said))
        except SedscopeError as error:
            errors.append(error)
    if silent and chosen is not None and chosen.name in _WITHOUT_HEADER:
        tables += [_without_events(Source(file, b"")) for file in silent]
    elif silent:
        errors += [SedscopeError(f"{file} is empty") for file in silent]
    raise_together(errors, what="the files of events")
    return joined(tables, str(source))


def _is_score_table(file: Place) -> bool:
    try:
        return file.stat().st_size > 0 and Source(file).is_score_table
    except SedscopeError:
        return False


def event_files(folder: Place) -> list[Place]:
    """The files in a folder that may hold events."""
    return [
        file
        for file in folder_content(folder)
        if file.suffix.lower() in _FILES
        and file.is_file()
        and not _PARAMETERS.fullmatch(file.name)
        and not file.name.startswith(".")
    ]


def _read_file(source: Source, chosen: EventFormat | None, choices: Choices) -> EventTable:
    made = chosen or find_event_format(source, choices)
    if choices.columns and made.name in (*_WITHOUT_HEADER, "dcase_weak"):
        raise SedscopeError(f"{source.path}: the format {made.name} has no columns to be named")
    return made.read(source, choices)


def _without_events(source: Source) -> EventTable:
    """An empty file of one clip: nothing was labelled in it."""
    where = str(source.path)
    return EventTable(where, [source.clip], [None], [None], [""], lambda _: source.path.name)
