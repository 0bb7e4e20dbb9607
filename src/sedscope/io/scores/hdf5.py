"""Scores in one HDF5 file, in any of the layouts of :mod:`.arrays`. Needs h5py, the extra ``hdf5``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.scores import ClipScores, Scores
from ...errors import SedscopeError
from ..atomic_write import refuse_claims, replacing
from ..locations import Address, Place
from .format import Given, ScoreFormat, starts_with
from .named_arrays import SCORES, TICKS, ArrayFile, described, scores_of

_BROKEN = (OSError, RuntimeError, ValueError, KeyError, TypeError, OverflowError, MemoryError)
_MOST_ATTRIBUTE_BYTES = 2**24


def recognise(path: Place) -> bool:
    """The mark of HDF5 at the beginning."""
    return starts_with(path, b"\x89HDF\r\n\x1a\n")


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise SedscopeError("HDF5 files need h5py: pip install 'sedscope[hdf5]'") from None
    return h5py


def read(path: Place, given: Given) -> Scores:
    """The scores of a file; what lies in other files is never followed."""
    h5py = _h5py()
    opened = path.open_in_parts() if isinstance(path, Address) else path
    try:
        file = h5py.File(opened, "r")  # stays open for as long as the scores are there
        try:
            return scores_of(_arrays(h5py, file, path), given)
        except BaseException:
            file.close()
            raise
    except _BROKEN as error:
        if isinstance(error, SedscopeError):
            raise
        raise SedscopeError(f"{path}: not an HDF5 file of scores: {error}") from None


def _arrays(h5py: Any, file: Any, path: Place) -> ArrayFile:
    shapes: dict[str, tuple[int, ...]] = {}
    types: dict[str, np.dtype[Any]] = {}
    sets: dict[str, Any] = {}
    for name, found in _datasets(h5py, file, str(path)):
        if found.shape is None:
            continue
        where = f"{path}, data set {name!r}"
        if found.external or found.is_virtual:
            raise SedscopeError(f"{where}: its data lies in other files, which are not read")
        refuse_claims(found.nbytes, found.id.get_storage_size() + 64, where)
        shapes[name], types[name], sets[name] = found.shape, found.dtype, found
    attributes = {
        name: file.attrs[name]
        for name in file.attrs
        if file.attrs.get_id(name).get_storage_size() <= _MOST_ATTRIBUTE_BYTES
    }

    def part(name: str, rows: slice | int) -> NDArray[Any]:
        try:
            return np.asarray(sets[name][()] if sets[name].shape == () else sets[name][rows])
        except _BROKEN as error:
            raise SedscopeError(f"data set {name!r} cannot be read: {error}") from None

    return ArrayFile(str(path), shapes, types, part, attributes, thread_safe=True)


def _datasets(
    h5py: Any, group: Any, where: str, prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """All data sets by their path; links to other files are refused, not followed."""
    if depth > 8:
        raise SedscopeError(f"{where}: groups within groups within groups")
    for name in group:
        path = f"{prefix}{name}"
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise SedscopeError(f"{where}: {path!r} is a link to elsewhere, which is not followed")
        found = group[name]
        if isinstance(found, h5py.Dataset):
            yield path, found
        elif isinstance(found, h5py.Group):
            yield from _datasets(h5py, found, where, f"{path}/", depth + 1)


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write all frames × classes, with ids, numbers of frames and boundaries.

    The file is made in memory first: the library does not survive a full disk.
    """
    h5py = _h5py()
    found = list(clips)
    arrays = described(scores, [clip for clip, _ in found], [len(of.values) for _, of in found])
    if not found:
        raise SedscopeError(f"{path}: there is no clip to write")
    arrays[SCORES[0]] = np.concatenate([of_clip.values for _, of_clip in found])
    arrays[TICKS] = np.concatenate([of_clip.ticks for _, of_clip in found])
    try:
        with h5py.File(path.name, "w", driver="core", backing_store=False) as file:
            for name, array in arrays.items():
                if array.dtype.kind == "U":
                    file.create_dataset(name, data=array.tolist(), dtype=h5py.string_dtype())
                else:
                    file.create_dataset(name, data=array)
            file.flush()
            image = file.id.get_file_image()
    except _BROKEN as error:
        raise SedscopeError(f"cannot write {path}: {error}") from None
    with replacing(path) as temporary:
        temporary.write_bytes(image)


FORMATS = (
    ScoreFormat(
        name="hdf5",
        about="one HDF5 file: a data set a clip, or one for all clips with their ids (needs h5py)",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"frames of no length", "unknown ends"}),
        needs_words=True,
        suffixes=(".h5", ".hdf5"),
    ),
)
