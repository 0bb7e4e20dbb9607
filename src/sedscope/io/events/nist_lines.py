"""Lines of cells that are separated by spaces, as NIST's formats of speech have them: RTTM and UEM."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...data.cells import CellTable
from ...errors import SedscopeError, listing, subject
from .source import Source

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
    if uneven and source.problems is None:
        raise SedscopeError(
            f"{source.path}: {subject(len(uneven), 'line', 'does')} not have {len(header)} cells: "
            f"{listing(list(map(str, uneven)))}.",
            lines=[
                location.finding(f"the line does not have {len(header)} cells") for location in uneven
            ],
        )
    rows, numbers = source.even_rows(
        [cells for _, cells in lines], [number for number, _ in lines], len(header)
    )
    table = CellTable(str(source.path), header, rows, lambda i: source.line_location(numbers[i]))
    channels: defaultdict[str, set[str]] = defaultdict(set)
    for file, channel in zip(table.text_column(FILE), table.text_column(CHANNEL), strict=True):
        channels[file].add(channel)
    several = [
        f"{file} ({', '.join(sorted(of_file))})"
        for file, of_file in channels.items()
        if len(of_file) > 1
    ]
    if several:
        raise SedscopeError(
            f"{source.path}: {subject(len(several), 'file', 'has')} several channels: {listing(several)}. "
            "Give each channel a file name of its own."
        )
    return table
