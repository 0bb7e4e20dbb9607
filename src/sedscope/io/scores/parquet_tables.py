"""Tables of scores: what their columns are, where the rows of each clip are, and its scores.

A table is wide (a row per frame, a column per class), long (a row per frame and class), or has the scores of
a frame in one column of lists. It lies in one file or in many, in any partition. The rows of a clip may
begin and end anywhere. They are read by row group, and only the last few blocks of rows are kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import FloatArray, ScoreArray
from ...data.choices import refuse_oversized
from ...data.clip_scores import ClipScores
from ...data.scores import CLIP_COLUMNS
from ...data.times import Ticks
from ...errors import SedscopeError, listing, located, subject
from ..locations import Address, Location, with_address
from ..parquet_files import check_parquet, reading_parquet
from .format import ScoreReadOptions

if TYPE_CHECKING:
    import polars


_NAMES = {
    "clip": CLIP_COLUMNS,
    "onset": ("onset",),
    "offset": ("offset",),
    "frame": ("frame",),
    "label": ("label", "event_label", "class"),
    "score": ("score", "probability"),
}
"""What columns are called that have a role, unless the user names them."""


@dataclass(frozen=True)
class TableLayout:
    """Which columns of a table have which role."""

    clip: str
    onset: str | None
    """None if frames are numbered."""
    offset: str | None
    """None if the length of frames is given."""
    frame: str | None
    classes: tuple[str, ...]
    """Those of a wide table, in the order of its columns, or those that the user gave."""
    label: str | None = None
    score: str | None = None
    """Of a long table."""
    lists: str | None = None
    """The column with the scores of all classes."""

    @property
    def columns(self) -> list[str]:
        """The columns that clips are made of."""
        times = [self.onset or self.frame, self.offset]
        scores = [self.label, self.score, self.lists]
        named = [name for name in (*times, *scores) if name is not None]
        return named if self.label or self.lists else [*named, *self.classes]


def table_layout(
    schema: Mapping[str, Any], where: object, options: ScoreReadOptions, constant: Mapping[str, str]
) -> TableLayout:
    """Decide what the columns of a table are. Refuse others, and say how to name them.

    ``constant``: what the folders of a partitioned table say of all rows of a file.
    """
    import polars

    named = dict(options.columns)
    unknown = [repr(role) for role in named if role not in (*_NAMES, "scores")]
    absent = [repr(name) for name in named.values() if name not in schema and name not in constant]
    if unknown or absent:
        problem = f"no role {listing(unknown)}" if unknown else f"no column {listing(absent)}"
        raise _misfit(where, schema, f"There is {problem}.")

    def column(role: str) -> str | None:
        names = [named[role]] if role in named else _NAMES[role]
        return next((name for name in names if name in schema or name in constant), None)

    clip, onset, offset, frame = (column(role) for role in ("clip", "onset", "offset", "frame"))
    label, score = column("label"), column("score")
    lists = [name for name, kind in schema.items() if isinstance(kind, (polars.List, polars.Array))]
    lists = [named["scores"]] if "scores" in named else lists
    frame = frame if onset is None and options.frame is not None else None
    if clip is None:
        raise _misfit(where, schema, "No column is known to be the clip.")
    if offset is None and options.frame is None:
        raise _misfit(
            where, schema, "There is no offset of frames. Give frame=, their length in seconds."
        )
    if onset is None and frame is None:
        raise _misfit(where, schema, "No column is known to be the onset of frames.")
    if offset is not None and options.frame is not None:
        raise _misfit(where, schema, "The table has offsets, so frame= cannot be given.")
    layout = TableLayout(clip, onset, offset, frame, tuple(options.classes or ()))
    if len(lists) == 1:
        if not layout.classes:
            raise _misfit(where, schema, f"Give classes=, one for each score in {lists[0]!r}.")
        return replace(layout, lists=lists[0])
    if label is not None and score is not None and not schema[label].is_numeric():
        return replace(layout, label=label, score=score)
    roles = (clip, onset, offset, frame)
    others = layout.classes or tuple(name for name in schema if name not in roles)
    odd = [name for name in others if name not in schema or not schema[name].is_numeric()]
    if odd or not others:
        names = listing([repr(name) for name in odd])
        reason = f"These columns are not scores: {names}." if odd else "There are no scores."
        raise _misfit(where, schema, f"{reason} Give classes=, the columns that are.")
    return replace(layout, classes=others)


def _has_role(schema: Mapping[str, Any], role: str) -> bool:
    return any(name in schema for name in _NAMES[role])


def looks_like_scores(schema: Mapping[str, Any], constant: Mapping[str, str], *, alone: bool) -> bool:
    """Return whether columns look like scores of frames, not like events.

    ``constant``: as for :func:`table_layout`. ``alone``: whether it is the only file. Then labels are those
    of events, whose table has the same columns.
    """
    import polars

    labelled, scored = _has_role(schema, "label"), _has_role(schema, "score")
    if not _has_role({**schema, **constant}, "clip") or (labelled and (alone or not scored)):
        return False
    if labelled or any(isinstance(kind, (polars.List, polars.Array)) for kind in schema.values()):
        return True
    others = [
        kind for name, kind in schema.items() if name not in (*CLIP_COLUMNS, "onset", "offset", "frame")
    ]
    timed = _has_role(schema, "onset") or _has_role(schema, "frame")
    return timed and bool(others) and all(kind.is_numeric() for kind in others)


def _misfit(where: object, schema: Mapping[str, Any], problem: str) -> SedscopeError:
    """Return an error that shows the schema, and the option that names columns."""
    columns = listing([f"{name} ({kind})" for name, kind in schema.items()], limit=12)
    return SedscopeError(
        f"{where} is not a table of scores. {problem} Its columns are {columns}. A wide table has the "
        "columns clip, onset, offset and one per class; a long one clip, onset, offset, label and score; or "
        "the scores of all classes are one column of lists. Name other columns with "
        "`columns={'clip': …, 'onset': …, 'offset': …, 'frame': …, 'label': …, 'score': …, 'scores': …}`."
    )


_BLOCK_BYTES = 48 * 2**20  # of scores, unless a row group has more
_BLOCKS_KEPT = 3
_MOST_BLOCKS = 8  # over which the rows of a clip may be spread

Runs = list[tuple[int, int, int]]
"""The rows of a clip: per run of them, the file, the first row and the one after the last."""


class TableFile:
    """One file of a table."""

    kind = "Parquet file"

    def __init__(self, file: Location) -> None:
        self.file: Any = file
        self.constant = {
            key: unquote(value)
            for key, mark, value in (part.partition("=") for part in str(file).split("/")[:-1])
            if mark
        }
        """What the names of its folders say, such as ``site=north``."""

    @property
    def _local(self) -> Any:
        return self.file.copy if isinstance(self.file, Address) else self.file

    @cached_property
    def groups(self) -> list[int]:
        """Check the file, and return the number of rows of each row group."""
        try:
            return check_parquet(self._local)
        except SedscopeError as error:
            raise with_address(error, self.file) from None

    def layout(self, options: ScoreReadOptions) -> TableLayout:
        """Decide what its columns are."""
        return table_layout(self.schema(), self.file, options, self.constant)

    def schema(self) -> dict[str, Any]:
        """Return the types of its columns."""
        import polars

        _ = self.groups  # which checks the file
        with reading_parquet(self.file):
            return dict(polars.read_parquet_schema(self._local))

    def texts(self, name: str) -> Iterator[polars.Series]:
        """Read a column of names, in one part or several."""
        import polars

        rows = sum(self.groups)
        if name in self.constant:
            yield polars.repeat(self.constant[name], rows, eager=True)
            return
        refuse_oversized(16 * rows, self._local.stat().st_size, str(self.file))
        yield self.rows([name], 0, rows)[name].cast(polars.String)

    def rows(self, columns: Sequence[str], first: int, last: int) -> polars.DataFrame:
        """Read some rows of some columns."""
        import polars
        from polars.selectors import by_name

        with reading_parquet(self.file):
            table = polars.scan_parquet(self._local, glob=False, hive_partitioning=False)
            return table.slice(first, last - first).select(by_name(*columns)).collect()

    def close(self) -> None:
        """Free what was read but not needed yet."""

    def blocks(self, rows_together: int) -> NDArray[np.int64]:
        """Return where blocks of whole row groups begin, and the end of the last one."""
        ends = np.cumsum(self.groups, dtype=np.int64)
        bounds = [0]
        for end in ends.tolist():
            if end - bounds[-1] >= rows_together or end == ends[-1]:
                bounds.append(end)
        return np.array(bounds, np.int64)

    def runs(self, clip: str) -> list[tuple[str, int, int]]:
        """Return the runs of rows of one clip: the clip, the first row, and the one after the last."""
        runs, row = list[tuple[str, int, int]](), 0
        for texts in self.texts(clip):
            for name, rows in texts.rle().struct.unnest().select("value", "len").iter_rows():
                if name is None:
                    raise SedscopeError(f"{self.file}: row {row} names no clip.")
                runs.append((name, row, row := row + rows))
        return runs


class ScoreTables:
    """The clips of a table in one or more files."""

    def __init__(self, files: Sequence[TableFile], options: ScoreReadOptions) -> None:
        self._files = files
        self._options = options
        layout = self._files[0].layout(options)
        self.clips: dict[str, Runs] = {}
        labels: dict[str, None] = {}
        for number, file in enumerate(self._files):
            of_file = layout if number == 0 else file.layout(options)
            if {*of_file.columns} != {*layout.columns}:
                differing = {*of_file.columns} ^ {*layout.columns}
                raise SedscopeError(
                    f"{file.file} has other columns than {self._files[0].file}: {listing(sorted(differing))}."
                )
            for clip, first, last in file.runs(of_file.clip):
                self.clips.setdefault(clip, []).append((number, first, last))
            if layout.label is not None and not layout.classes:
                for texts in file.texts(layout.label):
                    labels |= dict.fromkeys(texts.unique(maintain_order=True))
        if layout.label is not None and not layout.classes:
            layout = replace(layout, classes=tuple(sorted(str(label) for label in labels)))
        self.layout = layout
        width = 12 if layout.label else 4 * len(layout.classes)
        self._bounds = [file.blocks(max(1, _BLOCK_BYTES // width)) for file in self._files]
        self._kept: dict[tuple[int, int], _Block] = {}
        self._latest = self._files[0]
        self._lock = threading.Lock()
        none = np.empty(0)
        self._grid: tuple[tuple[FloatArray, FloatArray], Ticks] = (none, none), np.zeros(1, np.int64)
        """The times of the frames of the last clip, which are mostly those of the next one."""

    def load(self, clip: str) -> ClipScores:
        """Return the scores of a clip."""
        pieces = [piece for run in self.clips[clip] for piece in self._pieces(*run)]
        where = f"{self._files[self.clips[clip][0][0]].file}, clip {clip}"
        if len({piece[:2] for piece in pieces}) > _MOST_BLOCKS:
            raise SedscopeError(
                f"{where}: its rows are spread over more than {_MOST_BLOCKS} blocks of rows, so that all of "
                "these would be read for each clip. Sort the table by clip."
            )
        blocks = [(self._block(file, block), span) for file, block, span in pieces]
        with located(where):
            return self._clip(_joined([block.rows(span) for block, span in blocks]))

    def _clip(self, rows: _Block) -> ClipScores:
        """Make a clip of its rows, which come in any order."""
        layout, options = self.layout, self._options
        if rows.labels is not None:
            rows = _frames_of_long(rows, len(layout.classes))
        if len(rows.onsets) == 1 and np.isnan(rows.onsets[0]):  # stands for a clip without frames
            return ClipScores.from_frames(rows.values[:0].reshape(0, len(layout.classes)), [], [])
        timeless = int(np.isnan(rows.onsets).sum())
        if timeless:
            raise SedscopeError(f"{subject(timeless, 'row', 'has')} no time.")
        values = rows.values.copy(order="K")  # which do not keep the whole block in memory
        rows = replace(rows, values=values)
        if (rows.onsets[1:] < rows.onsets[:-1]).any():
            rows = rows.rows(np.argsort(rows.onsets, kind="stable"))
        onsets, offsets = rows.onsets, rows.offsets
        if layout.onset is None:
            onsets = onsets * np.float64(options.frame or 0)
        if offsets is None:
            offsets = onsets + np.float64(options.frame or 0)
        same, ticks = self._grid
        if np.array_equal(same[0], onsets) and np.array_equal(same[1], offsets):
            return ClipScores.unchecked(rows.values, ticks)
        clip = ClipScores.from_frames(rows.values, onsets, offsets, gaps=options.gaps)
        if len(clip.values) == len(onsets):  # without gaps
            self._grid = (onsets.copy(), offsets.copy()), clip.ticks
        return clip

    def _pieces(self, file: int, first: int, last: int) -> list[tuple[int, int, slice]]:
        """Return the blocks that rows lie in, and which of their rows they are."""
        bounds = self._bounds[file]
        begin, end = np.searchsorted(bounds, [first, last - 1], side="right") - 1
        pieces = []
        for block in range(int(begin), int(end) + 1):
            start, stop = max(first, int(bounds[block])), min(last, int(bounds[block + 1]))
            pieces.append((file, block, slice(start - int(bounds[block]), stop - int(bounds[block]))))
        return pieces

    def _block(self, file: int, number: int) -> _Block:
        with self._lock:
            block = self._kept.pop((file, number), None)
            if block is None:
                while len(self._kept) >= _BLOCKS_KEPT:
                    self._kept.pop(next(iter(self._kept)))
                first, last = self._bounds[file][number : number + 2].tolist()
                table = self._files[file]
                if table is not self._latest:
                    self._latest.close()
                    self._latest = table
                with reading_parquet(table.file, table.kind):
                    block = _block(table.rows(self.layout.columns, first, last), self.layout)
            self._kept[file, number] = block  # the last one used comes last
            return block


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows of a table, as arrays."""

    onsets: FloatArray
    offsets: FloatArray | None
    values: ScoreArray
    """(rows × classes), or of long tables (rows)."""
    labels: NDArray[np.integer] | None
    """Of long tables, the index of the class of each row."""

    def rows(self, span: slice | NDArray[np.intp]) -> _Block:
        """Return some of the rows."""
        return _Block(
            self.onsets[span],
            None if self.offsets is None else self.offsets[span],
            self.values[span],
            None if self.labels is None else self.labels[span],
        )


