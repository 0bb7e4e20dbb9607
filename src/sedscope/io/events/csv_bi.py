"""Annotations of the Temple University EEG corpora: ``.csv_bi`` and ``.csv``, one file per clip.

Lines with ``#`` come first, among them the duration (``# duration = 1800.0000 secs``). The table has the
columns ``channel,start_time,stop_time,label,confidence``. Rows with the label ``bckg`` are background, not
events.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ...data.event_table import EventTable, events_by_role
from ...errors import SedscopeError
from ..text_tables import quoted, split_rows, unique_names
from .format import EventFormat, EventSet, holding, seconds_text, without_label, write_per_clip
from .source import EventReadOptions, Source

BACKGROUND = "bckg"
_COLUMNS = ["channel", "start_time", "stop_time", "label", "confidence"]
_ROLES = {"onset": "start_time", "offset": "stop_time", "label": "label", "confidence": "confidence"}
_DURATION = re.compile(r"#\s*duration\s*=(.*)")


def recognise(source: Source) -> bool:
    """Look for the header after the lines with ``#``."""
    if not source.is_text:
        return False
    lines = (line.strip() for line in source.text.splitlines())
    header = next((line for line in lines if line and not line.startswith("#")), "")
    return [name.strip() for name in header.split(",")] == _COLUMNS


def read(source: Source, _: EventReadOptions) -> EventTable:
    """Read the events and the duration of the clip that the file is named after."""
    text = "\n".join("" if line.lstrip().startswith("#") else line for line in source.text.split("\n"))
    rows, lines = split_rows(text, source.path, ",")
    rows = [[cell.strip() for cell in row] for row in rows]
    if not rows:
        raise SedscopeError(f"{source.path}: there is no header, but only lines with #.")
    header = unique_names(rows[0], str(source.path))
    cells = source.table(header, rows[1:], lines[1:])
    table = without_label(events_by_role(cells, _ROLES, clip=source.clip), BACKGROUND)
    return replace(table if len(table) else source.without_events(), durations=_duration(source))


def _duration(source: Source) -> dict[str, float]:
    for line, text in enumerate(source.text.split("\n"), 1):
        if match := _DURATION.fullmatch(text.rstrip("\r")):
            number, *unit = match[1].strip().rsplit(maxsplit=1) or [""]
            cell = number if unit in (["sec"], ["secs"]) else match[1].strip()
            return {source.clip: source.duration(cell, source.line_location(line))}
    return {}


def write(events: EventSet, path: Path) -> None:
    """Write one file per clip. A clip without events is background, if its duration is known."""
    refuse_background(events, path)

    def text(clip: str) -> str:
        seconds = events.duration(clip)
        lines = ["# version = csv_v1.0.0", f"# bname = {clip}"]
        lines += [] if seconds is None else [f"# duration = {seconds_text(seconds)} secs"]
        lines += ["#", ",".join(_COLUMNS)]
        for onset, offset, label, confidence in events.of_clip(clip):
            times = f"{seconds_text(onset)},{seconds_text(offset)}"
            lines.append(f"TERM,{times},{quoted(label, ',')},{confidence!r}")
        if seconds is not None and not events.events[clip]:
            lines.append(f"TERM,{seconds_text(0)},{seconds_text(seconds)},{BACKGROUND},1.0")
        return "".join(line + "\n" for line in lines)

    write_per_clip(events, path, ".csv_bi", text)


def refuse_background(events: EventSet, path: Path) -> None:
    """Refuse events that would be read as background."""
    if any(row[3] == BACKGROUND for row in events.rows()):
        raise SedscopeError(
            f"{path}: some events have the label {BACKGROUND!r}, which means background in this format. Give "
            "them another label, or leave them out."
        )


FORMATS = (
    EventFormat(
        name="csv_bi",
        about="Temple University EEG: channel,start_time,stop_time,label,confidence after lines with #; "
        "one file per clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "durations"),
        suffixes=(".csv_bi",),
        file_suffixes=(".csv_bi", ".csv"),
        per_clip=True,
        named_columns=False,
    ),
)
