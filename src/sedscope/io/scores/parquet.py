"""Scores in Parquet files: one file, or all files of a folder or of a pattern.

sedscope writes one file: a long table ``clip onset offset class…``, one row per frame.
:mod:`~sedscope.io.scores.parquet_tables` says what it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.clip_scores import ClipScores
from ...data.scores import CLIP_COLUMNS, TIME_COLUMNS, Scores
from ...errors import SedscopeError, listing
from ..locations import Location, folder_content, is_delta_table, is_pattern, pattern_matches
from ..parquet_files import write_parquet
from .format import ScoreFormat, ScoreReadOptions, starts_with
from .parquet_tables import ScoreTables, TableFile, looks_like_scores

if TYPE_CHECKING:
    import polars

_GROUP_ROWS = 100_000
_DEEPEST = 8  # folders in folders


def recognise(path: Location) -> bool:
    """Look for a Parquet file with scores of frames: this one, or the first of a folder or pattern."""
    if is_delta_table(path):
        return True
    if path.is_file():
        return starts_with(path, b"PAR1") and _looks_like_scores(path, alone=True)
    first = next(table_files(path), None)
    return first is not None and _looks_like_scores(first, alone=False)


def _looks_like_scores(path: Location, *, alone: bool) -> bool:
    file = TableFile(path)
    return looks_like_scores(file.schema(), file.constant, alone=alone)


def table_files(path: Location, depth: int = 0) -> Iterator[Location]:
    """Yield the Parquet files of a file, folder or pattern, in order.

    Names that begin with ``.`` or ``_`` are those of files that programs keep for themselves.
    """
    if is_pattern(path):
        for match in pattern_matches(path):
            if match.is_dir() or match.suffix == ".parquet":
                yield from table_files(match)
    elif path.is_file():
        yield path
    elif path.is_dir() and depth <= _DEEPEST:
        for entry in folder_content(path):
            if entry.name == "_delta_log" or (entry.name == "metadata" and _of_iceberg(entry)):
                raise _versioned(path)
            if entry.name[:1] in "._":
                continue
            if entry.name.endswith(".parquet") or entry.is_dir():
                yield from table_files(entry, depth + 1)


def _of_iceberg(folder: Location) -> bool:
    return bool(folder_content(folder, "*.metadata.json"))


def _versioned(folder: Location) -> SedscopeError:
    return SedscopeError(
        f"{folder} is a Delta or Iceberg table. Its files may hold rows that were deleted or replaced since, "
        "and only a library of that format knows them. A folder of Delta Lake on this machine is read if "
        "the package is there: pip install deltalake. In Python, give the table itself: `DeltaTable(…)`, or "
        "`table.scan()` of pyiceberg."
    )


def read(source: Location | tuple[TableFile, ...], options: ScoreReadOptions) -> Scores:
    """Read the scores of a table. Blocks of rows are read when they are needed."""
    tables = ScoreTables(source if isinstance(source, tuple) else _parts(source), options)
    return Scores(tables.clips, tables.load, classes=tables.layout.classes, thread_safe=True)


def _parts(path: Location) -> list[TableFile]:
    files = [*table_files(path)]
    if not files:
        raise SedscopeError(f"{path} holds no Parquet files (*.parquet).")
    refuse_versions(file for file in files if isinstance(file, Path))
    return [TableFile(file) for file in files]


def refuse_versions(files: Iterable[Path]) -> None:
    """Refuse files in the folder of a table with versions: which of their rows are current is not known."""
    for folder in sorted({folder for file in files for folder in file.parents}):
        if (folder / "_delta_log").is_dir() or _of_iceberg(folder / "metadata"):
            raise _versioned(folder)


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write a long table. A clip without frames has a row without times."""
    import polars

    odd = [
        repr(name) for name in scores.classes if name in (*CLIP_COLUMNS, *TIME_COLUMNS, "event_label")
    ]
    if odd:
        raise SedscopeError(f"{path}: a long table cannot have classes named {listing(odd)}.")
    if not len(scores):
        raise SedscopeError(f"{path}: there is no clip to write.")

    def table() -> polars.DataFrame:
        return polars.concat((_frame(scores.classes, *clip) for clip in clips), how="vertical_relaxed")

    write_parquet(path, table, row_group_size=_GROUP_ROWS)


def _frame(classes: Sequence[str], clip: str, scores: ClipScores) -> polars.DataFrame:
    """Return the rows of a clip."""
    import polars

    edges = scores.edges
    columns: dict[str, Any] = {"onset": edges[:-1], "offset": edges[1:]}
    columns |= dict(zip(classes, np.ascontiguousarray(scores.values.T), strict=True))
    frame = polars.DataFrame(columns)
    if not len(frame):
        frame = polars.DataFrame({name: [None] for name in columns}, schema=frame.schema)
    return frame.insert_column(0, polars.repeat(clip, len(frame), eager=True).alias("clip"))


FORMATS = (
    ScoreFormat(
        name="parquet",
        about="Parquet: one file, or those of a folder or pattern; wide, long, or with lists of scores",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"clips without frames"}),
        suffixes=(".parquet",),
        needs_options=True,
    ),
)
