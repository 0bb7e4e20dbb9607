"""Scores as DCASE score tables: one a clip, ``onset offset class…``, a row a frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, listing, raise_together
from ..scores import ClipScores, Scores, as_scores
from .files import filling, replacing
from .frames import as_frame
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
    classes = _first_classes(files.values())

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

    unfit = [repr(name) for name in scores.classes if name in _TIMES or "\n" in name]
    if unfit:
        raise SedscopeError(f"a score table has no place for classes named {listing(unfit)}")
    with filling(folder) as place:
        for number, (clip, of_clip) in enumerate(scores.items(), 1):
            if not np.all(np.diff(of_clip.ticks)):
                raise SedscopeError(
                    f"clip {clip}: events that touch cannot be kept apart in a score table: write them "
                    "with write_events"
                )
            edges = of_clip.edges
            columns = {"onset": edges[:-1], "offset": edges[1:]}
            columns |= dict(zip(scores.classes, of_clip.values.T, strict=True))
            with replacing(place / f"{clip}.tsv") as temporary, temporary.open("wb") as file:
                polars.DataFrame(columns).write_csv(file, separator="\t")
            if progress:
                progress(number, len(scores))


def table_classes(table: Any, where: str) -> tuple[str, ...]:
    """The classes of a score table given as a pandas or polars frame."""
    return _classes(as_frame(table, where).columns, where)


def clip_from_table(table: Any, classes: Sequence[str], where: str) -> ClipScores:
    """The scores of a clip from a pandas or polars frame."""
    frame = as_frame(table, where)
    _check_classes(_classes(frame.columns, where), classes, where)
    try:
        values = [frame[label].to_numpy() for label in classes]
        floats = [column if column.dtype == np.float32 else as_scores(column) for column in values]
        dtype = np.result_type(*(column.dtype for column in floats))
        array = np.stack([column.astype(dtype, copy=False) for column in floats], axis=1)
        return ClipScores.from_frames(array, frame["onset"].to_numpy(), frame["offset"].to_numpy())
    except SedscopeError as error:
        raise SedscopeError(f"{where}: {error}") from None


def _classes(header: Sequence[str], where: str) -> tuple[str, ...]:
    if list(header[:2]) != _TIMES or len(header) < 3:
        raise SedscopeError(
            f"{where}: expected the columns onset, offset and one per class, found "
            f"{listing([repr(name) for name in header])}"
        )
    if "" in header:
        raise SedscopeError(f"{where}: a column has no name: {listing([repr(name) for name in header])}")
    return tuple(header[2:])


def _first_classes(files: Collection[Path]) -> tuple[str, ...]:
    """The classes of the first table; if it cannot be read, what is wrong with all that cannot."""
    errors = []
    for file in files:
        try:
            classes = _classes(split_header(read_bytes(file), file)[0], str(file))
        except SedscopeError as error:
            errors.append(error)
        else:
            if not errors:
                return classes
        if len(errors) >= 20:
            break
    raise_together(errors)
    raise AssertionError


def _check_classes(found: Sequence[str], expected: Sequence[str], where: str) -> None:
    missing = [label for label in expected if label not in found]
    other = [label for label in found if label not in expected]
    if missing or other:
        differences = [f"no {listing(missing)}"] if missing else []
        differences += [f"an unknown {listing([name or repr(name) for name in other])}"] if other else []
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
