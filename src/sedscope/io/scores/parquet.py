"""Scores in one Parquet file: a long table ``clip onset offset class…``, one row per frame."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.choices import Gaps, refuse_oversized
from ...data.clip_scores import ClipScores
from ...data.score_sources import CLIP_COLUMNS, TIME_COLUMNS, clip_from_table
from ...data.scores import Scores
from ...errors import SedscopeError, listing, subject
from ..parquet_files import check_parquet, reading_parquet, write_parquet
from .format import ScoreFormat, ScoreReadOptions, starts_with

if TYPE_CHECKING:
    import polars

_BLOCK_ROWS = 100_000
_BLOCKS_KEPT = 4


def recognise(path: Path) -> bool:
    """Look for a Parquet file with the columns of a long table."""
    return starts_with(path, b"PAR1") and _is_long_table(_columns(path))


def _columns(path: Path) -> list[str]:
    import polars

    check_parquet(path)
    with reading_parquet(path):
        return list(polars.read_parquet_schema(path))


def _is_long_table(columns: list[str]) -> bool:
    return (
        columns[:1] != []
        and columns[0] in CLIP_COLUMNS
        and columns[1:3] == TIME_COLUMNS
        and (len(columns) > 3 and "event_label" not in columns)
    )


def read(path: Path, options: ScoreReadOptions) -> Scores:
    """Read the scores of a table. Blocks of clips are read when they are needed."""
    columns = _columns(path)
    if not _is_long_table(columns):
        raise SedscopeError(
            f"{path}: a long table has the columns clip, onset, offset and one per class, but this one "
            f"has {listing([repr(name) for name in columns])}."
        )
    clip_rows, blocks = _clip_rows(path, columns[0])
    classes = columns[3:]
    kept: dict[int, _Block] = {}
    lock = threading.Lock()

    def block(number: int) -> _Block:
        with lock:
            if number not in kept:
                while len(kept) >= _BLOCKS_KEPT:
                    kept.pop(next(iter(kept)))
                first, last = blocks[number]
                kept[number] = _Block(_rows(path, first, last - first).drop(columns[0]), classes)
            return kept[number]

    def load(clip: str) -> ClipScores:
        number, first, frames = clip_rows[clip]
        where = f"{path}, clip {clip}"
        return block(number).clip(first - blocks[number][0], frames, where, options.gaps)

    return Scores(clip_rows, load, classes=classes, thread_safe=True)


class _Block:
    """The frames of some clips."""

    def __init__(self, rows: Any, classes: Sequence[str]) -> None:
        import polars

        self.rows, self.classes = rows, classes
        types = set(rows.dtypes[2:])
        self.plain = types in ({polars.Float32}, {polars.Float64}) and not any(
            column.null_count() for column in rows
        )
        if self.plain:
            self.values = rows[list(classes)].to_numpy(
                order="c"
            )  # a list, so that names are not taken for patterns
            self.onsets, self.offsets = rows["onset"].to_numpy(), rows["offset"].to_numpy()

    def clip(self, first: int, frames: int, where: str, gaps: Gaps) -> ClipScores:
        """Return the frames of one clip. Blocks with unusual columns are read column by column."""
        span = slice(first, first + frames)
        if self.plain:
            try:
                return ClipScores.from_frames(
                    self.values[span], self.onsets[span], self.offsets[span], gaps=gaps
                )
            except SedscopeError as error:
                raise SedscopeError(f"{where}: {error}") from None
        rows = self.rows.slice(first, frames)
        if frames == 1 and rows["onset"].null_count():
            return ClipScores.from_frames(np.empty((0, len(self.classes)), _type_of(rows)), [], [])
        empty = [name for name in rows.columns if rows[name].null_count()]
        if empty:
            raise SedscopeError(
                f"{where}: {subject(len(empty), 'column', 'lacks')} values: {listing(empty)}."
            )
        return clip_from_table(rows, self.classes, where, gaps)


def _type_of(rows: Any) -> Any:
    import polars

    return np.float32 if rows.dtypes[2] == polars.Float32 else np.float64


def _rows(path: Path, first: int, number: int) -> Any:
    import polars

    with reading_parquet(path):
        return polars.scan_parquet(path).slice(first, number).collect()


def _clip_rows(path: Path, column: str) -> tuple[dict[str, tuple[int, int, int]], list[tuple[int, int]]]:
    """Return the block, first row and number of rows of each clip, and the rows of each block."""
    import polars

    with reading_parquet(path):
        table = polars.scan_parquet(path)
        refuse_oversized(
            16 * table.select(polars.len()).collect().item(), path.stat().st_size, str(path)
        )
        runs = table.select(column).collect()[column].cast(polars.String).rle()
    clip_rows: dict[str, tuple[int, int, int]] = {}
    blocks: list[tuple[int, int]] = []
    scattered: list[str] = []
    row = start = 0
    for run in runs.to_list():
        clip, rows = run["value"], run["len"]
        if clip is None:
            raise SedscopeError(f"{path}: row {row} names no clip.")
        if clip in clip_rows:
            scattered.append(clip)
        clip_rows[clip] = len(blocks), row, rows
        row += rows
        if row - start >= _BLOCK_ROWS:
            blocks.append((start, row))
            start = row
    blocks.append((start, row))
    if scattered:
        raise SedscopeError(
            f"{path}: the rows of a clip must be next to each other: {listing(scattered)}."
        )
    return clip_rows, blocks


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

    write_parquet(path, table, row_group_size=_BLOCK_ROWS)


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
        about="one Parquet file: a long table clip onset offset class…",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"clips without frames"}),
        suffixes=(".parquet",),
    ),
)
