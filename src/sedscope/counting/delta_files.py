"""Deltas as bytes and as files: versioned, with checksums, without pickles.

A file begins with a line that names the format and its version, and gives the length and a digest of the
description. The description in JSON follows, with the type, size and digest of every array, and then the
arrays themselves. So a file that was cut or altered is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..criteria import Criterion, parse_criterion
from ..criteria.criterion import CRITERIA
from ..criteria.delta_tables import AnyRows, DeltaRows, DeltaTables, IgnoredRows, ReferenceRows
from ..errors import SedscopeError, SedscopeWarning, listing
from ..io.atomic_write import locked, replacing
from ..io.locations import Address, Location, input_location, location, open_input
from ..postprocessing import parse_postprocessing
from .deltas import Deltas, refuse_different_scores
from .provenance import Provenance, unchecked_note

_COLUMNS = {
    "detections": ("i1", "i1"),
    "cross_triggers": ("i4", "i1"),
    "errors": ("i8", "i8"),
    "any_label": ("i1",),
}
"""The types of the columns of each table."""
_TIME_COLUMNS = {**_COLUMNS, "detections": ("i4", "i4")}
"""Those of criteria that measure time."""
_HEAD = 24  # bytes
_NO_NUMBERS = np.empty(0, np.uint64)


def pack_deltas(
    deltas: Iterable[Deltas], numbers: NDArray[np.uint64] = _NO_NUMBERS
) -> NDArray[np.uint8]:
    """Return deltas and a number of each clip as bytes that :func:`unpack_deltas` reads.

    They begin with their size, a checksum and the length of the description. Their number is a multiple of
    eight, so that what follows them is aligned as well.
    """
    header, stored = describe_all(deltas, digests=False)
    contents = [header, *map(as_bytes, stored), as_bytes(numbers)]
    ends = _HEAD + np.cumsum([_eights(len(content)) for content in contents])
    packed: NDArray[np.uint8] = np.full(ends[-1], ord(" "), np.uint8)
    for content, first in zip(contents, [_HEAD, *ends[:-1]], strict=True):
        packed[first : first + len(content)] = np.frombuffer(content, np.uint8)
    head = packed[:_HEAD].view("<i8")
    head[[0, 2]] = ends[-1], ends[0]
    head[1] = zlib.crc32(packed[16:].data)
    return packed


def unpack_deltas(
    data: NDArray[np.uint8], named: Mapping[str, Any]
) -> tuple[list[Deltas], NDArray[np.uint64], NDArray[np.uint8]]:
    """Return the deltas at the beginning of some bytes, the number of each clip, and the bytes after them.

    The arrays are views of ``data``. ``named``: criteria and post-processings by their definition;
    others are parsed from it.
    """
    size, checksum, first = data[:_HEAD].view("<i8").tolist()
    content, rest = data[:size], data[size:]
    if not _HEAD <= size == len(content) or zlib.crc32(content[16:].data) != checksum:
        raise ValueError("its checksum is wrong")
    description = json.loads(content[_HEAD:first].tobytes())
    arrays = []
    for entry in description["arrays"]:
        dtype, shape = np.dtype(entry["dtype"]), entry["shape"]
        last = first + dtype.itemsize * math.prod(shape)
        arrays.append(content[first:last].view(dtype).reshape(shape))
        first = _eights(last)
    deltas = [build(entry, arrays, named) for entry in description["deltas"]]
    return deltas, content[first:].view(np.uint64), rest


def _eights(size: int) -> int:
    """Round up to a multiple of eight."""
    return -(-size // 8) * 8


def describe_all(deltas: Iterable[Deltas], *, digests: bool) -> tuple[bytes, list[NDArray[Any]]]:
    """Return a description in JSON, and the arrays that it refers to."""
    arrays: list[NDArray[Any]] = []
    description: dict[str, Any] = {"deltas": [_describe(part, arrays) for part in deltas]}
    stored = [np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for array in arrays]
    description["arrays"] = [
        {"dtype": array.dtype.str, "shape": array.shape} | ({"digest": digest(array)} if digests else {})
        for array in stored
    ]
    return json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode(), stored


def digest(data: bytes | NDArray[Any]) -> str:
    content = data if isinstance(data, bytes) else as_bytes(data)
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def as_bytes(array: NDArray[Any]) -> memoryview | bytes:
    return array.data.cast("B") if array.size else b""


def _describe(deltas: Deltas, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """Describe deltas in terms of JSON, with an index into ``arrays`` in place of each array."""

    def keep(array: NDArray[Any] | None) -> int | None:
        if array is None:
            return None
        arrays.append(array)
        return len(arrays) - 1

    def rows(table: DeltaRows | None) -> dict[str, Any] | None:
        if table is None:
            return None
        columns = [keep(column) for column in table.columns]
        return {"starts": keep(table.starts), "scores": keep(table.scores), "columns": columns}

    tables = deltas.tables
    provenance = deltas.provenance
    return {
        "criterion": repr(deltas.criterion),
        "classes": deltas.classes,
        "clips": deltas.clips,
        "durations": keep(deltas.durations),
        "extents": keep(deltas.extents),
        "floors": keep(deltas.floors),
        "detections": rows(tables.detections),
        "cross_triggers": rows(tables.cross_triggers),
        "errors": rows(tables.errors),
        "any_label": rows(tables.any_label),
        "references": [keep(column) for column in vars(tables.references).values()],
        "trials": keep(tables.trials),
        **(
            {"ignored": [keep(column) for column in vars(tables.ignored).values()]}
            if len(tables.ignored.clips)
            else {}
        ),
        "variants": {repr(key): _describe(variant, arrays) for key, variant in deltas.variants.items()},
        **({} if provenance == Provenance() else {"provenance": provenance.as_json()}),
    }


def build(
    description: Mapping[str, Any], arrays: list[NDArray[Any]], named: Mapping[str, Any]
) -> Deltas:
    """Build deltas from their description, and check that its parts fit together."""

    def get(number: int | None) -> Any:
        _require(number is None or (type(number) is int and number >= 0))
        return None if number is None else arrays[number]

    classes, clips = _names(description["classes"]), _names(description["clips"])
    criterion = named.get(description["criterion"]) or parse_criterion(description["criterion"])
    column_types = _TIME_COLUMNS if criterion.measures_time else _COLUMNS

    def rows(name: str, tables: int = len(classes)) -> Any:
        table = description[name]
        if table is None:
            return None
        columns = tuple(get(column) for column in table["columns"])
        delta_rows = DeltaRows(get(table["starts"]), get(table["scores"]), columns)
        _check_rows(delta_rows, (tables, len(clips) + 1), column_types[name])
        return delta_rows

    def rows_of_clips(kind: type[AnyRows], numbers: Sequence[int]) -> AnyRows:
        columns = [get(number) for number in numbers]
        _require_types(columns, ("i4", "i4", "i8"))
        _require(len({len(column) for column in columns}) == 1)
        _require_range(columns[0], len(clips))
        _require_range(columns[1], len(classes))
        return kind(*columns)

    ignored = IgnoredRows.none()
    if "ignored" in description:
        ignored = rows_of_clips(IgnoredRows, description["ignored"])
    cross_triggers = rows("cross_triggers")
    _require_range(cross_triggers.columns[0], len(classes))
    deltas = Deltas(
        criterion=criterion,
        classes=classes,
        clips=clips,
        durations=get(description["durations"]),
        floors=get(description["floors"]),
        tables=DeltaTables(
            detections=rows("detections"),
            cross_triggers=cross_triggers,
            references=rows_of_clips(ReferenceRows, description["references"]),
            trials=get(description["trials"]),
            errors=rows("errors"),
            any_label=rows("any_label", 1),
            ignored=ignored,
        ),
        variants={
            named.get(text) or parse_postprocessing(text): build(variant, arrays, named)
            for text, variant in description["variants"].items()
        },
        provenance=Provenance.from_json(description.get("provenance")),
        extents=get(description.get("extents")),
    )
    trials = () if deltas.tables.trials is None else (deltas.tables.trials,)
    _require_types((deltas.durations, *trials), ("i8", "i8")[: 1 + len(trials)])
    _require(all(of_clips.shape == (len(clips),) for of_clips in (deltas.durations, *trials)))
    _require(deltas.floors.shape == (len(classes),) and deltas.floors.dtype.kind == "f")
    _require(deltas.tables.detections is not None)
    if deltas.extents is not None:
        _require(deltas.extents.shape == (len(clips), 3) and deltas.extents.dtype == np.int64)
    return deltas


def _names(entry: Any) -> tuple[str, ...]:
    _require(isinstance(entry, list) and all(isinstance(name, str) for name in entry))
    return tuple(entry)


def _require_types(arrays: Sequence[NDArray[Any]], types: Sequence[str]) -> None:
    """Check that arrays have one dimension, and that each has its type."""
    _require(len(arrays) == len(types) and all(array.ndim == 1 for array in arrays))
    _require(all(array.dtype == dtype for array, dtype in zip(arrays, types, strict=True)))


def _check_rows(table: DeltaRows, shape: tuple[int, int], columns: Sequence[str]) -> None:
    """Check what the core relies on."""
    _require(table.starts.shape == shape and table.starts.dtype == np.int64)
    _require(table.scores.ndim == 1 and table.scores.dtype.kind == "f")
    _require_types(table.columns, columns)
    _require(all(len(column) == len(table.scores) for column in table.columns))
    ends = np.append(table.starts.ravel(), len(table.scores))
    _require(bool((np.diff(ends) >= 0).all()) and int(ends[0]) == 0)
    _require(bool((table.starts[1:, 0] == table.starts[:-1, -1]).all()))


def _require_range(numbers: NDArray[Any], end: int) -> None:
    _require(not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < end))


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("the arrays do not fit together")


_MAGIC = "sedscope-deltas"
_VERSION = 1
_FIRST_LINE = 100  # bytes, at most
_UNFIT = (KeyError, TypeError, IndexError, ValueError, AttributeError, OverflowError, RecursionError)
_TYPES = ("<f4", "<f8", "|i1", "<i4", "<i8")


def save_deltas(
    deltas: Deltas | Iterable[Deltas], path: str | Location, *, append: bool = False
) -> None:
    """Write the deltas of one or several criteria to a file that :func:`load_deltas` reads.

    Parameters
    ----------
    deltas : Deltas or iterable of Deltas
        The deltas, one for each criterion.
    path : path or address
        The file to write. It is replaced only when it is complete.
    append : bool, default False
        Merge with the deltas of other clips that the file holds, if it exists. They must come from the
        same system with the same post-processing. If several processes append to a file, each waits
        for the others.

    Warns
    -----
    SedscopeWarning
        If the deltas, or those in the file, do not state from which system they come.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> deltas = sed.deltas(scores, truth, sed.Collar())
    >>> with TemporaryDirectory() as folder:
    ...     sed.save_deltas(deltas, Path(folder, "clips.deltas"))
    ...     [loaded] = sed.load_deltas(Path(folder, "clips.deltas"))
    >>> loaded.clips
    ('a',)
    """
    parts = [deltas] if isinstance(deltas, Deltas) else [*deltas]
    target = location(path)
    if not append:
        _write(parts, target)
    elif isinstance(target, Address):
        before = target.read_bytes() if target.exists() else None
        _write(_appended(parts, target), target, before)
    else:
        with locked(target):
            _write(_appended(parts, target), target)


def _appended(parts: Sequence[Deltas], target: Location) -> Sequence[Deltas]:
    """Return the deltas that a file holds together with new ones."""
    if not target.exists():
        return parts
    return _merge_by_criterion([(target, load_deltas(target)), ("the new deltas", parts)])


_NOT_COMPARED = b""


def _write(parts: Sequence[Deltas], path: Location, before: bytes | None = _NOT_COMPARED) -> None:
    """Write a file. ``before``: what an address must still hold, None if nothing."""
    if not parts:
        raise SedscopeError("There are no deltas to save.")
    custom = [repr(part.criterion) for part in parts if type(part.criterion).__name__ not in CRITERIA]
    if custom:
        raise SedscopeError(
            f"A file cannot define a custom criterion, so the deltas of {listing(custom)} cannot be saved."
        )
    refuse_different_scores(parts)
    for part in parts:
        if len({*map(repr, part.variants)}) < len(part.variants):
            raise SedscopeError(
                "Some variants have the same definition. Save their ScoreTransforms to files first."
            )
    description, arrays = describe_all(parts, digests=True)
    first_line = f"{_MAGIC} {_VERSION} {len(description)} {digest(description)}\n".encode()
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(first_line)
        file.write(description)
        for array in arrays:
            file.write(as_bytes(array))
        if before != _NOT_COMPARED:
            _refuse_change(path, before)


def _refuse_change(path: Location, before: bytes | None) -> None:
    """Refuse to replace a file at an address, which cannot be locked, if another process wrote it."""
    now = location(str(path))
    if (now.read_bytes() if now.exists() else None) != before:
        raise SedscopeError(f"Another process changed {path} in the meantime. Run the command again.")


def load_deltas(path: str | Location) -> list[Deltas]:
    """Read the deltas from a file that :func:`save_deltas` wrote.

    Parameters
    ----------
    path : path or address
        The file to read.

    Returns
    -------
    list of Deltas
        One for each criterion.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> deltas = sed.deltas(scores, truth, sed.Collar())
    >>> with TemporaryDirectory() as folder:
    ...     sed.save_deltas(deltas, Path(folder, "clips.deltas"))
    ...     [loaded] = sed.load_deltas(Path(folder, "clips.deltas"))
    >>> loaded.clips
    ('a',)
    """
    return load_known(path, {})


def load_known(path: str | Location, named: Mapping[str, Any]) -> list[Deltas]:
    """Read deltas from a file. ``named``: criteria and post-processings by their definition; others are
    parsed from it."""
    source = input_location(path)
    try:
        with open_input(source) as file:
            description = _read_description(file, source)
            arrays = [_read_array(file, entry, source) for entry in description["arrays"]]
            if file.read(1):
                raise _Damaged(path, "it is longer than it says")
    except OSError as error:
        raise SedscopeError(f"Cannot read {path}: {error.strerror or error}.") from None
    except SedscopeError:
        raise
    except _UNFIT:
        raise _Damaged(path, "its description is not that of deltas") from None
    try:
        return [build(entry, arrays, named) for entry in description["deltas"]]
    except SedscopeError as error:
        raise SedscopeError(f"{path}: {error}") from None
    except _UNFIT:
        raise _Damaged(path, "its parts do not fit together") from None


def merge_files(paths: Iterable[str | Location]) -> list[Deltas]:
    """Merge the deltas of several files, and return one for each criterion."""
    sources = [(path, load_deltas(path)) for path in paths]
    if not sources:
        raise SedscopeError("There is no file of deltas. Give at least one.")
    return _merge_by_criterion(sources)


def _merge_by_criterion(sources: Sequence[tuple[str | Location, Sequence[Deltas]]]) -> list[Deltas]:
    """Merge deltas from several files, by criterion."""
    by_criterion: dict[Criterion, list[tuple[str | Location, Deltas]]] = {}
    for source, parts in sources:
        for deltas in parts:
            by_criterion.setdefault(deltas.criterion, []).append((source, deltas))
    merged = [_merge(parts) for parts in by_criterion.values()]
    note = unchecked_note([part.provenance for parts in by_criterion.values() for _, part in parts])
    if note and len(sources) > 1:
        warnings.warn(note, SedscopeWarning, stacklevel=4)
    if len({frozenset(deltas.clips) for deltas in merged}) > 1:
        criteria = listing([repr(criterion) for criterion in by_criterion])
        raise SedscopeError(f"Not all clips have deltas of the same criteria: {criteria}.")
    refuse_different_scores(merged)
    return merged


def _merge(parts: Sequence[tuple[str | Location, Deltas]]) -> Deltas:
    """Merge all parts at once. If that fails, name the first file that does not fit those before it."""
    (_, first), *others = parts
    try:
        return first.merge(*(deltas for _, deltas in others))
    except SedscopeError:
        for source, deltas in others:
            try:
                first = first.merge(deltas)
            except SedscopeError as error:
                raise SedscopeError(f"{source}: {error}") from None
        raise


class _Damaged(SedscopeError):
    def __init__(self, path: str | Location, what: str) -> None:
        super().__init__(f"{path} is damaged: {what}. Make it again with 'sedscope deltas'.")


def _read_description(file: IO[bytes], path: Location) -> Any:
    words = file.readline(_FIRST_LINE).decode("ascii", "replace").rstrip("\n").split(" ")
    if words[:1] != [_MAGIC]:
        raise SedscopeError(f"{path} is not a file of deltas.")
    if words[1:2] != [str(_VERSION)]:
        raise SedscopeError(
            f"{path} is a file of deltas of version {listing(words[1:2])}, but this sedscope reads version "
            f"{_VERSION}. Make it again with 'sedscope deltas'."
        )
    if len(words) != 4 or not words[2].isdecimal():
        raise _Damaged(path, "its first line is incomplete")
    length = int(words[2])
    if length > path.stat().st_size:
        raise _Damaged(path, "it is shorter than it says")
    description = file.read(length)
    if digest(description) != words[3]:
        raise _Damaged(path, "its description has changed")
    return json.loads(description)


def _read_array(file: IO[bytes], entry: Mapping[str, Any], path: Location) -> NDArray[Any]:
    if entry["dtype"] not in _TYPES:
        raise _Damaged(path, f"it has numbers of the type {entry['dtype']}")
    shape = entry["shape"]
    if not all(type(length) is int and length >= 0 for length in shape):
        raise _Damaged(path, f"it has an array of the shape {shape}")
    if math.prod(shape) * np.dtype(entry["dtype"]).itemsize > path.stat().st_size:
        raise _Damaged(path, "it is shorter than it says")
    array: NDArray[Any] = np.empty(tuple(shape), entry["dtype"])
    content = file.read(array.nbytes)
    if len(content) != array.nbytes:
        raise _Damaged(path, "it is shorter than it says")
    if array.size:
        array = np.frombuffer(content, array.dtype).reshape(array.shape)
    if digest(array) != entry["digest"]:
        raise _Damaged(path, "its numbers have changed")
    return array.astype(array.dtype.newbyteorder("="), copy=False)
