"""Digests of everything that the values of a submission depend on: task, data, files and resamples."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from ..data.ground_truth import GroundTruth
from ..io.locations import Location, folder_content, open_input
from ..resampling.resampling import Resampling
from .task import named_files
from .task_data import DatasetTruth, TaskData
from .task_files import task_toml

_BLOCK = 1 << 20  # bytes that are read at a time


def measurement_key(
    data: TaskData, runs: Sequence[Mapping[str, Location]], resampling: Resampling
) -> str:
    """Return a digest of everything that the values of a system depend on.

    ``runs``: where the output of each run for each data set is.
    """
    from .. import __version__

    digest = hashlib.blake2b(digest_size=16)
    digest.update(_bytes(("task", __version__, task_toml(data.task), resampling)))
    for of_set in data.datasets.values():
        _add_data(digest, of_set)
    for outputs in runs:
        for name, path in outputs.items():
            _add_files(digest, path, f"{name}/")
    return digest.hexdigest()


def _add_data(digest: hashlib.blake2b, of_set: DatasetTruth) -> None:
    """Add the reference events as they were read, and the other files of the data set."""
    of_clips = [
        None if facts is None else sorted(facts.items())
        for facts in (of_set.recordings, of_set.folder_of, of_set.shot_ends)
    ]
    digest.update(_bytes((of_set.name, of_set.system_map, *of_clips)))
    _add_truth(digest, of_set.truth)
    for name in sorted({name for _, name in named_files(of_set.dataset)}):
        file = of_set.folder / name
        if file.is_file():
            _add_files(digest, file, name)


def _add_truth(digest: hashlib.blake2b, truth: GroundTruth) -> None:
    names = (truth.clips, truth.labels, truth.ignored_labels, truth.invalid, truth.warnings)
    digest.update(_bytes(names))
    arrays = (truth.event_clips, truth.event_labels, truth.onsets, truth.offsets, truth.ignored)
    for array in (*arrays, truth.durations):
        if array is not None:
            digest.update(_bytes((array.dtype.str, array.shape)))
            digest.update(np.ascontiguousarray(array).tobytes())


def _add_files(digest: hashlib.blake2b, path: Location, name: str) -> None:
    """Add the names and the content of a file, or of all files in a folder."""
    if path.is_dir():
        for part in folder_content(path):
            _add_files(digest, part, f"{name}/{part.name}")
        return
    digest.update(_bytes((name, path.name)))
    with open_input(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    digest.update(b"\0end")


def _bytes(value: object) -> bytes:
    return repr(value).encode("utf-8", "surrogatepass")
