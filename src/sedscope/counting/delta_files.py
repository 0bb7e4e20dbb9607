"""Deltas as bytes and as files: versioned, with checksums, without pickles.

A file begins with a line that names the format and its version, and gives the length and a digest of the
description. The description in JSON follows, with the type, shape, size and digest of every array, and then
the arrays, compressed. So a file that was cut or altered is refused. Rows of changes are stored compactly
(:mod:`~sedscope.counting.compact_rows`).
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..criteria import Criterion, parse_criterion
from ..criteria.criterion import CRITERIA
from ..criteria.delta_tables import (
    AnyRows,
    DeltaRows,
    DeltaTables,
    FalseAlarmRows,
    IgnoredRows,
    ReferenceRows,
)
from ..errors import SedscopeError, SedscopeWarning, listing
from ..io.atomic_write import locked, replacing
from ..io.locations import Address, Location, input_location, location, open_input
from ..postprocessing import parse_postprocessing
from .compact_rows import CompactRows, SharedScores, compact, compress, decompress, restore
from .deltas import Deltas, refuse_different_scores
from .provenance import Provenance, unchecked_note
from .units import narrowed

_COLUMNS = {
    "detections": ("i1", "i1"),
    "cross_triggers": ("i4", "i1"),
    "errors": ("i8", "i8"),
    "any_label": ("i1",),
    "right": ("i4",),
}
"""The types of the columns of each table."""
_TIME_COLUMNS = {**_COLUMNS, "detections": ("i4", "i4")}
"""Those of criteria that measure time."""
_SUM_COLUMNS = {
    "detections": ("i8", "i8"),
    "cross_triggers": ("i4", "i8"),
    "errors": ("i8", "i8"),
    "any_label": ("i8",),
    "right": ("i8",),
    "alarms": ("i8",),
}
"""Those of units, to which clips were added up; a state has shorter ones."""
_HEAD = 24  # bytes
_PACKED_VERSION = 3
_NO_NUMBERS = np.empty(0, np.uint64)


def pack_deltas(
    deltas: Iterable[Deltas], numbers: NDArray[np.uint64] = _NO_NUMBERS
) -> NDArray[np.uint8]:
    """Return deltas and a number of each clip as bytes that :func:`unpack_deltas` reads.

    They begin with their size, a checksum and the length of the description. Their number is a multiple of
    eight, so that what follows them is aligned as well.
    """
    arrays = _Arrays()

    def keep_rows(deltas: Deltas, variant: Hashable, table: DeltaRows) -> Any:
        columns = table.columns if deltas.clip_numbers is None else map(narrowed, table.columns)
        return {
            "starts": arrays.add(table.starts),
            "scores": arrays.add(table.scores),
            "columns": [arrays.add(column) for column in columns],
        }

    described = [_describe(part, arrays.add, keep_rows) for part in deltas]
    entries = [{"dtype": array.dtype.str, "shape": array.shape} for array in arrays.stored]
    header = _as_json({"version": _PACKED_VERSION, "deltas": described, "arrays": entries})
    contents = [header, *map(as_bytes, arrays.stored), as_bytes(numbers)]
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
    if description.get("version") != _PACKED_VERSION:
        raise ValueError("another version of sedscope made it")
    arrays = []
    for entry in description["arrays"]:
        dtype, shape = np.dtype(entry["dtype"]), entry["shape"]
        last = first + dtype.itemsize * math.prod(shape)
        arrays.append(content[first:last].view(dtype).reshape(shape))
        first = _eights(last)

    def get_rows(table: Mapping[str, Any]) -> DeltaRows:
        columns = tuple(_get(arrays, column) for column in table["columns"])
        return DeltaRows(_get(arrays, table["starts"]), _get(arrays, table["scores"]), columns)

    deltas = [_build(entry, arrays, get_rows, named) for entry in description["deltas"]]
    return deltas, content[first:].view(np.uint64), rest


def _eights(size: int) -> int:
    """Round up to a multiple of eight."""
    return -(-size // 8) * 8


class _Arrays:
    """The arrays of a description, which has their numbers."""

    def __init__(self) -> None:
        self.stored: list[NDArray[Any]] = []

    def add(self, array: NDArray[Any] | None) -> int | None:
        """Store an array, and return its number."""
        if array is None:
            return None
        self.stored.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")))
        return len(self.stored) - 1


def _get(arrays: Sequence[NDArray[Any]], number: int | None) -> Any:
    _require(number is None or (type(number) is int and number >= 0))
    return None if number is None else arrays[number]


def _as_json(description: Mapping[str, Any]) -> bytes:
    return json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()


def encode_deltas(deltas: Iterable[Deltas]) -> tuple[bytes, list[bytes]]:
    """Return a description in JSON, and the arrays that it refers to, compressed."""
    arrays = _Arrays()
    shared: dict[Hashable, list[DeltaRows]] = {}

    def keep_rows(deltas: Deltas, variant: Hashable, table: DeltaRows) -> Any:
        key = (variant, deltas.clips, table.starts.shape, table.scores.dtype.str)
        shared.setdefault(key, []).append(table)
        return [[*shared].index(key), len(shared[key]) - 1]

    described = [_describe(part, arrays.add, keep_rows) for part in deltas]
    groups = []
    for tables in shared.values():
        scores, rows = compact(tables)
        dtype = tables[0].scores.dtype.newbyteorder("<").str
        stored = [[arrays.add(row.moves), *map(arrays.add, row.columns)] for row in rows]
        groups.append([dtype, arrays.add(scores.counts), arrays.add(scores.gaps), stored])
    contents = [compress(array) for array in arrays.stored]
    entries = [
        {"dtype": array.dtype.str, "shape": array.shape, "size": len(content), "digest": digest(content)}
        for array, content in zip(arrays.stored, contents, strict=True)
    ]
    return _as_json({"deltas": described, "rows": groups, "arrays": entries}), contents


def decode_deltas(
    description: Mapping[str, Any], arrays: Sequence[NDArray[Any]], named: Mapping[str, Any]
) -> list[Deltas]:
    """Build deltas from their description and arrays, and check that they fit together."""
    tables = []
    for dtype, counts, gaps, stored in description["rows"]:
        _require(dtype in ("<f4", "<f8"))
        shared = SharedScores(_get(arrays, counts), _get(arrays, gaps))
        _require(shared.counts.ndim == 2 and shared.gaps.dtype == f"<u{dtype[-1]}")
        rows = [
            CompactRows(_get(arrays, moves), tuple(_get(arrays, column) for column in columns))
            for moves, *columns in stored
        ]
        _require(all(row.moves.dtype == np.int64 for row in rows))
        tables.append(restore(shared, rows, np.dtype(dtype)))

    def get_rows(place: Sequence[int]) -> DeltaRows:
        group, number = place
        _require(type(group) is int and type(number) is int and min(group, number) >= 0)
        return tables[group][number]

    return [_build(entry, arrays, get_rows, named) for entry in description["deltas"]]


def digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def as_bytes(array: NDArray[Any]) -> memoryview | bytes:
    return array.data.cast("B") if array.size else b""


def _describe(
    deltas: Deltas,
    keep: Callable[[NDArray[Any] | None], int | None],
    keep_rows: Callable[[Deltas, Hashable, DeltaRows], Any],
    variant: str | None = None,
) -> dict[str, Any]:
    """Describe deltas in terms of JSON, with what ``keep`` and ``keep_rows`` return in place of arrays and
    tables. ``variant``: of the scores."""

    def rows(table: DeltaRows | None) -> Any:
        return None if table is None else keep_rows(deltas, variant, table)

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
        **({} if tables.right is None else {"right": rows(tables.right)}),
        **({} if tables.alarms is None else {"alarms": rows(tables.alarms)}),
        **({} if deltas.clip_numbers is None else {"clip_numbers": keep(deltas.clip_numbers)}),
        "references": [
            keep(column) for column in vars(tables.references).values() if column is not None
        ],
        "trials": keep(tables.trials),
        **(
            {"ignored": [keep(column) for column in vars(tables.ignored).values()]}
            if len(tables.ignored.clips)
            else {}
        ),
        **(
            {"certain": [keep(column) for column in vars(tables.certain).values()]}
            if len(tables.certain.clips)
            else {}
        ),
        "variants": {
            repr(key): _describe(part, keep, keep_rows, repr(key))
            for key, part in deltas.variants.items()
        },
        **({} if provenance == Provenance() else {"provenance": provenance.as_json()}),
    }


def _build(
    description: Mapping[str, Any],
    arrays: Sequence[NDArray[Any]],
    get_rows: Callable[[Any], DeltaRows],
    named: Mapping[str, Any],
) -> Deltas:
    """Build deltas from their description, and check that its parts fit together."""

    def get(number: int | None) -> Any:
        return _get(arrays, number)

    classes, clips = _names(description["classes"]), _names(description["clips"])
    criterion = named.get(description["criterion"]) or parse_criterion(description["criterion"])
    column_types = _TIME_COLUMNS if criterion.measures_time else _COLUMNS
    if "clip_numbers" in description:
        column_types = _SUM_COLUMNS

    def rows(name: str, tables: int = len(classes)) -> Any:
        if description.get(name) is None:
            return None
        delta_rows = get_rows(description[name])
        shape = (tables, len(clips) + 1)
        _check_rows(delta_rows, shape, column_types[name], shorter="clip_numbers" in description)
        return delta_rows

    def rows_of_clips(kind: type[AnyRows], numbers: Sequence[int], last: str = "i8") -> AnyRows:
        columns = [get(number) for number in numbers]
        _require_types(columns, ("i4", "i4", last, "i8")[: max(3, len(columns))])
        _require(len({len(column) for column in columns}) == 1)
        _require_range(columns[0], len(clips))
        _require_range(columns[1], len(classes))
        return kind(*columns)

    ignored = IgnoredRows.none()
    if "ignored" in description:
        ignored = rows_of_clips(IgnoredRows, description["ignored"])
    certain = FalseAlarmRows.none()
    if "certain" in description:
        certain = rows_of_clips(FalseAlarmRows, description["certain"], "f8")
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
            right=rows("right"),
            ignored=ignored,
            certain=certain,
            alarms=rows("alarms"),
        ),
        variants={
            named.get(text) or parse_postprocessing(text): _build(variant, arrays, get_rows, named)
            for text, variant in description["variants"].items()
        },
        provenance=Provenance.from_json(description.get("provenance")),
        extents=get(description.get("extents")),
        clip_numbers=get(description.get("clip_numbers")),
    )
    trials = () if deltas.tables.trials is None else (deltas.tables.trials,)
    _require_types((deltas.durations, *trials), ("i8", "i8")[: 1 + len(trials)])
    _require(all(of_clips.shape == (len(clips),) for of_clips in (deltas.durations, *trials)))
    _require(deltas.floors.shape == (len(classes),) and deltas.floors.dtype.kind == "f")
    _require(deltas.tables.detections is not None)
    if deltas.clip_numbers is not None:
        _require(deltas.clip_numbers.shape == (len(clips),) and deltas.clip_numbers.dtype == np.int64)
        _require(deltas.tables.alarms is not None)
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


def _check_rows(
    table: DeltaRows, shape: tuple[int, int], columns: Sequence[str], *, shorter: bool
) -> None:
    """Check what the core relies on. ``shorter``: whether columns may have shorter types."""
    _require(table.starts.shape == shape and table.starts.dtype == np.int64)
    _require(table.scores.ndim == 1 and table.scores.dtype.kind == "f")
    if shorter:
        _require(all(column.dtype.kind == "i" for column in table.columns))
        stored = [column.dtype.str[1:] for column in table.columns]
        columns = [min(types) for types in zip(stored, columns, strict=True)]  # such as "i2" and "i8"
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
_VERSION = 2
_FIRST_LINE = 100  # bytes, at most
_UNFIT = (KeyError, TypeError, IndexError, ValueError, AttributeError, OverflowError, RecursionError)
_TYPES = ("<f4", "<f8", "|i1", "<i4", "<i8", "<u4", "<u8")
_MOST_COMPRESSION = 1100  # of an array; zlib reaches 1032


def save_deltas(
    deltas: Deltas | Iterable[Deltas], path: str | Location, *, append: bool = False
) -> list[Deltas]:
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

    Returns
    -------
    list of Deltas
        What the file holds now, one for each criterion.

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
    ...     stored = sed.save_deltas(deltas, Path(folder, "clips.deltas"))
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
        parts = _appended(parts, target)
        _write(parts, target, before)
    else:
        with locked(target):
            parts = _appended(parts, target)
            _write(parts, target)
    return parts


def _appended(parts: list[Deltas], target: Location) -> list[Deltas]:
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
    description, arrays = encode_deltas(parts)
    first_line = f"{_MAGIC} {_VERSION} {len(description)} {digest(description)}\n".encode()
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(first_line)
        file.write(description)
        file.writelines(arrays)
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
    ...     stored = sed.save_deltas(deltas, Path(folder, "clips.deltas"))
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
        return decode_deltas(description, arrays, named)
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
    size, number = entry["size"], math.prod(shape)
    bytes_needed = number * np.dtype(entry["dtype"]).itemsize
    if size > path.stat().st_size or bytes_needed > _MOST_COMPRESSION * size:
        raise _Damaged(path, "it is shorter than it says")
    content = file.read(size)
    if len(content) != size:
        raise _Damaged(path, "it is shorter than it says")
    if digest(content) != entry["digest"]:
        raise _Damaged(path, "its numbers have changed")
    array = decompress(content, np.dtype(entry["dtype"]), number).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="), copy=False)
