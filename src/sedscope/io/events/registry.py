"""All formats of events, and how the format of a file is recognised.

A new format is one new module with ``FORMATS``, and its name in the list below.
"""

from __future__ import annotations

from ...errors import SedscopeError, listing
from . import audacity, biodcase, birdnet, dcase, few_shot, jams, raven, rttm, sed_eval, table
from .format import EventFormat
from .source import EventReadOptions, Source

_MODULES = (dcase, sed_eval, audacity, raven, birdnet, jams, few_shot, biodcase, rttm, table)

EVENT_FORMATS: dict[str, EventFormat] = {
    format.name: format for module in _MODULES for format in module.FORMATS
}


def event_format(name: str) -> EventFormat:
    """Return the format of a name."""
    if name not in EVENT_FORMATS:
        raise SedscopeError(
            f"There is no event format {name!r}. Choose from {listing([*EVENT_FORMATS], limit=30)}."
        )
    return EVENT_FORMATS[name]


def recognise_event_format(source: Source, options: EventReadOptions) -> EventFormat:
    """Recognise the format of a file from its content."""
    candidates = [format for format in EVENT_FORMATS.values() if format.recognise(source)]
    if len(candidates) > 1:
        candidates = [format for format in candidates if not format.generic]
    if len(candidates) > 1:
        names = [format.name for format in candidates]
        raise SedscopeError(
            f"{source.path} could be {' or '.join(names)}. Choose with format= (--format {names[0]})."
        )
    if candidates and not (options.columns and candidates[0] is EVENT_FORMATS["dcase"]):
        return candidates[0]
    if source.is_score_table and not options.columns:
        raise SedscopeError(f"{source.path} holds scores of frames, not events.")
    names_columns = {"onset", "label"} <= set(options.columns)
    return EVENT_FORMATS["table" if names_columns or candidates else "dcase"]
