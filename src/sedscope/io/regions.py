"""Scored regions from files: a table ``filename onset offset``, UEM, or events of any format."""

from __future__ import annotations

from ..data.event_table import EventTable, events_by_role
from ..data.regions import Regions
from .events.files import read_event_table
from .events.nist_lines import CHANNEL, FILE, cell_lines, cell_table
from .events.source import Source
from .locations import Location, input_location

_COLUMNS = ("filename", "onset", "offset")


def read_regions(path: str | Location) -> Regions:
    """Read the regions that are evaluated.

    Parameters
    ----------
    path : path or address
        A table with the columns ``filename onset offset``, times in seconds, separated by tabs, semicolons
        or commas, or a Parquet file; a UEM file, whose name ends in ``.uem``; or a file or folder of events
        in any format that ``sedscope formats`` lists. Each row or event is a region; labels do not matter.

    Returns
    -------
    Regions

    See Also
    --------
    cut_to_regions : Cut scores and ground truth to the regions.

    Examples
    --------
    >>> import sedscope as sed
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "regions.csv").write_text("filename,onset,offset\\nnight,0,60\\nnight,90,120\\n")
    ...     sed.read_regions(Path(folder, "regions.csv"))
    <Regions: 2 regions in 1 clip>
    """
    table = _read_table(input_location(path))
    return Regions(table.columns(), where=str(path))


def _read_table(location: Location) -> EventTable:
    if location.is_dir():
        return read_event_table(location)
    source = Source(location)
    if location.name.lower().endswith(".uem"):
        return _read_uem(source)
    if not set(_COLUMNS) <= set(source.header):
        return read_event_table(location)
    return events_by_role(
        source.cells, dict(zip(_COLUMNS, _COLUMNS, strict=True)), clip=None, label="region"
    )


def _read_uem(source: Source) -> EventTable:
    """Read lines of a file, a channel, and the begin and end of what is scored."""
    header = (FILE, CHANNEL, "onset", "offset")
    roles = {"filename": FILE, "onset": "onset", "offset": "offset"}
    table = cell_table(source, cell_lines(source), header)
    return events_by_role(table, roles, clip=None, label="region")
