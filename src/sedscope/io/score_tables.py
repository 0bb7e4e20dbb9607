"""Scores as DCASE score tables: one a clip, ``onset offset class…``, a row a frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, listing
from ..scores import ClipScores, Scores
from .files import replacing
from .text_tables import numbers, read_bytes, read_text_table, split_header

_TIMES = ["onset", "offset"]


def read_scores(folder: str | Path) -> Scores:
    """Scores from a folder of tab-separated score tables, one a clip, named after the clip.

    A table is read when its clip is needed; numbers become float64.
    """
    place = Path(folder)
    if not place.is_dir():
        raise SedscopeError(f"{place} is not a folder of score tables")
    files = {file.stem: file for file in sorted(place.glob("*.tsv")) if file.is_file()}
    if not files:
        raise SedscopeError(f"{place} holds no score tables (*.tsv)")
    first = next(iter(files.values()))
    classes = _classes(split_header(read_bytes(first), first)[0], str(first))

    def load(name: str) -> ClipScores:
        return _read_clip(files[name], classes)

    return Scores(files, load, classes=classes, thread_safe=True)


def write_scores(
    scores: Scores, folder: str | Path, *, progress: Callable[[int, int], None] | None = None
) -> None:
    """Write a folder of tab-separated score tables, which :func:`read_scores` reads back exactly.

    The folder must be new or empty. ``progress`` is called with clips done and clips in all.
    """
    import polars

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        filled = any(place.iterdir())
    except OSError as error:
        raise SedscopeError(f"cannot write to {place}: {error.strerror or error}") from None
    if filled:
        raise SedscopeError(f"{place} is not empty: choose a new folder")
    for number, (clip, of_clip) in enumerate(scores.items(), 1):
        edges = of_clip.edges
        columns = {"onset": edges[:-1], "offset": edges[1:]}
        columns |= dict(zip(scores.classes, of_clip.values.T, strict=True))
        with replacing(place / f"{clip}.tsv") as temporary:
            polars.DataFrame(columns).write_csv(temporary, separator="\t")
        if progress:
            progress(number, len(scores))


def table_classes(table: Any) -> tuple[str, ...]:
    """The classes of a score table given as a pandas or polars frame."""
    import narwhals

    return _classes(narwhals.from_native(table, eager_only=True).columns, "score table")


def clip_from_table(table: Any, classes: Sequence[str], where: str) -> ClipScores:
    """The scores of a clip from a pandas or polars frame."""
    import narwhals

    frame = narwhals.from_native(table, eager_only=True)
    _check_classes(_classes(frame.columns, where), classes, where)
    try:
        values = [frame[label].to_numpy() for label in classes]
        dtype = np.result_type(np.float32, *(column.dtype for column in values))
        array = np.stack(values, axis=1).astype(dtype, copy=False)
        return ClipScores.from_frames(array, frame["onset"].to_numpy(), frame["offset"].to_numpy())
    except (TypeError, SedscopeError) as error:
        raise SedscopeError(f"{where}: {error}") from None


def _classes(header: Sequence[str], where: str) -> tuple[str, ...]:
    if list(header[:2]) != _TIMES or len(header) < 3:
        raise SedscopeError(
            f"{where}: expected the columns onset, offset and one per class, found "
            f"{listing([repr(name) for name in header])}"
        )
    return tuple(header[2:])


def _check_classes(found: Sequence[str], expected: Sequence[str], where: str) -> None:
    missing = [label for label in expected if label not in found]
    other = [label for label in found if label not in expected]
    if missing or other:
        differences = [f"no {listing(missing)}"] if missing else []
        differences += [f"an unknown {listing(other)}"] if other else []
        raise SedscopeError(
            f"{where}: classes differ from those of the first clip: {' and '.join(differences)}"
        )


def _read_clip(file: Path, classes: Sequence[str]) -> ClipScores:
    content = read_bytes(file)
    header, start = split_header(content, file)
    found = _classes(header, str(file))
    _check_classes(found, classes, str(file))
    if len(content) == start:
        return ClipScores.from_frames(np.empty((0, len(classes))), [], [])
    table = _parse_fast(content[start:], len(header))
    if table is None:
        table = _parse_with_care(file)
    columns = [2 + found.index(label) for label in classes]
    in_order = columns == list(range(2, len(header)))
    try:
        return ClipScores.from_frames(
            table[:, 2:] if in_order else table[:, columns], table[:, 0], table[:, 1]
        )
    except SedscopeError as error:
        raise SedscopeError(f"{file}: {error}") from None


def _parse_fast(body: bytes, width: int) -> NDArray[np.float64] | None:
    """Rows of numbers as an array; None if anything at all is out of the ordinary."""
    import polars

    schema = {f"column_{k}": polars.Float64 for k in range(width)}
    try:
        frame = polars.read_csv(body, separator="\t", has_header=False, schema=schema, quote_char=None)
    except polars.exceptions.PolarsError:
        return None
    if frame.null_count().sum_horizontal()[0]:
        return None
    table: NDArray[np.float64] = frame.to_numpy(order="c")
    return table


def _parse_with_care(file: Path) -> NDArray[np.float64]:
    table = read_text_table(file)
    columns = numbers(table, range(len(table.header)))
    return np.stack([np.array(column, np.float64) for column in columns], axis=1)
