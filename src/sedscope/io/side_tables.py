"""Tables beside the scores: where chunks start, durations, groups and scored regions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..data.choices import Gaps
from ..data.clips import DURATION_COLUMNS, as_durations, clip_ids, is_duration
from ..data.event_table import EventTable, events_by_role
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..data.tables import FrameLike, RowLocation, cells_from_frame, is_columns, is_frame
from ..errors import SedscopeError, listing, shortened
from .atomic_write import write_text
from .events.files import read_event_table
from .events.rttm import CHANNEL, FILE, cell_lines, cell_table
from .events.source import Source
from .locations import Address, Location, input_location
from .text_tables import TextTable, numbers, read_text_table, table_text

if TYPE_CHECKING:
    from ..alignment.regions import Regions
    from ..data.chunks import Chunks, Unit

_CHUNK_COLUMNS = ("filename", "recording", "start")


def read_chunk_table(path: str | Location) -> dict[str, tuple[str, float]]:
    """Read a table ``filename recording start``, in seconds, separated by tabs, semicolons or commas."""
    table = read_text_table(path, delimiter=None)
    chunks, recordings, _ = table.columns(_CHUNK_COLUMNS)
    starts = zip(recordings, numbers(table, [table.place("start")])[0], strict=True)
    return dict(zip(chunks, starts, strict=True))


def refuse_detections(path: Location) -> NoReturn:
    """Refuse to join chunks of detections."""
    raise SedscopeError(
        f"{path} holds detections, but `stitch=` joins chunks of scores. If the detections are windows that "
        "slide over a recording, average them with `overlaps='average'`."
    )


def stitch(scores: Scores, chunks: Chunks | Address, unit: Unit, gaps: Gaps) -> Scores:
    """Stitch chunks as :meth:`Scores.stitch` does. The table may also be at an address."""
    table = read_chunk_table(chunks) if isinstance(chunks, Address) else chunks
    return scores.stitch(table, unit=unit, gaps=gaps)


_HEADER_ADVICE = "A table of durations has the columns filename and duration, named in its first line."


def read_durations(path: str | Location) -> dict[str, float]:
    """Read durations in seconds from a table ``filename duration``, separated by tabs or commas."""
    table = read_text_table(path, delimiter=None)
    names, _ = table.columns(DURATION_COLUMNS, _HEADER_ADVICE)
    seconds = numbers(table, [table.place("duration")])[0]
    first: dict[str, int] = {}
    lines = [first.setdefault(name, line) for name, line in zip(names, table.lines, strict=True)]
    twice = {
        i: f"{name} is in line {lines[i]} as well"
        for i, name in enumerate(names)
        if lines[i] != table.lines[i]
    }
    table.refuse(twice, "repeats a clip")
    clip_ids(names, str(path), lambda clip: RowLocation(f"line {first[clip]}", f"{path}:{first[clip]}"))
    wrong = {
        i: f"{names[i]}: a duration must be a number of seconds above zero, not {value:g}"
        for i, value in enumerate(seconds)
        if not is_duration(value)
    }
    table.refuse(wrong, "states no duration")
    return dict(zip(names, seconds, strict=True))


def load_durations(
    durations: str | Location | Mapping[str, float] | FrameLike | None,
) -> Mapping[str, float] | None:
    """Return durations that are given as a mapping or a frame, or read them from a file."""
    if isinstance(durations, (str, Path, Address)):
        return read_durations(durations)
    return as_durations(durations)


def write_durations(truth: GroundTruth | Mapping[str, float], path: str | Path) -> None:
    """Write the durations of clips as a tab-separated table ``filename duration``, in seconds."""
    seconds = clip_seconds(truth) if isinstance(truth, GroundTruth) else truth
    rows = [DURATION_COLUMNS, *((clip, f"{end:.6f}") for clip, end in seconds.items())]
    write_text(path, table_text(rows))


def clip_seconds(truth: GroundTruth) -> dict[str, float]:
    """Return the duration of each clip in seconds."""
    if truth.durations is None:
        raise SedscopeError("The ground truth has no durations to write.")
    return dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))


_MEMBER_COLUMNS = ("filename", "clip", "label", "class", "event_label")
_GROUP = "group"


def is_group_table(groups: object) -> bool:
    """Return whether groups are a file, a data frame or a mapping of columns."""
    if isinstance(groups, Mapping):
        return is_columns(groups) or {*groups} >= {_GROUP, "label"}
    return isinstance(groups, (str, Path, Address)) or is_frame(groups)


def read_groups(groups: str | Location | FrameLike) -> dict[str, str]:
    """Read the group of each clip or class from a table ``filename group`` or ``label group``.

    A file has tabs, semicolons or commas.
    """
    if isinstance(groups, (str, Path, Address)):
        table = read_text_table(groups, delimiter=None)
    else:
        cells = cells_from_frame(groups, "groups")
        texts = zip(*(cells.text_column(name) for name in cells.header), strict=True)
        rows = [*map(list, texts)]
        table = TextTable(Path("groups"), [*cells.header], rows, [*range(len(rows))])
    named = next((name for name in _MEMBER_COLUMNS if name in table.header), None)
    if named is None or _GROUP not in table.header:
        columns = listing([repr(shortened(name, 60)) for name in table.header])
        raise SedscopeError(
            f"{table.path}: the first line must name the columns 'filename' (for classes, 'label') and "
            f"{_GROUP!r}. It has {columns}."
        )
    group_of: dict[str, str] = {}
    wrong: dict[int, str] = {}
    column, group_column = table.header.index(named), table.header.index(_GROUP)
    for row, row_cells in enumerate(table.rows):
        name, group = row_cells[column].strip(), row_cells[group_column].strip()
        if not name or not group:
            wrong[row] = f"there is no {_GROUP if name else named}"
        elif group_of.setdefault(name, group) != group:
            wrong[row] = (
                f"{shortened(name, 60)!r} is in the group {shortened(group_of[name], 60)!r} as well"
            )
    table.refuse(wrong, "does not name one group")
    return group_of


_REGION_COLUMNS = ("filename", "onset", "offset")


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
    from ..alignment.regions import Regions

    table = _read_table(input_location(path))
    return Regions(table.columns(), where=str(path))


def _read_table(location: Location) -> EventTable:
    if location.is_dir():
        return read_event_table(location)
    source = Source(location)
    if location.name.lower().endswith(".uem"):
        return _read_uem(source)
    if not set(_REGION_COLUMNS) <= set(source.header):
        return read_event_table(location)
    return events_by_role(
        source.cells, dict(zip(_REGION_COLUMNS, _REGION_COLUMNS, strict=True)), clip=None, label="region"
    )


def _read_uem(source: Source) -> EventTable:
    """Read lines of a file, a channel, and the begin and end of what is scored."""
    header = (FILE, CHANNEL, "onset", "offset")
    roles = {"filename": FILE, "onset": "onset", "offset": "offset"}
    table = cell_table(source, cell_lines(source), header)
    return events_by_role(table, roles, clip=None, label="region")
