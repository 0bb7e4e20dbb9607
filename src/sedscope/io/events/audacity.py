"""Audacity label tracks: ``onset offset label`` without a header, one file a clip.

A label that was made in a spectrogram has a second line, ``\\ low high``, with its frequencies.
"""

from __future__ import annotations

from pathlib import Path

from ...data.event_table import EventTable
from ..text_tables import is_number
from .format import EventFormat, EventSet, holding, plain_label, seconds, write_per_clip
from .source import Choices, Source


def lines_of(source: Source) -> list[tuple[int, list[str]]]:
    """The cells of labels, without lines of frequencies, and where they stand. Nothing is quoted."""
    lines = enumerate(source.text.split("\n"), 1)
    rows = [(line, text.rstrip("\r").split("\t")) for line, text in lines if text.strip()]
    return [(line, row) for line, row in rows if row[0] != "\\"]


def recognise(source: Source) -> bool:
    """Two numbers and at most a label, separated by tabs, in every line."""
    if not source.is_text or source.header:
        return False
    rows = [row for _, row in lines_of(source)]
    return bool(rows) and all(2 <= len(row) <= 3 and all(map(is_number, row[:2])) for row in rows)


def read(source: Source, choices: Choices) -> EventTable:
    """The labels of the clip that the file is named after."""
    rows = lines_of(source)
    return EventTable(
        where=str(source.path),
        clip=[source.clip] * len(rows),
        onset=[row[0] for _, row in rows],
        offset=[row[1] if len(row) > 1 else None for _, row in rows],
        label=["\t".join(row[2:]).strip() or choices.label or "" for _, row in rows],
        place=lambda i: source.place(rows[i][0]),
    )


def write(events: EventSet, path: Path) -> None:
    """Write one label track a clip."""

    def text(clip: str) -> str:
        rows = events.events[clip]
        return "".join(
            f"{seconds(onset)}\t{seconds(offset)}\t{plain_label(label)}\n"
            for onset, offset, label, *_ in rows
        )

    write_per_clip(events, path, ".txt", text)


FORMATS = (
    EventFormat(
        name="audacity",
        about="Audacity label track: onset offset label without a header, one file a clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "clips without events"),
    ),
)