def _block(rows: polars.DataFrame, layout: TableLayout) -> _Block:
    """Turn columns into arrays. The columns of a wide table stay apart, as the core reads them."""
    import polars

    def numbers(name: str) -> FloatArray:
        array: FloatArray = rows[name].cast(polars.Float64).to_numpy()
        return array

    labels = None
    if layout.label is not None:
        assert layout.score is not None
        kinds = polars.Enum(list(layout.classes))
        known = rows[layout.label].cast(polars.String).cast(kinds, strict=False)
        labels = known.to_physical().cast(polars.Int32).fill_null(-1).to_numpy()
        values = _floats(rows[layout.score]).to_numpy()
    elif layout.lists is not None:
        column = rows[layout.lists]
        if isinstance(column.dtype, polars.List):
            lengths = column.list.len().unique().to_list()
            if lengths not in ([len(layout.classes)], []):
                raise ValueError(f"lists of {lengths} scores, not of {len(layout.classes)}")
            column = column.list.to_array(len(layout.classes))
        values = np.asarray(column.to_numpy())
        if values.ndim != 2 or values.shape[1] != len(layout.classes):
            raise ValueError(f"arrays of {values.shape[1:]} scores, not of {len(layout.classes)}")
        values = values if values.dtype == np.float32 else values.astype(np.float64)
    else:
        scores = rows.select(_floats(rows[name]) for name in layout.classes)
        values = scores.to_numpy(order="fortran")
    onsets = numbers(layout.onset or str(layout.frame))
    return _Block(onsets, None if layout.offset is None else numbers(layout.offset), values, labels)


