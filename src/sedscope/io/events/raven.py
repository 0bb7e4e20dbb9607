"""Raven selection tables: ``Begin Time (s)``, ``End Time (s)``, and a column of labels with any name.

A table of several recordings has ``Begin File`` or ``Begin Path``, and ``File Offset (s)``. Its begin
and end times count from the start of the first recording, the offset from the start of the row's own
recording. A selection has one row per view. These rows are one event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from ...data.event_table import EventTable, events_by_role
from ...data.tables import Cell, CellTable, cell_number
from ...data.times import TICKS_PER_SECOND, to_ticks
from ...errors import SedscopeError, counted, listing, subject
from ..atomic_write import write_text
from ..text_tables import table_text
from .format import EventFormat, EventSet, holding, seconds_text, write_per_clip
from .source import EventReadOptions, Source

BEGIN, END, OFFSET = "Begin Time (s)", "End Time (s)", "File Offset (s)"
LOW, HIGH = "Low Freq (Hz)", "High Freq (Hz)"
SELECTION = ("Selection", "View", "Channel", BEGIN, END, LOW, HIGH)
_ENDING = ".Table.1.selections"  # of files that Raven writes itself
_FILES = ("Begin File", "Begin Path")
_CONFIDENCES = ("Confidence", "Score")
_LABELS = (
    *("annotation", "species", "label", "class", "tags"),
    *("common name", "call type", "type", "event"),
)
# columns that Raven or its users fill with something else than labels; measurements have units
_RAVENS_OWN = re.compile(
    r"(Selection|View|Channel|(Begin|End) (File|Path|Clock Time|Date|Sample)|[^(]*\(.*\)|Confidence|Score|"
    r"Notes?|Comments?|Sound Type|Software|Species Code|eBird Code)",
    re.IGNORECASE,
)


def recognise(source: Source) -> bool:
    """Look for Raven's names of begin and end in the header."""
    return {BEGIN, END} <= set(source.header)


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read a table of one recording or of several."""
    return read_cells(source.cells, source.clip, options)


def read_cells(cells: CellTable, clip: str, options: EventReadOptions) -> EventTable:
    """Read the selections of one recording, named ``clip`` unless a column names it, or of several."""
    cells.require([BEGIN, END])
    cells = _one_row_per_selection(cells)
    roles = {"onset": BEGIN, "offset": END}
    file = next((name for name in _FILES if name in cells.header), None)
    if file:
        roles["filename"] = file
        cells = _within_files(cells, file)
    confidence = next((name for name in _CONFIDENCES if name in cells.header), None)
    if confidence:
        roles["confidence"] = confidence
    if "label" not in options.columns and options.label is None:
        roles["label"] = label_column(cells)
    events = events_by_role(
        cells, {**roles, **options.columns}, clip=clip, label=options.label, side=options.side
    )
    if not {LOW, HIGH} <= set(cells.header):
        return events
    return replace(events, frequencies=[*zip(cells.column(LOW), cells.column(HIGH), strict=True)])


def label_column(cells: CellTable) -> str:
    """Return the column of labels: the only one that Raven does not make, or whose name is typical."""
    candidates = [name for name in cells.header if name and not _RAVENS_OWN.fullmatch(name)]
    typical = [name for name in candidates if name.lower() in _LABELS]
    if len(typical) == 1 or len(candidates) == 1:
        return (typical or candidates)[0]
    message = (
        "several columns may hold the labels. Choose from "
        f"{listing([repr(name) for name in candidates], limit=20)}"
        if candidates
        else "no column holds labels. Give one label for all events with `label=`, or a column"
    )
    raise SedscopeError(f"{cells.where}: {message} with `columns={{'label': …}}`.")


def _one_row_per_selection(cells: CellTable) -> CellTable:
    """Keep one row of each selection. The others are the same selection in other views."""
    if "Selection" not in cells.header or "View" not in cells.header:
        return cells
    keys = zip(*(cells.column(name) for name in ("Selection", BEGIN, END)), strict=True)
    first: dict[tuple[Cell, ...], int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    rows = list(first.values())
    columns = [[column[i] for i in rows] for column in cells.columns]
    return replace(cells, columns=columns, row_location=lambda k: cells.row_location(rows[k]))


def _within_files(cells: CellTable, file: str) -> CellTable:
    """Convert times so that they count from the start of each recording."""
    if OFFSET not in cells.header:
        files = list(dict.fromkeys(cells.column(file)))
        if len(files) > 1:
            raise SedscopeError(
                f"{cells.where}: there are {counted(len(files), 'recording')} and no column {OFFSET!r}. "
                "Raven's times count from the start of the first recording. Save the table with that "
                "column. If times count from the start of each recording, name all columns: "
                f"`format='table'` `columns={{'filename': {file!r}, 'onset': {BEGIN!r}, 'offset': {END!r}, "
                "'label': …}`"
            )
        return cells
    stated = zip(*(cells.column(name) for name in (BEGIN, END, OFFSET)), strict=True)
    times = [_shifted(*row) for row in stated]
    shifted = {BEGIN: [begin for begin, _ in times], END: [end for _, end in times]}
    named = zip(cells.header, cells.columns, strict=True)
    return replace(cells, columns=[shifted.get(name, column) for name, column in named])


def _shifted(begin: Cell, end: Cell, offset: Cell) -> tuple[Cell, Cell]:
    """Return begin and end within the recording. Cells that are not numbers are refused later."""
    try:
        first, last = (int(to_ticks(cell_number(cell))) for cell in (begin, end))
    except ValueError:
        return begin, end
    try:
        start = int(to_ticks(cell_number(offset)))
    except ValueError:
        return offset, end
    return start / TICKS_PER_SECOND, (start + last - first) / TICKS_PER_SECOND


def write(events: EventSet, path: Path) -> None:
    """Write a table per recording into a new folder, or one table, named ``.txt``, of all recordings.

    Raven plays the recordings of one table one after the other. So begin and end times count from the start
    of the first one, which needs the durations of all but the last.
    """

    def text(clips: Sequence[str]) -> str:
        rows = [[*SELECTION, "Begin File", OFFSET, "Annotation", "Confidence"]]
        for cells, file, onset, label, confidence in selections(events, clips, path):
            rows.append([*cells, file, onset, label, repr(confidence)])
        return table_text(row if events.scored else row[:-1] for row in rows)

    if path.suffix.lower() == ".txt":
        write_text(path, text([clip for clip, of_clip in events.events.items() if of_clip]))
    else:
        write_per_clip(events, path, ".txt", lambda clip: text([clip]), ending=_ENDING)


def selections(
    events: EventSet, clips: Sequence[str], path: Path, of_empty: Sequence[tuple[Any, ...]] = ()
) -> Iterator[tuple[list[str], str, str, str, float]]:
    """Yield the cells of :data:`SELECTION` for each event of some clips, then the name of its file, its onset
    there, its label and its confidence. ``of_empty``: the events of a clip without any."""
    number = 0
    for clip, start in zip(clips, _starts_in_row(events, clips, path), strict=True):
        for onset, offset, label, confidence in events.of_clip(clip) or of_empty:
            number += 1
            times = map(seconds_text, (start + onset, start + offset))
            frequencies = (f"{hertz:g}" for hertz in events.boxes.of(clip, onset, offset, label))
            cells = [str(number), "Spectrogram 1", "1", *times, *frequencies]
            yield cells, events.boxes.file_name(clip), seconds_text(onset), label, confidence


def _starts_in_row(events: EventSet, clips: Sequence[str], path: Path) -> list[float]:
    """Return where each clip begins if they are played one after the other, in seconds."""
    durations = [events.duration(clip) for clip in clips[:-1]]
    unknown = [clip for clip, seconds in zip(clips, durations, strict=False) if seconds is None]
    if unknown:
        raise SedscopeError(
            f"{path}: in one table of {counted(len(clips), 'recording')}, Raven's times count from the start "
            f"of the first one, so durations are needed. {subject(len(unknown), 'clip', 'has')} none: "
            f"{listing(unknown)}. Give the durations (`durations=`), or write to a folder, with a table per "
            "recording."
        )
    return [0.0, *accumulate(seconds for seconds in durations if seconds is not None)][: len(clips)]


FORMATS = (
    EventFormat(
        name="raven",
        about="Raven selection table, of one recording or of several (Begin File, File Offset (s))",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "any label"),
        suffixes=(".selections.txt", ".raven"),
        generic=True,
        reads_durations=True,
    ),
)
