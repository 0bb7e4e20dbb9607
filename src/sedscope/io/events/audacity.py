"""Audacity label tracks: ``onset offset label`` without a header, one file per clip.

A label that was made in a spectrogram has a second line, ``\\ low high``, with its frequencies.
"""

from __future__ import annotations

from pathlib import Path

from ...data.event_table import EventTable
from ...data.tables import is_number
from .format import EventFormat, EventSet, holding, plain_label, seconds_text, write_per_clip
from .source import EventReadOptions, Source


def label_lines(source: Source) -> list[tuple[int, list[str]]]:
    """Return the number and cells of each line, without lines of frequencies. Nothing is quoted."""
    lines = enumerate(source.text.split("\n"), 1)
    rows = [(line, text.rstrip("\r").split("\t")) for line, text in lines if text.strip()]
    return [(line, row) for line, row in rows if row[0] != "\\"]


def recognise(source: Source) -> bool:
    """Look for two numbers and at most a label, separated by tabs, in every line."""
    if not source.is_text or source.header:
        return False
    rows = [row for _, row in label_lines(source)]
    return bool(rows) and all(2 <= len(row) <= 3 and all(map(is_number, row[:2])) for row in rows)


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read the labels of the clip that the file is named after."""
    rows = label_lines(source)
    return EventTable(
        where=str(source.path),
        clip=[source.clip] * len(rows),
        onset=[row[0] for _, row in rows],
        offset=[row[1] if len(row) > 1 else None for _, row in rows],
        label=["\t".join(row[2:]).strip() or options.label or "" for _, row in rows],
        row_location=lambda i: source.line_location(rows[i][0]),
    )


def write(events: EventSet, path: Path) -> None:
    """Write one label track per clip."""

    def text(clip: str) -> str:
        return "".join(
            f"{seconds_text(onset)}\t{seconds_text(offset)}\t{plain_label(label)}\n"
            for onset, offset, label, *_ in events.events[clip]
        )

    write_per_clip(events, path, ".txt", text)


FORMATS = (
    EventFormat(
        name="audacity",
        about="Audacity label track: onset offset label without a header, one file per clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "clips without events"),
        per_clip=True,
        suffixes=(".audacity",),
        header=False,
        named_columns=False,
    ),
)