def _floats(column: polars.Series) -> polars.Series:
    """Return float32 as it is, and other numbers as float64."""
    import polars

    return column if column.dtype == polars.Float32 else column.cast(polars.Float64)


def _joined(parts: Sequence[_Block]) -> _Block:
    """Return the rows of several parts of a table."""
    if len(parts) == 1:
        return parts[0]
    offsets = [part.offsets for part in parts if part.offsets is not None]
    labels = [part.labels for part in parts if part.labels is not None]
    return _Block(
        np.concatenate([part.onsets for part in parts]),
        np.concatenate(offsets) if offsets else None,
        np.concatenate([part.values for part in parts]),
        np.concatenate(labels) if labels else None,
    )


def _frames_of_long(rows: _Block, classes: int) -> _Block:
    """Return the frames of a clip in a long table. Each must have one row for each class."""
    assert rows.labels is not None
    if (rows.labels < 0).any():
        raise SedscopeError("a row has no label, or one that is not among the classes.")
    frames, rest = divmod(len(rows.onsets), classes)
    if not rest:
        by_frame = np.arange(len(rows.onsets)).reshape(frames, classes)
        by_class = np.arange(len(rows.onsets)).reshape(classes, frames).T
        for place in (by_frame, by_class):
            labels = rows.labels[place]
            in_order = (labels == labels[:1]).all() and len({*labels[0].tolist()}) == classes
            if in_order and _alike(rows.onsets[place]):
                return _frames_at(rows, place[:, np.argsort(labels[0])])
        in_frames = _rows_in_order(rows, frames, classes)
        if in_frames is not None:
            return _frames_at(rows, in_frames)
    order = np.lexsort((rows.labels, rows.onsets))
    if rest or (rows.labels[order].reshape(frames, classes) != np.arange(classes)).any():
        raise SedscopeError(
            f"a frame lacks a class or has one twice: {len(rows.onsets)} rows, {classes} classes. A long "
            "table needs a row for each frame and class. Detected events are read with `format='table'`."
        )
    return _frames_at(rows, order.reshape(frames, classes))


