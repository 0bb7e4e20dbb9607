"""Data frames of pandas, polars or pyarrow, and score tables given as data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import SedscopeError, listing
from .choices import Gaps
from .score_arrays import ClipScores, as_scores

if TYPE_CHECKING:
    from narwhals import DataFrame

FrameLike: TypeAlias = Any
"""A frame of pandas, polars or pyarrow, or a mapping of columns. narwhals finds out which."""

TIME_COLUMNS = ["onset", "offset"]


def as_frame(table: FrameLike, where: str) -> DataFrame[Any]:
    """Wrap a frame, or a mapping of columns, with narwhals."""
    import narwhals

    try:
        if isinstance(table, Mapping):
            import polars

            table = polars.DataFrame(dict(table), strict=False)
        frame: DataFrame[Any] = narwhals.from_native(table, eager_only=True)
        frame.columns  # noqa: B018  # raises if a name occurs twice
        return frame
    except (TypeError, ValueError, narwhals.exceptions.NarwhalsError) as error:
        raise SedscopeError(
            f"{where}: expected a pandas, polars or pyarrow table, not {type(table).__name__}: {error}"
        ) from None


def table_classes(table: FrameLike, where: str) -> tuple[str, ...]:
    """Return the classes of a score table ``onset offset class…``."""
    return header_classes(as_frame(table, where).columns, where)


def clip_from_table(
    table: FrameLike, classes: Sequence[str], where: str, gaps: Gaps = "error"
) -> ClipScores:
    """Make the scores of a clip from a score table, with the columns in the order of the classes."""
    frame = as_frame(table, where)
    check_same_classes(header_classes(frame.columns, where), classes, where)
    if len(frame) == 0:
        raise SedscopeError(f"{where}: the score table has no rows. It needs a row for each frame.")
    try:
        values = [frame[label].to_numpy() for label in classes]
        floats = [column if column.dtype == np.float32 else as_scores(column) for column in values]
        dtype = np.result_type(*(column.dtype for column in floats))
        array = np.stack([column.astype(dtype, copy=False) for column in floats], axis=1)
        onsets, offsets = (frame[name].to_numpy() for name in TIME_COLUMNS)
        return ClipScores.from_frames(array, onsets, offsets, gaps=gaps)
    except SedscopeError as error:
        raise SedscopeError(f"{where}: {error}", advice=error.advice) from None


def header_classes(header: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the classes that the header of a score table names."""
    if list(header[:2]) != TIME_COLUMNS or len(header) < 3:
        raise SedscopeError(
            f"{where}: a score table has the columns onset, offset and one per class, but this one has "
            f"{listing([repr(name) for name in header])}.{_separator_hint(header)}"
        )
    if "" in header:
        raise SedscopeError(
            f"{where}: a column has no name. The columns are {listing([repr(name) for name in header])}."
        )
    return tuple(header[2:])


def _separator_hint(header: Sequence[str]) -> str:
    """Say that the columns must be separated by tabs, if the only name looks like several."""
    names = {",": "commas", ";": "semicolons", " ": "spaces"}
    for separator, name in names.items():
        if len(header) == 1 and header[0].startswith(f"onset{separator}"):
            return f" Separate the columns by tabs, not by {name}."
    return ""


def check_same_classes(classes: Sequence[str], expected: Sequence[str], where: str) -> None:
    """Refuse a score table whose classes differ from those of the first one."""
    actual_set, expected_set = set(classes), set(expected)
    missing = [label for label in expected if label not in actual_set]
    unknown = [name or repr(name) for name in classes if name not in expected_set]
    if missing or unknown:
        differences = [f"it lacks {listing(missing)}"] if missing else []
        differences += [f"it adds {listing(unknown)}"] if unknown else []
        raise SedscopeError(
            f"{where}: the classes differ from those of the first clip: {' and '.join(differences)}."
        )
