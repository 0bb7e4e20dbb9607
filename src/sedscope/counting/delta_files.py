"""Files of deltas: versioned, with checksums, without pickles.

A file begins with a line that names the format and its version, and gives the length and a digest of the
description. The description in JSON follows, with the type, size and digest of every array, and then the
arrays themselves. So a file that was cut or altered is refused.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..criteria import Criterion
from ..criteria.criterion import CRITERIA
from ..errors import SedscopeError, SedscopeWarning, listing
from ..io.atomic_write import locked, replacing
from ..io.locations import Address, Location, input_location, location, open_input
from .delta_bytes import as_bytes, build, describe_all, digest
from .delta_sets import refuse_different_scores
from .deltas import Deltas
from .provenance import unchecked_note

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
