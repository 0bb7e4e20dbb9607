"""Deltas as bytes: on disk a versioned, checksummed file without pickles; packed, for other processes.

A file is a line that names the format and version, with the length and a digest of the description; the
description in JSON, with the type, size and digest of every array; then the arrays, one after the
other. So a file that was cut or altered is refused. Packed deltas are the same without line and digests.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..criteria.criterion import Criterion
from ..criteria.delta_tables import DeltaTables, ReferenceRows, Rows
from ..errors import SedscopeError, listing
from ..io.atomic_write import replacing
from ..io.locations import Place, place
from ..metrics import CRITERIA, parse_criterion
from ..postprocessing import parse_postprocessing
from .deltas import Deltas

_MAGIC = "sedscope-deltas"
_VERSION = 1
_FIRST_LINE = 100  # bytes, at most
_TYPES = ("<f4", "<f8", "|i1", "<i4", "<i8")


def save_deltas(deltas: Deltas | Iterable[Deltas], path: str | Place, *, append: bool = False) -> None:
    """Write the deltas of a criterion, or of several, to a file that :func:`load_deltas` reads.

    ``append``: together with those of other clips that the file holds, if it is there already.
    """
    several = [deltas] if isinstance(deltas, Deltas) else [*deltas]
    if append and place(path).exists():
        several = _together([(path, load_deltas(path)), ("the new deltas", several)])
    if not several:
        raise SedscopeError("there are no deltas to be saved")
    own = [repr(one.criterion) for one in several if type(one.criterion).__name__ not in CRITERIA]
    if own:
        raise SedscopeError(
            f"a file cannot say what a criterion of one's own is: {listing(own)} cannot be saved"
        )
    header, stored = _described(several, digests=True)
    first = f"{_MAGIC} {_VERSION} {len(header)} {_digest(header)}\n".encode()
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(first)
        file.write(header)
        for array in stored:
            file.write(_bytes(array))


def load_deltas(path: str | Place) -> list[Deltas]:
    """The deltas of a file that :func:`save_deltas` wrote, one per criterion."""
    source = place(path)
    try:
        with source.open("rb") as file:
            described = _read_header(file, source)
            arrays = [_read_array(file, one, source) for one in described["arrays"]]
            if file.read(1):
                raise _Damaged(path, "there is more in it than it says")
    except OSError as error:
        raise SedscopeError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        return [_build(one, arrays, {}) for one in described["deltas"]]
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        if isinstance(error, SedscopeError):
            raise SedscopeError(f"{path}: {error}") from None
        raise _Damaged(path, "its parts do not fit together") from None


def merge_files(paths: Iterable[str | Place]) -> list[Deltas]:
    """The deltas of several files together, one per criterion."""
    given = [(path, load_deltas(path)) for path in paths]
    if not given:
        raise SedscopeError("no file of deltas is given")
    return _together(given)


def _together(given: Sequence[tuple[str | Place, Sequence[Deltas]]]) -> list[Deltas]:
    """Deltas from several places, merged by criterion."""
    parts: dict[Criterion, list[tuple[str | Place, Deltas]]] = {}
    for source, several in given:
        for found in several:
            parts.setdefault(found.criterion, []).append((source, found))
    merged = [_merged(of_criterion) for of_criterion in parts.values()]
    if len({frozenset(found.clips) for found in merged}) > 1:
        criteria = listing([repr(criterion) for criterion in parts])
        raise SedscopeError(f"not all clips have deltas of the same criteria: {criteria}")
    return merged


def _merged(parts: Sequence[tuple[str | Place, Deltas]]) -> Deltas:
    """All at once; if that fails, the first that does not fit to those before is named."""
    (_, first), *others = parts
    try:
        return first.merge(*(found for _, found in others))
    except SedscopeError:
        for source, found in others:
            try:
                first = first.merge(found)
            except SedscopeError as error:
                raise SedscopeError(f"{source}: {error}") from None
        raise


class _Damaged(SedscopeError):
    def __init__(self, path: str | Place, what: str) -> None:
        super().__init__(f"{path} is cut or altered: {what}. Make it again with 'sedscope deltas'")


def pack_deltas(several: Iterable[Deltas]) -> NDArray[np.uint8]:
    """Deltas as bytes that :func:`unpack_deltas` reads; a multiple of eight, so that others can follow
    which are aligned, too."""
    header, stored = _described(several, digests=False)
    contents = [header, *map(_bytes, stored)]
    ends = 16 + np.cumsum([_eights(len(content)) for content in contents])
    packed: NDArray[np.uint8] = np.full(ends[-1], ord(" "), np.uint8)
    packed[:16].view("<i8")[:] = ends[-1] - 16, ends[0] - 16
    for content, first in zip(contents, [16, *ends[:-1]], strict=True):
        packed[first : first + len(content)] = np.frombuffer(content, np.uint8)
    return packed


def unpack_deltas(
    data: NDArray[np.uint8], named: Mapping[str, Any]
) -> tuple[list[Deltas], NDArray[np.uint8]]:
    """The deltas that some bytes begin with, and the bytes after them; the arrays are parts of ``data``.

    ``named``: criteria and post-processings by their definition; others are read from it.
    """
    size, length = data[:16].view("<i8").tolist()
    content, rest = data[16 : 16 + size], data[16 + size :]
    described = json.loads(content[:length].tobytes())
    arrays, first = [], length
    for one in described["arrays"]:
        dtype, shape = np.dtype(one["dtype"]), one["shape"]
        last = first + dtype.itemsize * math.prod(shape)
        arrays.append(content[first:last].view(dtype).reshape(shape))
        first = _eights(last)
    return [_build(one, arrays, named) for one in described["deltas"]], rest


def _eights(size: int) -> int:
    """The next multiple of eight."""
    return -(-size // 8) * 8


def _described(several: Iterable[Deltas], *, digests: bool) -> tuple[bytes, list[NDArray[Any]]]:
    """Deltas in JSON, and the arrays that it speaks of."""
    arrays: list[NDArray[Any]] = []
    described: dict[str, Any] = {"deltas": [_describe(one, arrays) for one in several]}
    stored = [np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for array in arrays]
    described["arrays"] = [
        {"dtype": array.dtype.str, "shape": array.shape}
        | ({"digest": _digest(array)} if digests else {})
        for array in stored
    ]
    return json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode(), stored


def _digest(data: bytes | NDArray[Any]) -> str:
    content = data if isinstance(data, bytes) else _bytes(data)
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _bytes(array: NDArray[Any]) -> memoryview | bytes:
    return array.data.cast("B") if array.size else b""


def _read_header(file: IO[bytes], path: Place) -> Any:
    words = file.readline(_FIRST_LINE).decode("ascii", "replace").split()
    if words[:1] != [_MAGIC]:
        raise SedscopeError(f"{path} is no file of deltas")
    if words[1:2] != [str(_VERSION)]:
        raise SedscopeError(
            f"{path} is a file of deltas of version {listing(words[1:2])}, this sedscope reads version "
            f"{_VERSION}: make it again"
        )
    if len(words) != 4 or not words[2].isdecimal():
        raise _Damaged(path, "its first line is not whole")
    length = int(words[2])
    if length > path.stat().st_size:
        raise _Damaged(path, "it is shorter than it says")
    header = file.read(length)
    if _digest(header) != words[3]:
        raise _Damaged(path, "its description is not what was written")
    return json.loads(header)


def _read_array(file: IO[bytes], described: Mapping[str, Any], path: Place) -> NDArray[Any]:
    if described["dtype"] not in _TYPES:
        raise _Damaged(path, f"it has numbers of the type {described['dtype']}")
    array: NDArray[Any] = np.empty(tuple(described["shape"]), described["dtype"])
    if array.nbytes > path.stat().st_size:
        raise _Damaged(path, "it is shorter than it says")
    content = file.read(array.nbytes)
    if len(content) != array.nbytes:
        raise _Damaged(path, "it is shorter than it says")
    if array.size:
        array = np.frombuffer(content, array.dtype).reshape(array.shape)
    if _digest(array) != described["digest"]:
        raise _Damaged(path, "its numbers are not what was written")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _describe(deltas: Deltas, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """The deltas as JSON, with numbers of arrays in place of arrays."""

    def keep(array: NDArray[Any] | None) -> int | None:
        if array is None:
            return None
        arrays.append(array)
        return len(arrays) - 1

    def rows(table: Rows | None) -> dict[str, Any] | None:
        if table is None:
            return None
        columns = [keep(column) for column in table.columns]
        return {"starts": keep(table.starts), "scores": keep(table.scores), "columns": columns}

    tables = deltas.tables
    return {
        "criterion": repr(deltas.criterion),
        "classes": deltas.classes,
        "clips": deltas.clips,
        "durations": keep(deltas.durations),
        "floors": keep(deltas.floors),
        "detections": rows(tables.detections),
        "cross_triggers": rows(tables.cross_triggers),
        "errors": rows(tables.errors),
        "any_label": rows(tables.any_label),
        "references": [
            keep(tables.references.clips),
            keep(tables.references.labels),
            keep(tables.references.times),
        ],
        "trials": keep(tables.trials),
        "variants": {repr(key): _describe(found, arrays) for key, found in deltas.variants.items()},
    }


def _build(described: Mapping[str, Any], arrays: list[NDArray[Any]], named: Mapping[str, Any]) -> Deltas:
    def get(number: int | None) -> Any:
        return None if number is None else arrays[number]

    classes, clips = tuple(described["classes"]), tuple(described["clips"])

    def rows(name: str, tables: int = len(classes)) -> Any:
        table = described[name]
        if table is None:
            return None
        columns = tuple(get(column) for column in table["columns"])
        found = Rows(get(table["starts"]), get(table["scores"]), columns)
        _check_rows(found, (tables, len(clips) + 1))
        return found

    references = ReferenceRows(*(get(number) for number in described["references"]))
    _require(len(references.clips) == len(references.labels) == len(references.times))
    _require_range(references.clips, len(clips))
    _require_range(references.labels, len(classes))
    cross_triggers = rows("cross_triggers")
    _require_range(cross_triggers.columns[0], len(classes))
    deltas = Deltas(
        criterion=named.get(described["criterion"]) or parse_criterion(described["criterion"]),
        classes=classes,
        clips=clips,
        durations=get(described["durations"]),
        floors=get(described["floors"]),
        tables=DeltaTables(
            detections=rows("detections"),
            cross_triggers=cross_triggers,
            references=references,
            trials=get(described["trials"]),
            errors=rows("errors"),
            any_label=rows("any_label", 1),
        ),
        variants={
            named.get(text) or parse_postprocessing(text): _build(found, arrays, named)
            for text, found in described["variants"].items()
        },
    )
    _require(deltas.durations.shape == (len(clips),) and deltas.floors.shape == (len(classes),))
    return deltas


def _check_rows(table: Rows, shape: tuple[int, int]) -> None:
    """What the core relies on."""
    _require(table.starts.shape == shape)
    _require(all(len(column) == len(table.scores) for column in table.columns))
    ends = np.append(table.starts.ravel(), len(table.scores))
    _require(bool((np.diff(ends) >= 0).all()) and int(ends[0]) == 0)
    _require(bool((table.starts[1:, 0] == table.starts[:-1, -1]).all()))


def _require_range(numbers: NDArray[Any], end: int) -> None:
    _require(not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < end))


def _require(held: bool) -> None:
    if not held:
        raise ValueError("the arrays do not fit together")
