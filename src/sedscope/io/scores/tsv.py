"""A folder of tab-separated DCASE score tables ``onset offset class…``.

A table has one row per frame. There is one table per clip. If its scores are float32, the name of the
second column is in quotes, which other programs ignore: ``onset "offset" class…``. The numbers have as few
digits as are needed to read the same float32.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from ..._native import number_table, number_table_of_file
from ...data.arrays import FloatArray, ScoreArray
from ...data.choices import Gaps
from ...data.clip_scores import ClipScores
from ...data.scores import TIME_COLUMNS, Scores, ScoreSource, check_same_classes, header_classes
from ...data.times import FrameError, Ticks, frame_times, join_frames, to_ticks, warn_of_milliseconds
from ...errors import SedscopeError, SedscopeWarning, listing, raise_together
from ..atomic_write import check_file_names, filling, replacing
from ..locations import Location, folder_files, utf8_name
from ..parquet_files import require_polars_threads
from ..text_tables import numbers, read_bytes, read_text_table, split_header
from .format import ScoreFormat, ScoreReadOptions

_MOST_ERRORS = 20
# headers of more bytes and boundaries of more frames are not kept for other tables
_SHARED_BYTES, _SHARED_FRAMES = 2**14, 2**14
_BYTES_AT_ONCE = 64 * 2**20  # larger files are looked at before they are read
_FLOAT64_START, FLOAT32_START = b"onset\toffset\t", b'onset\t"offset"\t'
_FRAMES_LOOKED_AT = 20
_LABEL_COLUMNS = {"event_label", "eventType"}  # of lists of events


def recognise(path: Location) -> bool:
    """Look for a folder with tables that do not begin like a list of events."""
    first = next(_tables(path), None)
    if first is None:
        return False
    try:
        return not _LABEL_COLUMNS & set(split_header(read_bytes(first), first)[0])
    except SedscopeError:
        return True  # reading says what is wrong


def read(path: Location, options: ScoreReadOptions) -> Scores:
    """Read a folder of score tables, one per clip, named after the clip."""
    if not path.is_dir():
        raise SedscopeError(f"{path} is not a folder of score tables.")
    files = [*_tables(path)]
    if not files:
        raise SedscopeError(f"{path} holds no score tables (*.tsv).")
    first = _first_table(files)
    if not first.complete:
        warnings.warn(
            f"{files[0]} does not end with a line break, so sedscope cannot tell whether the last numbers "
            "of these score tables were cut off. End each line of a table with a line break.",
            SedscopeWarning,
            stacklevel=4,
        )
    if first.boundaries is not None:
        warn_of_milliseconds(first.boundaries, str(files[0]))
    load = partial(_load, path, first, options.gaps)
    source = ScoreSource(load, first.classes, thread_safe=True, locate=partial(_frame_locations, path))
    return Scores._of([utf8_name(file, file.stem) for file in files], source)


def _tables(folder: Location) -> Iterator[Location]:
    return folder_files(folder, lambda name: fnmatch(name, "*.tsv"))


def _files_of_clip(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.tsv"]


def _load(folder: Location, first: _FirstTable, gaps: Gaps, name: str) -> ClipScores:
    return _read_score_table(folder / f"{name}.tsv", first, gaps)


def _frame_locations(folder: Location, name: str) -> list[str]:
    """Return the file and line of each frame of a clip. A gap has those of the frame after it."""
    file = folder / f"{name}.tsv"
    table, lines = _parse_slowly(file)
    _, before = join_frames(frame_times(table[:, 0]), frame_times(table[:, 1]), "silent")
    frame_lines = np.insert(np.asarray(lines), before, np.asarray(lines)[before])
    return [f"{file}:{line}" for line in frame_lines.tolist()]


@dataclass(frozen=True)
class _FirstTable:
    """What the first table of a folder tells about the others, which are nearly always alike."""

    first_line: bytes
    classes: tuple[str, ...]
    complete: bool
    """Whether it ends with a line break."""
    boundaries: Ticks | None
    """Where its first frames begin; None if that is not a number."""


def _read_score_table(file: Location, first: _FirstTable, gaps: Gaps) -> ClipScores:
    """Read the scores of a clip, with the columns in the order of the classes."""
    table, first_line, lines = _read_numbers(file, first)
    layout = _layout_of(first_line, first.classes, file)
    values: ScoreArray = table[:, 2:] if layout.order is None else table[:, layout.order]
    if first_line.startswith(FLOAT32_START):
        values = _in_single_precision(values, file)
    ticks = _shared_boundaries(table[:, :2].tobytes()) if len(table) <= _SHARED_FRAMES else None
    if ticks is not None:
        return ClipScores.unchecked(values, ticks)

    def line(row: int) -> int:
        return row + 2 if lines is None else lines[row]

    try:
        return ClipScores.from_named_frames(
            values, table[:, 0], table[:, 1], gaps, lambda row: f"line {line(row)}"
        )
    except FrameError as error:
        located = [f"{file}:{line(row)}: {problem}" for row, problem in error.problems]
        raise SedscopeError(f"{file}: {error}", lines=located, advice=error.advice) from None
    except SedscopeError as error:
        raise SedscopeError(f"{file}: {error}") from None


def _read_numbers(file: Location, first: _FirstTable) -> tuple[FloatArray, bytes, Sequence[int] | None]:
    """Return the numbers of a table, its first line, and the line of each row.

    The lines are None if they follow each other, from the second one on.
    """
    columns = 2 + len(first.classes)
    read = (
        number_table_of_file(file, first.first_line, columns, _BYTES_AT_ONCE)
        if isinstance(file, Path) and first.first_line.endswith(b"\n")
        else None
    )
    if read is not None and len(read[0]) > 0 and read[1] == first.complete:
        return read[0], first.first_line, None
    content = read_bytes(file)
    first_line = _first_line(content)
    layout = _layout_of(first_line, first.classes, file)
    table, lines = number_table(content, len(first_line), layout.columns), None
    if table is None:
        table, lines = _parse_slowly(file)
    if len(table) == 0:
        raise SedscopeError(
            f"{file}: the score table has no rows below its header. It needs a row for each frame."
        )
    if _is_complete(content) != first.complete:
        raise _cut_off(file, content, first.complete)
    return table, first_line, lines


def _first_line(content: bytes) -> bytes:
    return content[: content.find(b"\n") + 1] or content


@dataclass(frozen=True)
class _Layout:
    """What the header of a table says."""

    columns: int
    order: list[int] | None
    """The column of each class; None if the classes are in order."""


def _layout(first_line: bytes, classes: Sequence[str], file: Location) -> _Layout:
    header, _ = split_header(first_line, file)
    labels = header_classes(header, str(file))
    check_same_classes(labels, classes, str(file))
    column = {label: 2 + k for k, label in enumerate(labels)}
    order = [column[label] for label in classes]
    return _Layout(len(header), None if order == list(range(2, len(header))) else order)


def _layout_of(first_line: bytes, classes: tuple[str, ...], file: Location) -> _Layout:
    shared = _shared_layout(first_line, classes) if len(first_line) <= _SHARED_BYTES else None
    return shared or _layout(first_line, classes, file)


@lru_cache(maxsize=16)
def _shared_layout(first_line: bytes, classes: tuple[str, ...]) -> _Layout | None:
    """Return the layout, which nearly all tables of a folder share. None if it is refused."""
    try:
        return _layout(first_line, classes, Path())
    except SedscopeError:
        return None


@lru_cache(maxsize=16)
def _shared_boundaries(times: bytes) -> Ticks | None:
    """Return the boundaries of frames, which many clips share, as a read-only array.

    ``times``: (frames × 2) the onset and offset of each frame. The result is None if there are gaps, or if
    the frames are refused.
    """
    onsets, offsets = np.frombuffer(times, np.float64).reshape(-1, 2).T
    try:
        ticks, _ = join_frames(frame_times(onsets), frame_times(offsets), "error")
    except SedscopeError:
        return None
    ticks.flags.writeable = False
    return ticks


def _in_single_precision(values: ScoreArray, file: Location) -> ScoreArray:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if np.isfinite(single).all():
        return single
    too_large = np.isinf(single) & ~np.isinf(values)
    if too_large.any():
        raise SedscopeError(
            f"{file}: the table has scores in single precision, but {values[too_large][0]:g} is too large "
            "for that."
        )
    return single


def _is_complete(content: bytes) -> bool:
    return content.endswith((b"\n", b"\r"))


def _cut_off(file: Location, content: bytes, complete: bool) -> SedscopeError:
    """Say that either this table or the first one of the folder may be cut off."""
    if not complete:
        return SedscopeError(
            f"{file} ends with a line break, but the first table of the folder does not, so the last "
            "number of that one may be cut off. Write it again, or add the line break if it is complete."
        )
    line = content.count(b"\n") + 1
    problem = (
        "the last one, does not end with a line break as in the first table of the folder, so its last "
        "number may be cut off."
    )
    advice = "Write the table again, or add the line break if it is complete."
    return SedscopeError(
        f"{file}: line {line}, {problem} {advice}",
        lines=[f"{file}:{line}: this line, {problem.removesuffix('.')}"],
        advice=advice,
    )


def _parse_slowly(file: Location) -> tuple[FloatArray, Sequence[int]]:
    """Read a table that the core does not read, and say what is wrong with it if anything is.

    Return the numbers, and the line of each row.
    """
    table = read_text_table(file)
    columns = numbers(table, range(len(table.header)))
    return np.stack([np.array(column, np.float64) for column in columns], axis=1), table.lines


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write a folder of score tables, with as few digits as read back exactly."""
    require_polars_threads(path)
    unfit = [repr(name) for name in scores.classes if name in TIME_COLUMNS or "\n" in name]
    if unfit:
        raise SedscopeError(f"A score table cannot have classes named {listing(unfit)}.")
    check_file_names(scores, path)
    with filling(path) as folder:
        for clip, clip_scores in clips:
            content = _table(clip_scores.edges, clip_scores.values, scores.classes)
            if clip_scores.values.dtype == np.float32 and not _reads_back(content, clip_scores.values):
                # the shortest digits are within the last bit of a float64 from the next float32
                content = _table(
                    clip_scores.edges, clip_scores.values.astype(np.float64), scores.classes
                )
                content = FLOAT32_START + content.removeprefix(_FLOAT64_START)
            with replacing(folder / f"{clip}.tsv") as temporary:
                temporary.write_bytes(content)