def _rows_in_order(rows: _Block, frames: int, classes: int) -> NDArray[np.intp] | None:
    """Return the rows of frames that follow each other, with the classes of each in any order; None for
    others."""
    assert rows.labels is not None
    onsets = rows.onsets.reshape(frames, classes)
    if (onsets != onsets[:, :1]).any() or (onsets[1:, 0] <= onsets[:-1, 0]).any():
        return None
    place = (rows.labels.reshape(frames, classes) + classes * np.arange(frames)[:, None]).ravel()
    row_of = np.full(frames * classes, -1)
    row_of[place] = np.arange(len(place))
    if (row_of < 0).any():  # a class lacks
        return None
    return row_of.reshape(frames, classes)


def _frames_at(rows: _Block, place: NDArray[np.intp]) -> _Block:
    """Return frames. ``place``: (frames × classes) the row of each."""
    times = [rows.onsets] if rows.offsets is None else [rows.onsets, rows.offsets]
    if not all(_alike(column[place]) for column in times):
        raise SedscopeError("the rows of a frame have different times.")
    onsets, *offsets = (column[place[:, 0]] for column in times)
    return _Block(onsets, offsets[0] if offsets else None, rows.values[place], None)


def _alike(times: FloatArray) -> bool:
    """Return whether all classes have the same times, or none."""
    return np.array_equal(times, np.broadcast_to(times[:, :1], times.shape), equal_nan=True)
