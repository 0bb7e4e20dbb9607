"""Lists of events without a header: label tracks of Audacity, and the lists of sed_eval and dcase_util.

A label track has ``onset offset label`` and one file per clip. A label that was made in a spectrogram has a
second line, ``\\ low high``, with its frequencies.

A list of sed_eval has one to five columns, separated by tabs, commas or semicolons: ``onset offset``,
``onset offset label``, ``file onset offset label``, ``file scene onset offset label``; a row with only a file
name is a clip without events. A list without file names belongs to one clip.
"""

from __future__ import annotations

from pathlib import Path

from ...data.event_table import EventTable
from ...data.tables import is_number
from ...errors import SedscopeError
from ..atomic_write import write_text
from ..text_tables import table_text
from .format import EventFormat, EventSet, holding, plain_label, seconds_text, write_per_clip
from .source import EventReadOptions, Source

_ONSET_COLUMN = {2: 0, 3: 0, 4: 1, 5: 2}
"""The column of the onset by number of columns. The offset and the label follow it."""


def label_lines(source: Source) -> list[tuple[int, list[str]]]:
    """Return the number and cells of each line, without lines of frequencies. Nothing is quoted."""
    lines = enumerate(source.text.split("\n"), 1)
    rows = [(line, text.rstrip("\r").split("\t")) for line, text in lines if text.strip()]
    return [(line, row) for line, row in rows if row[0] != "\\"]


def recognise_track(source: Source) -> bool:
    """Look for two numbers and at most a label, separated by tabs, in every line."""
    if not source.is_text or source.header:
        return False
    rows = [row for _, row in label_lines(source)]
    return bool(rows) and all(2 <= len(row) <= 3 and all(map(is_number, row[:2])) for row in rows)


def read_track(source: Source, options: EventReadOptions) -> EventTable:
    """Read the labels of the clip that the file is named after."""
    lines = label_lines(source)
    labels = ["\t".join(row[2:]).strip() or options.label or "" for _, row in lines]
    rows = [
        (source.clip, row[0], row[1] if len(row) > 1 else None, label)
        for (_, row), label in zip(lines, labels, strict=True)
    ]
    return EventTable.of_rows(source.path, rows, lambda i: source.line_location(lines[i][0]))


def write_track(events: EventSet, path: Path) -> None:
    """Write one label track per clip."""

    def text(clip: str) -> str:
        return "".join(
            f"{seconds_text(onset)}\t{seconds_text(offset)}\t{plain_label(label)}\n"
            for onset, offset, label, *_ in events.events[clip]
        )

    write_per_clip(events, path, ".txt", text)


def recognise_list(source: Source) -> bool:
    """Look for two numbers where onset and offset are expected, in every row.

    An Audacity label track looks the same and is left to that format.
    """
    if recognise_track(source):
        return False
    rows = [row for row in source.first_rows if len(row) > 1]
    return bool(rows) and all(map(_is_event, rows))


def _is_event(row: list[str]) -> bool:
    onset = _ONSET_COLUMN.get(len(row))
    return onset is not None and is_number(row[onset]) and is_number(row[onset + 1])


def read_list(source: Source, options: EventReadOptions) -> EventTable:
    """Read a list of one clip or of all clips."""
    numbered = [*zip(*source.rows, strict=True)]
    wrong = [source.line_location(line) for row, line in numbered if len(row) > 5]
    source.refuse_rows(wrong, "an event list has at most 5 columns")
    numbered = [(row, line) for row, line in numbered if len(row) <= 5]
    if any(len(row) == 2 for row, _ in numbered) and not options.label:
        raise SedscopeError(f"{source.path}: the events have no label. Give one with `label=`.")
    rows: list[tuple[str, str | None, str | None, str]] = []
    for row, _ in numbered:
        k = _ONSET_COLUMN.get(len(row))
        if k is None:
            rows.append((row[0], None, None, ""))
        else:
            label = row[k + 2] if k + 2 < len(row) else ""
            rows.append((row[0] if k else source.clip, row[k], row[k + 1], label or options.label or ""))
    return EventTable.of_rows(source.path, rows, lambda i: source.line_location(numbered[i][1]))


def write_list(events: EventSet, path: Path) -> None:
    """Write one list with four columns for all clips."""
    rows = []
    for clip, clip_events in events.events.items():
        rows += [
            [clip, seconds_text(onset), seconds_text(offset), label]
            for onset, offset, label, *_ in clip_events
        ] or [[clip]]
    write_text(path, table_text(rows, "," if path.suffix.lower() == ".csv" else "\t"))


FORMATS = (
    EventFormat(
        name="sed_eval",
        about="sed_eval event list: no header, 1 to 5 columns, tabs, commas or semicolons; one file for "
        "all clips or one per clip",
        recognise=recognise_list,
        read=read_list,
        write=write_list,
        holds=holding("times", "clips without events", "any label"),
        suffixes=(".ann", ".lab"),
        file_suffixes=(".txt", ".csv", ".ann", ".lab"),
        header=False,
        named_columns=False,
    ),
    EventFormat(
        name="audacity",
        about="Audacity label track: onset offset label without a header, one file per clip",
        recognise=recognise_track,
        read=read_track,
        write=write_track,
        holds=holding("times", "clips without events"),
        per_clip=True,
        suffixes=(".audacity",),
        header=False,
        named_columns=False,
    ),
)