def _table(edges: FloatArray, values: ScoreArray, classes: Sequence[str]) -> bytes:
    """Return the text of a table."""
    import polars

    columns = {"onset": edges[:-1], "offset": edges[1:], **dict(zip(classes, values.T, strict=True))}
    content = polars.DataFrame(columns).write_csv(separator="\t").encode()
    is_float32 = values.dtype == np.float32
    return FLOAT32_START + content.removeprefix(_FLOAT64_START) if is_float32 else content


def _reads_back(content: bytes, values: ScoreArray) -> bool:
    """Return whether the numbers of a table, read as float64, become the same float32."""
    table = number_table(content, content.index(b"\n") + 1, 2 + values.shape[1])
    return table is not None and np.array_equal(table[:, 2:].astype(np.float32), values, equal_nan=True)


def _first_table(files: Collection[Location]) -> _FirstTable:
    """Look at the first table.

    If it is broken, say what is wrong with all broken ones.
    """
    errors = []
    for file in files:
        try:
            content = read_bytes(file)
            classes = header_classes(split_header(content, file)[0], str(file))
        except SedscopeError as error:
            errors.append(error)
        else:
            if not errors:
                boundaries = _first_boundaries(content)
                return _FirstTable(_first_line(content), classes, _is_complete(content), boundaries)
        if len(errors) >= _MOST_ERRORS:
            break
    raise_together(errors)
    raise AssertionError("There is at least one file.")


def _first_boundaries(content: bytes) -> Ticks | None:
    """Return where the first frames begin; None if that is not a number, which is refused later."""
    rows = content.split(b"\n", _FRAMES_LOOKED_AT + 1)[1 : _FRAMES_LOOKED_AT + 1]
    try:
        return to_ticks([float(row.split(b"\t", 1)[0]) for row in rows if row.strip()])
    except ValueError:
        return None


FORMATS = (
    ScoreFormat(
        name="tsv",
        about="a folder of tab-separated DCASE score tables onset offset class…, one per clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"types that differ"}),
        load_pickles=True,
        files_of_clip=_files_of_clip,
    ),
)
