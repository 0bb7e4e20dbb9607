"""All formats of events, how one is recognised, and files and folders of events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from ...data.event_table import EventTable, concatenate
from ...errors import SedscopeError, problem_lines, raise_together
from .. import FormatTable
from ..locations import Location, folder_files, input_location
from .format import EventFormat
from .source import EventReadOptions, Source

EVENT_FORMATS: FormatTable[EventFormat] = FormatTable(
    __package__,
    "event",
    {
        "dcase": "table",
        "event_lists": "table",
        "raven": "table",
        "birdnet": "table",
        "jams": "json",
        "animal_calls": "table",
        "rttm": "table",
        "seizures": "table",
        "moments": "json",
        "activitynet": "json",
    },
)


def format_of_name(path: PurePath, by_suffix: Mapping[str, str], choice: str) -> str:
    """Return the format that the name of a file to write selects. ``choice``: what else selects one."""
    name = path.name.lower()
    if not path.suffix and "" in by_suffix:
        return by_suffix[""]
    matching = [suffix for suffix in by_suffix if suffix and name.endswith(suffix)]
    if not matching:
        raise SedscopeError(f"{path}: the name does not select a format of {choice}.")
    return by_suffix[max(matching, key=len)]


def recognise_event_format(source: Source, options: EventReadOptions) -> EventFormat:
    """Recognise the format of a file from its content."""
    formats = EVENT_FORMATS.of_kind("table" if source.is_text or source.is_parquet else "json")
    candidates = [format for format in formats.values() if format.recognise(source)]
    if len(candidates) > 1:
        candidates = [format for format in candidates if not format.generic]
    if len(candidates) > 1:
        names = [format.name for format in candidates]
        raise SedscopeError(
            f"{source.path} could be {' or '.join(names)}. Choose with `format={names[0]!r}`."
        )
    if candidates and not (options.columns and candidates[0] is EVENT_FORMATS["dcase"]):
        return candidates[0]
    if source.is_score_table and not options.columns:
        raise SedscopeError(f"{source.path} holds scores of frames, not events.")
    names_columns = {"onset", "label"} <= set(options.columns)
    return EVENT_FORMATS["table" if names_columns or candidates else "dcase"]


# BirdNET writes its parameters next to its results
_PARAMETERS = re.compile(r".*analy\w*[-_.]params\.csv", re.IGNORECASE)


def read_event_table(
    path: str | Location,
    *,
    format: str | None = None,
    options: EventReadOptions | None = None,
    problems: list[str] | None = None,
) -> EventTable:
    """Read the events of a file, or of all event files in a folder.

    ``problems``: collects what is wrong with rows and with files of a folder, which are left out. By
    default, they are an error.
    """
    source = input_location(path)
    chosen = None if format is None else EVENT_FORMATS.named(format)
    options = options or EventReadOptions()
    if not source.is_dir():
        return _read_file(Source(source, problems=problems), chosen, options)
    files = event_files(source)
    if not files:
        raise SedscopeError(f"{source} is a folder that holds no files of events.")
    if chosen is None and not options.columns and all(_is_score_table(file) for file in files):
        raise SedscopeError(
            f"{source} holds scores of frames, not events. Are scores and ground truth swapped?"
        )
    tables: list[EventTable] = []
    errors: list[SedscopeError] = []
    empty: list[Location] = []
    for file in files:
        try:
            if file.stat().st_size == 0:
                empty.append(file)
                continue
            content = Source(file, problems=problems)
            chosen = chosen or recognise_event_format(content, options)
            tables.append(_read_file(content, chosen, options))
        except SedscopeError as error:
            errors.append(error)
    if empty and chosen is not None and not chosen.header:
        tables += [Source(file, b"").without_events() for file in empty]
    elif empty:
        errors += [SedscopeError(f"{file} is empty.") for file in empty]
    if problems is not None and tables:
        problems += problem_lines(errors)
    else:
        raise_together(errors, what="the files of events")
    return concatenate(tables, str(source))


def event_files(folder: Location) -> list[Location]:
    """List the files in a folder that may hold events."""
    suffixes = {suffix for format in EVENT_FORMATS.values() for suffix in format.file_suffixes}

    def may_hold_events(name: str) -> bool:
        is_events = PurePath(name).suffix.lower() in suffixes and not _PARAMETERS.fullmatch(name)
        return is_events and not name.startswith(".")

    return [*folder_files(folder, may_hold_events)]


def _is_score_table(file: Location) -> bool:
    try:
        return file.stat().st_size > 0 and Source(file).is_score_table
    except SedscopeError:
        return False


def _read_file(source: Source, chosen: EventFormat | None, options: EventReadOptions) -> EventTable:
    format = chosen or recognise_event_format(source, options)
    if options.columns and not format.named_columns:
        raise SedscopeError(f"{source.path}: the format {format.name} has no columns that can be named.")
    table = format.read(source, options)
    return table if format.named_columns else replace(table, other_columns=())
