"""A folder of tab-separated DCASE score tables ``onset offset class…``.

A table has one row per frame. There is one table per clip.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import numpy as np

from ..._native import number_table
from ...data.arrays import FloatArray
from ...data.frames import TIME_COLUMNS, check_same_classes, header_classes
from ...data.score_arrays import ClipScores
from ...data.scores import Scores
from ...errors import SedscopeError, listing, raise_together
from ..atomic_write import filling, replacing
from ..locations import Location, folder_files, utf8_name
from ..polars_threads import require_polars_threads
from ..text_tables import numbers, read_bytes, read_text_table, split_header
from .format import ScoreFormat, ScoreReadOptions

_MOST_ERRORS = 20


def recognise(path: Location) -> bool:
    """Look for a folder with tables that do not begin like a list of events."""
    first = next(iter(_tables(path)), None)
    if first is None:
        return False
    try:
        return "event_label" not in split_header(read_bytes(first), first)[0]
    except SedscopeError:
        return True  # reading says what is wrong


def read(path: Location, _: ScoreReadOptions) -> Scores:
    """Read a folder of score tables, one per clip, named after the clip."""
    if not path.is_dir():
        raise SedscopeError(f"{path} is not a folder of score tables.")
    files = _tables(path)
    if not files:
        raise SedscopeError(f"{path} holds no score tables (*.tsv).")
    classes = _first_classes(files)
    load = partial(_load, path, classes)
    return Scores(
        [utf8_name(file, file.stem) for file in files], load, classes=classes, thread_safe=True
    )


def _tables(folder: Location) -> list[Location]:
    return folder_files(folder, lambda name: fnmatch(name, "*.tsv"))


def _files_of_clip(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.tsv"]


def _load(folder: Location, classes: Sequence[str], name: str) -> ClipScores:
    return read_score_table(folder / f"{name}.tsv", classes)


def read_score_table(file: Location, classes: Sequence[str]) -> ClipScores:
    """Read the scores of a clip, with the columns in the order of the classes."""
    content = read_bytes(file)
    header, start = split_header(content, file)
    labels = header_classes(header, str(file))
    check_same_classes(labels, classes, str(file))
    if len(content) == start:
        return ClipScores.from_frames(np.empty((0, len(classes))), [], [])
    table = number_table(content, start, len(header))
    if table is None:
        table = _parse_slowly(file)
    column = {label: 2 + k for k, label in enumerate(labels)}
    columns = [column[label] for label in classes]
    in_order = columns == list(range(2, len(header)))
    try:
        return ClipScores.from_frames(
            table[:, 2:] if in_order else table[:, columns], table[:, 0], table[:, 1]
        )
    except SedscopeError as error:
        raise SedscopeError(f"{file}: {error}") from None


def _parse_slowly(file: Location) -> FloatArray:
    """Read a table that the core does not read, and say what is wrong with it if anything is."""
    table = read_text_table(file)
    columns = numbers(table, range(len(table.header)))
    return np.stack([np.array(column, np.float64) for column in columns], axis=1)


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write a folder of score tables, with as few digits as read back exactly."""
    import polars

    require_polars_threads(path)
    unfit = [repr(name) for name in scores.classes if name in TIME_COLUMNS or "\n" in name]
    if unfit:
        raise SedscopeError(f"A score table cannot have classes named {listing(unfit)}.")
    with filling(path) as folder:
        for clip, clip_scores in clips:
            edges = clip_scores.edges
            columns = {"onset": edges[:-1], "offset": edges[1:]}
            columns |= dict(zip(scores.classes, clip_scores.values.T, strict=True))
            with replacing(folder / f"{clip}.tsv") as temporary, temporary.open("wb") as file:
                polars.DataFrame(columns).write_csv(file, separator="\t")


def _first_classes(files: Collection[Location]) -> tuple[str, ...]:
    """Return the classes of the first table. If it is broken, say what is wrong with all broken ones."""
    errors = []
    for file in files:
        try:
            classes = header_classes(split_header(read_bytes(file), file)[0], str(file))
        except SedscopeError as error:
            errors.append(error)
        else:
            if not errors:
                return classes
        if len(errors) >= _MOST_ERRORS:
            break
    raise_together(errors)
    raise AssertionError("There is at least one file.")


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
