"""Scores as DCASE score tables: one a clip, ``onset offset class…``, a row a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import number_table
from ..data.frames import as_frame
from ..data.scores import ClipScores, as_scores
from ..errors import SedscopeError, listing
from .locations import Place
from .text_tables import numbers, read_bytes, read_text_table, split_header

TIMES = ["onset", "offset"]


def table_classes(table: Any, where: str) -> tuple[str, ...]:
    """The classes of a score table given as a pandas or polars frame."""
    return header_classes(as_frame(table, where).columns, where)


def clip_from_table(table: Any, classes: Sequence[str], where: str) -> ClipScores:
    """The scores of a clip from a pandas or polars frame."""
    frame = as_frame(table, where)
    _check_classes(header_classes(frame.columns, where), classes, where)
    try:
        values = [frame[label].to_numpy() for label in classes]
        floats = [column if column.dtype == np.float32 else as_scores(column) for column in values]
        dtype = np.result_type(*(column.dtype for column in floats))
        array = np.stack([column.astype(dtype, copy=False) for column in floats], axis=1)
        return ClipScores.from_frames(array, frame["onset"].to_numpy(), frame["offset"].to_numpy())
    except SedscopeError as error:
        raise SedscopeError(f"{where}: {error}") from None


def header_classes(header: Sequence[str], where: str) -> tuple[str, ...]:
    if list(header[:2]) != TIMES or len(header) < 3:
        raise SedscopeError(
            f"{where}: expected the columns onset, offset and one per class, found "
            f"{listing([repr(name) for name in header])}"
        )
    if "" in header:
        raise SedscopeError(f"{where}: a column has no name: {listing([repr(name) for name in header])}")
    return tuple(header[2:])


def _check_classes(found: Sequence[str], expected: Sequence[str], where: str) -> None:
    here, there = set(found), set(expected)
    missing = [label for label in expected if label not in here]
    other = [label for label in found if label not in there]
    if missing or other:
        differences = [f"no {listing(missing)}"] if missing else []
        differences += [f"an unknown {listing([name or repr(name) for name in other])}"] if other else []
        raise SedscopeError(
            f"{where}: classes differ from those of the first clip: {' and '.join(differences)}"
        )


def read_clip(file: Place, classes: Sequence[str]) -> ClipScores:
    """The scores of a clip from a file."""
    content = read_bytes(file)
    header, start = split_header(content, file)
    found = header_classes(header, str(file))
    _check_classes(found, classes, str(file))
    if len(content) == start:
        return ClipScores.from_frames(np.empty((0, len(classes))), [], [])
    table = number_table(content, start, len(header))
    if table is None:
        table = _parse_with_care(file)
    place = {label: 2 + k for k, label in enumerate(found)}
    columns = [place[label] for label in classes]
    in_order = columns == list(range(2, len(header)))
    try:
        return ClipScores.from_frames(
            table[:, 2:] if in_order else table[:, columns], table[:, 0], table[:, 1]
        )
    except SedscopeError as error:
        raise SedscopeError(f"{file}: {error}") from None


def _parse_with_care(file: Place) -> NDArray[np.float64]:
    table = read_text_table(file)
    columns = numbers(table, range(len(table.header)))
    return np.stack([np.array(column, np.float64) for column in columns], axis=1)
