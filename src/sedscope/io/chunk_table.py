"""Files that say where the chunks of long recordings start, and stitching with them."""

from __future__ import annotations

from typing import NoReturn

from ..data.cells import check_columns
from ..data.choices import Gaps
from ..data.chunks import Chunks, Unit
from ..data.scores import Scores
from ..errors import SedscopeError
from .locations import Address, Location
from .text_tables import numbers, read_text_table

_COLUMNS = ("filename", "recording", "start")


def read_chunk_table(path: str | Location) -> dict[str, tuple[str, float]]:
    """Read a table ``filename recording start``, in seconds, separated by tabs, semicolons or commas."""
    table = read_text_table(path, delimiter=None)
    check_columns(_COLUMNS, table.header, str(path))
    name, recording, start = (table.header.index(column) for column in _COLUMNS)
    rows = zip(table.rows, numbers(table, [start])[0], strict=True)
    return {row[name].strip(): (row[recording].strip(), seconds) for row, seconds in rows}


def refuse_detections(path: Location) -> NoReturn:
    """Refuse to join chunks of detections."""
    raise SedscopeError(
        f"{path} holds detections, but stitch= (--stitch) joins chunks of scores. If the detections are "
        "windows that slide over a recording, average them with overlaps='average' (--overlaps average)."
    )


def stitch(scores: Scores, chunks: Chunks | Address, unit: Unit, gaps: Gaps) -> Scores:
    """Stitch chunks as :meth:`Scores.stitch` does. The table may also be at an address."""
    table = read_chunk_table(chunks) if isinstance(chunks, Address) else chunks
    return scores.stitch(table, unit=unit, gaps=gaps)
